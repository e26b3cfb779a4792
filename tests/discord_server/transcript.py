"""A channel as text: who said what, with the texts, buttons and menus of components, for assertions and failures."""

from collections.abc import Iterator
from typing import Any

from simcord.backend.models import Message
from simcord.builders import ChannelHandle
from simcord.enums import ComponentType

from tests.discord_server.world import World


def transcript_of(world: World, place: ChannelHandle) -> str:
    messages = sorted(world.backend.messages.get(place.id, {}).values(), key=lambda one: one.id)
    return "\n".join(f"{_name(world, one)}: {' '.join(_shown(one))}" for one in messages)


def text_of(message: Message) -> str:
    """All that is read in a message: its content, embeds and text components."""
    return "\n".join(_texts(message))


def _name(world: World, message: Message) -> str:
    name = message.author_name or world.backend.users[message.author_id].name
    return f"{name} (only to {_invoker(message)})" if message.is_ephemeral else name


def _invoker(message: Message) -> str:
    return str(((message.interaction_metadata or {}).get("user") or {}).get("username", "?"))


def _shown(message: Message) -> Iterator[str]:
    yield from _texts(message)
    yield from (f"[file {one['filename']}]" for one in message.attachments)
    for component in walk(message.components):
        label = component.get("label") or component.get("placeholder") or component.get("custom_id")
        if component.get("type") == ComponentType.BUTTON:
            yield f"[button {label}]"
        elif component.get("type") == ComponentType.STRING_SELECT:
            yield f"[choose {label}: {', '.join(one['label'] for one in component['options'])}]"
    yield from (f"[{one.emoji} {len(one.user_ids)}]" for one in message.reactions if one.user_ids)


def _texts(message: Message) -> Iterator[str]:
    if message.content:
        yield message.content
    for embed in message.embeds:
        yield from (str(embed[key]) for key in ("title", "description") if embed.get(key))
        yield from (f"{one['name']}: {one['value']}" for one in embed.get("fields") or [])
    yield from (
        str(one["content"]) for one in walk(message.components) if one.get("type") == ComponentType.TEXT_DISPLAY
    )


def walk(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every component, outer before inner, in order."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        if isinstance(component.get("accessory"), dict):
            yield from walk([component["accessory"]])
