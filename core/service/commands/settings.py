"""Commands for behaviour: of a thread, by its members; of a channel, by its admins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.access.scopes import Access
from core.answering.strategies.choosing import known_name
from core.domain.conversation import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings, Listening
from core.errors import AccessDenied, BadInput
from core.ports.service import SettingsRepository
from core.text.words import is_number, join_names, split_names
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind

MOST_QUESTIONS = 600  # a minute of one person; more is no limit
LONGEST_LANGUAGE = 40
OFF = ("off", "none", "default")

_SENTENCES = {
    Listening.MUTED: "Muted. In this thread I now answer only when mentioned. Use /unmute to undo this.",
    Listening.LISTENING: "Listening. Questions in this thread no longer need a mention. Use /unmute to undo this.",
    Listening.NORMAL: "Back to normal. In threads I take part in, follow-ups don't need a mention; elsewhere they do.",
}
_SHOWN = {
    Listening.MUTED: "muted: every question needs a mention",
    Listening.LISTENING: "listening, no question needs a mention",
    Listening.NORMAL: "normal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """One thing that can be set for a channel."""

    usage: str
    change: Callable[[ChannelSettings, str], ChannelSettings]  # BadInput for a value that can't be
    show: Callable[[ChannelSettings], str]


class SettingsCommands:
    """/settings, /mute, /listen and /unmute."""

    def __init__(self, settings: SettingsRepository, access: Access) -> None:
        self._settings = settings
        self._access = access

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="settings",
                usage="[NAME VALUE]",
                help="show this channel's settings; admins can change them",
                run=self._show_or_change,
                options=(
                    Option(name="name", help="setting to change", kind=OptionKind.CHOICE, choices=tuple(SETTINGS)),
                    Option(name="value", help="; ".join(f"{name}: {SETTINGS[name].usage}" for name in SETTINGS)),
                ),
                parse=parse_settings,
                for_channels=True,
            ),
            self._listening("mute", "answer only when mentioned in this thread", Listening.MUTED),
            self._listening("listen", "answer without a mention in this thread", Listening.LISTENING),
            self._listening("unmute", "undo /mute or /listen", Listening.NORMAL),
        )

    def _listening(self, name: str, help: str, listening: Listening) -> Command:
        async def run(call: CommandCall) -> CommandResult:
            address = _place(call)
            if not address.thread:
                raise BadInput(f"/{name} is for threads: give it inside one.")
            await self._settings.save_listening(address, listening)
            return CommandResult(text=_SENTENCES[listening], is_public=True)

        return Command(name=name, usage="", help=help, run=run, for_channels=True)

    async def _show_or_change(self, call: CommandCall) -> CommandResult:
        address = _place(call)
        name, value = call.option("name").lower(), call.option("value")
        channel = ChannelAddress.of(address)
        settings = await self._settings.channel(channel)
        if not name:
            return CommandResult(text=await self._text(address, settings))
        setting = SETTINGS.get(name)
        if setting is None:
            raise BadInput(f"Unknown setting {name!r}. Use {', '.join(SETTINGS)}.")
        if not value:
            raise BadInput(f"Write what {name} is to be: /settings {name} {setting.usage}")
        if not call.is_admin:
            raise AccessDenied("Only an admin can change what is set for this channel: ask one to do it.")
        changed = setting.change(settings, value)
        if changed.sources is not None:
            changed = replace(changed, sources=await self._known(call, changed.sources))
        await self._settings.save_channel(channel, changed)
        return CommandResult(text=f"Set for this channel: {name} is {setting.show(changed)}.", is_public=True)

    async def _known(self, call: CommandCall, names: frozenset[str]) -> frozenset[str]:
        """The names as the sources are written. BadInput for one that is no source."""
        known = {source.name.casefold(): source.name for source in await self._access.sources(call.workspace)}
        for name in sorted(names):
            if name.casefold() not in known:
                listed = join_names(sorted(known.values())) or "none yet"
                raise BadInput(f"There is no source {name!r}: the sources of this workspace are {listed}.")
        return frozenset(known[name.casefold()] for name in names)

    async def _text(self, address: ThreadAddress, settings: ChannelSettings) -> str:
        rows = [f"- `{name}`: {item.show(settings)}" for name, item in SETTINGS.items()]
        if address.thread:
            rows.append(f"- this thread: {_SHOWN[await self._settings.listening(address)]}")
        return "\n".join(["This channel's settings:", "", *rows])


def parse_settings(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The name, and all behind it as the value."""
    name, _, value = argument.strip().partition(" ")
    return {"name": name, "value": value.strip()} if name else {}


def _place(call: CommandCall) -> ThreadAddress:
    if call.address is None:
        raise BadInput(f"/{call.name} is for channels of chat platforms: there is none here.")
    return call.address


def _switch(value: str) -> bool:
    if value.lower() not in ("on", "off"):
        raise BadInput(f"{value!r} isn't a valid value. Use on or off.")
    return value.lower() == "on"


def _names(value: str) -> frozenset[str] | None:
    """None for all. Quotes tell a source of the name "all" from all of them."""
    if value.lower() == "all":
        return None
    if value.lower() == "none":
        return frozenset()
    names = frozenset(split_names(value))
    if not names:
        raise BadInput("Name at least one source, or use all or none, for example: /settings sources handbook, wiki")
    return names


def _language(value: str) -> str | None:
    if value.lower() in OFF:
        return None
    if len(value) > LONGEST_LANGUAGE or not all(part.isalpha() for part in value.replace("-", " ").split()):
        raise BadInput(f"{value[:LONGEST_LANGUAGE]!r} isn't a language. Enter the name of a language, or off.")
    return value


def _strategy(value: str) -> str | None:
    return None if value.lower() in OFF else known_name(value)


def _limit(value: str) -> int | None:
    if value.lower() in OFF:
        return None
    if not is_number(value) or not 1 <= int(value) <= MOST_QUESTIONS:
        raise BadInput(f"{value[:20]!r} isn't a valid limit. Enter a number from 1 to {MOST_QUESTIONS}, or off.")
    return int(value)


def _on_off(is_on: bool) -> str:
    return "on" if is_on else "off"


SETTINGS: Mapping[str, _Setting] = {
    "auto_answer": _Setting(
        usage="on|off",
        change=lambda settings, value: replace(settings, auto_answer=_switch(value)),
        show=lambda settings: _on_off(settings.auto_answer),
    ),
    "answer_posts": _Setting(
        usage="on|off",
        change=lambda settings, value: replace(settings, answer_posts=_switch(value)),
        show=lambda settings: _on_off(settings.answer_posts),
    ),
    "sources": _Setting(
        usage="NAME, NAME|all|none",
        change=lambda settings, value: replace(settings, sources=_names(value)),
        show=lambda settings: "all" if settings.sources is None else join_names(sorted(settings.sources)) or "none",
    ),
    "language": _Setting(
        usage="NAME|off",
        change=lambda settings, value: replace(settings, language=_language(value)),
        show=lambda settings: settings.language or "off (answers are in the question's language)",
    ),
    "strategy": _Setting(
        usage="deep|tool_use|always_retrieve|auto|off",
        change=lambda settings, value: replace(settings, strategy=_strategy(value)),
        show=lambda settings: settings.strategy or "off (answers are made as the service is configured)",
    ),
    "limit": _Setting(
        usage="QUESTIONS PER MINUTE|off",
        change=lambda settings, value: replace(settings, questions_per_minute=_limit(value)),
        show=lambda settings: (
            f"{settings.questions_per_minute} a minute of one person"
            if settings.questions_per_minute
            else "off (the service's limit applies)"
        ),
    ),
}
