"""What Discord would take and show of a part: checked by the rules that the simulated Discord applies."""

from typing import Any

from simcord.components import COMPONENTS_V2_FLAG, validate_message_state, walk_components

from bot.discordbot.rendering.components import DiscordPost, LinkButton, PartView, Row, to_view
from bot.presentation.action_names import find_part
from bot.presentation.markdown import units
from tests.unit.bot.markdown_texts import ZERO_WIDTH, clickable, open_fences, pings

MAX_TEXT = 4_000
MAX_BYTES = 10_170  # of all texts, with twelve for each (discord-api-docs#8554)


def components_of(part: PartView) -> list[dict[str, Any]]:
    """The part as it is sent; fails where Discord would refuse it."""
    components = to_view(part).to_components()
    taken = validate_message_state(components, flags=COMPONENTS_V2_FLAG, content=None, embeds=[])
    assert sum(units(text) for text in part.texts) <= MAX_TEXT
    assert sum(len(text.encode()) + 12 for text in part.texts) <= MAX_BYTES
    for component in walk_components(taken):
        if "content" in component:
            assert component["content"].strip(f" \n\t{ZERO_WIDTH}")
        if component["type"] == 2:
            assert component["label"].strip()
    return taken


def harm_in(part: PartView) -> list[str]:
    """What would ping or could be clicked, and code that does not end."""
    return [
        harm for text in part.texts for harm in (*pings(text), *clickable(text), *["an open fence"] * open_fences(text))
    ]


def faults_of(post: DiscordPost, post_id: str | None = None) -> list[str]:
    """What is wrong with a post: harm in a part, and a part that is not found again as what it is.

    Without `post_id` none has an id. Fails, as `components_of`, where Discord would refuse a part.
    """
    found = [] if post.parts else ["no parts"]
    for number, part in enumerate(post.parts, start=1):
        components = components_of(part)
        found += harm_in(part)
        if find_part(components) != ((post_id, number) if post_id else None):
            found.append(f"part {number} is found as {find_part(components)}")
    return found


def text_of(part: PartView) -> str:
    """All a part says, without what is invisible."""
    return "\n".join(part.texts).replace(ZERO_WIDTH, "")


def labels_of(part: PartView) -> list[str]:
    return [item["label"] for item in walk_components(components_of(part)) if item["type"] == 2]


def custom_ids_of(part: PartView) -> tuple[str, ...]:
    """Of buttons and menus, top to bottom."""
    rows = (block for block in part.blocks if isinstance(block, Row))
    return tuple(item.name for row in rows for item in row.items if not isinstance(item, LinkButton))
