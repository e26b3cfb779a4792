"""Commands for behaviour: of a thread, by its members; of a channel, by its admins; and reading positions."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.access.positions.named_places import PLACE, place_of
from core.access.positions.reading import describe_position, positions_for, split_position
from core.access.scopes import Access
from core.answering.strategies.choosing import known_name
from core.domain.answer import Provenance
from core.domain.audit import AuditNote, Deed
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import (
    TO_THE_END,
    AutoAnswer,
    ChannelSettings,
    FollowUps,
    Listening,
    PersonAddress,
    PositionHolder,
)
from core.errors import BadInput
from core.features.live_channels import LiveChannels
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository
from core.service.auto_answers import AutoAnswers
from core.text.notation import is_number, join_names, split_names
from core.text.words import collapse
from core.work.commands import GIVEN, Command, CommandCall, CommandResult, Option, OptionKind, readable_by

MOST_QUESTIONS = 600  # a minute of one person; more is no limit
LONGEST_LANGUAGE = 40
OFF = ("off", "none", "default")
LIVE = "live_channel"  # a setting: whether the channel is a source

_SENTENCES = {
    Listening.MUTED: "Muted. In this thread I now answer only when mentioned. Use /unmute to undo this.",
    Listening.HELD: "Muted. In this thread I now answer only when mentioned. Only a moderator can undo this: /unmute.",
    Listening.LISTENING: "Listening. Questions in this thread no longer need a mention. Use /unmute to undo this.",
    Listening.NORMAL: "Back to normal. In threads I take part in, follow-ups don't need a mention; elsewhere they do.",
}
_SHOWN = {
    Listening.MUTED: "muted: every question needs a mention",
    Listening.HELD: "muted by a moderator: every question needs a mention",
    Listening.LISTENING: "listening, no question needs a mention",
    Listening.NORMAL: "normal",
}

_FOLLOW_UPS = {
    FollowUps.NAMED: "in threads, I reply only when mentioned",
    FollowUps.ASKER: "in threads I opened, follow-ups of the person who asked need no mention",
    FollowUps.ALL: "questions in threads I take part in need no mention",
}


_AUTO_ANSWERS = {
    AutoAnswer.OFF: "in the channel itself, I reply only when mentioned",
    AutoAnswer.SHADOW: "I answer nothing unasked yet. I report what I would have answered to the admin who turned this "
    "on, who can go live with /settings auto_answer live",
    AutoAnswer.LIVE: "questions in the channel itself need no mention, if the documents cover them",
}


class _Setting(NamedTuple):
    """One thing that can be set for a channel."""

    usage: str
    change: Callable[[ChannelSettings, str], ChannelSettings]  # BadInput for a value that can't be
    show: Callable[[ChannelSettings], str]


class SettingsCommands:
    """/position, /settings, /mute, /listen and /unmute."""

    def __init__(
        self,
        settings: SettingsRepository,
        library: Library,
        corpus: CorpusRepository,
        access: Access,
        auto_answers: AutoAnswers,
        live: LiveChannels | None = None,
    ) -> None:
        self._settings = settings
        self._auto_answers = auto_answers
        self._library = library
        self._corpus = corpus
        self._access = access
        self._live = live

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="position",
                usage="[BOOK PLACE [--channel]]",
                help="set how far you have read, to avoid spoilers",
                run=self._show_or_set,
                options=(
                    Option(name="book", help="path, title or alias", kind=OptionKind.DOCUMENT),
                    Option(name="place", help="what you have read last; in chapter 7; end; off; lifted, in private"),
                    Option(name="channel", help="set this channel's instead (admins)", kind=OptionKind.FLAG),
                ),
                parse=parse_position,
            ),
            Command(
                name="settings",
                usage="[NAME VALUE]",
                help="show this channel's settings; admins can change them",
                run=self._show_or_change,
                options=(
                    Option(name="name", help="setting to change", kind=OptionKind.CHOICE, choices=(*SETTINGS, LIVE)),
                    Option(
                        name="value",
                        help="; ".join(f"{name}: {SETTINGS[name].usage}" for name in SETTINGS) + f"; {LIVE}: on|off",
                    ),
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
                raise BadInput(f"/{name} only works in threads.")
            if await self._settings.listening(address) is Listening.HELD and not call.may_moderate:
                raise call.refuse("A moderator muted me in this thread. Only a moderator can change that.")
            wanted = Listening.HELD if listening is Listening.MUTED and call.may_moderate else listening
            note = _note(call, Deed.SETTING, f"{name} of {address}") if call.may_moderate else None
            await self._settings.save_listening(address, wanted, audit=note)
            return CommandResult(text=_SENTENCES[wanted], is_public=True)

        return Command(name=name, usage="", help=help, run=run, for_channels=True)

    async def _show_or_change(self, call: CommandCall) -> CommandResult:
        address = _place(call)
        name, value = call.option("name").lower(), call.option("value")
        channel = ChannelAddress.of(address)
        settings = await self._settings.channel(channel)
        if not name:
            text = await self._text(address, settings)
            report, about = await self._auto_answers.describe(channel, settings) if call.is_admin else ("", ())
            return CommandResult(text=f"{text}\n\n{report}".rstrip(), messages=tuple(about))
        if name == LIVE and self._live is not None:
            return await self._change_live(call, channel, self._live)
        setting = SETTINGS.get(name)
        if setting is None:
            raise BadInput(f"Unknown setting {name!r}. Use {', '.join((*SETTINGS, LIVE))}.")
        if not value:
            raise BadInput(f"Write what {name} is to be: /settings {name} {setting.usage}")
        if not call.is_admin:
            raise call.refuse("Only an admin can change this channel's settings.")
        changed = setting.change(settings, value)
        if changed.sources is not None:
            changed = replace(changed, sources=await self._known(call, changed.sources))
        changed = self._auto_answers.switch(settings, changed, call.author)
        note = _note(call, Deed.SETTING, f"{name} of {_name(channel)}")
        await self._settings.save_channel(channel, changed, audit=note)
        return CommandResult(text=f"Set for this channel: {name} is {setting.show(changed)}.", is_public=True)

    async def _change_live(self, call: CommandCall, channel: ChannelAddress, live: LiveChannels) -> CommandResult:
        """Make the channel a source, or remove everything kept of it."""
        if not call.is_admin:
            raise call.refuse("Only an admin can change this channel's settings.")
        if _switch(call.option("value")):
            await live.turn_on(channel, by=call.author)
            said = (
                "From now on I keep people's messages in this channel, and cite them for those who can read it. Edits "
                "and deletions here change my copy, too. I don't keep messages to me. To turn this off: /settings "
                f"{LIVE} off"
            )
        else:
            await live.turn_off(channel, by=call.author)
            said = "I no longer keep the messages of this channel, and deleted what I had."
        return CommandResult(text=said, is_public=True)

    async def _live_text(self, channel: ChannelAddress) -> str:
        source = await self._live.find(channel) if self._live is not None else None
        if source is None or self._live is None:
            return "off"
        return "on" if self._live.is_open(source) else "on (I'm still comparing it with the channel's history)"

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
        rows.append(f"- `{LIVE}`: {await self._live_text(ChannelAddress.of(address))}")
        if address.thread:
            rows.append(f"- this thread: {_SHOWN[await self._settings.listening(address)]}")
        return "\n".join(["This channel's settings:", "", *rows])

    async def _show_or_set(self, call: CommandCall) -> CommandResult:
        scope = await self._access.scope_to_the_end(call.workspace, call.address)
        book, place = call.option("book"), call.option("place")
        if not book and not place:
            rests_on = Provenance(documents=tuple(scope.positions))
            return CommandResult(text=await self._positions_text(call, scope), rests_on=rests_on)
        if not book or not place:
            raise BadInput('Write the book and how far you have read in it: /position "The Lighthouse" chapter 5')
        is_channel = call.is_set("channel")
        if is_channel and not call.is_admin:
            raise call.refuse("Only an admin can change this channel's reading position.")
        document = await self._library.find_document(book, scope)
        if place.casefold() in (LIFTED, KEPT):
            return await self._lift(call, document, is_lifted=place.casefold() == LIFTED)
        holder = _channel_of(call) if is_channel else _person_of(call)
        last: int | None = None  # takes the position away
        if place.casefold() not in NO_POSITION:
            shown = await readable_by(call, self._access)
            last = (await positions_for(place, document, self._corpus, scope, shown)).get(document.id, TO_THE_END)
        audit: AuditNote | None = None
        if isinstance(holder, ChannelAddress):
            audit = _note(call, Deed.POSITION, f"{document.source}/{document.path} in {_name(holder)}")
        await self._settings.save_position(holder, document.id, last, audit=audit)
        if isinstance(holder, PersonAddress):
            await self._settings.save_position(replace(holder, alone=True), document.id, None)
        pages = await self._corpus.list_pages(document.id, scope) if last and last != TO_THE_END else []
        at = place_of(last or 0, pages)
        text = describe_position(document, last, at, is_channel=is_channel)
        return CommandResult(text=text, is_public=is_channel, rests_on=Provenance(documents=(document.id,)))

    async def _lift(self, call: CommandCall, document: Document, *, is_lifted: bool) -> CommandResult:
        """Change the person's position for private contexts only."""
        if call.is_set("channel") or not call.is_alone:
            raise BadInput(
                f"A position is {LIFTED} or {KEPT} where nobody else reads. Use this in a direct message to me, or "
                "in the terminal."
            )
        holder = replace(_person_of(call), alone=True)
        await self._settings.save_position(holder, document.id, TO_THE_END if is_lifted else None)
        title, rests_on = document.title, Provenance(documents=(document.id,))
        if is_lifted:
            text = f"In private I now answer from all of “{title}”. Elsewhere your position still applies."
            text = f"{text} To undo this, use /position with the book and “{KEPT}”."
            return CommandResult(text=text, rests_on=rests_on)
        return CommandResult(text=f"Your position in “{title}” applies everywhere again.", rests_on=rests_on)

    async def _positions_text(self, call: CommandCall, scope: SearchScope) -> str:
        person = _person_of(call)
        lifted = await self._settings.positions(replace(person, alone=True)) if call.is_alone else {}
        lines = await self._list("You have read", person, scope, lifted)
        if call.address is not None:
            lines += ["", *await self._list("This channel has read", _channel_of(call), scope)]
        return "\n".join(lines)

    async def _list(
        self, begin: str, holder: PositionHolder, scope: SearchScope, lifted: Mapping[str, int] | None = None
    ) -> list[str]:
        """Only of documents that may be read here: the rest have no name here."""
        positions = await self._settings.positions(holder)
        lifted = lifted or {}
        documents = await self._library.documents(scope)
        rows = [
            f"- **{item.title}**: {_shown_position(positions.get(item.id, TO_THE_END))}"
            + (", lifted in private" if item.id in lifted else "")
            for item in documents
            if item.id in positions or item.id in lifted
        ]
        return [f"{begin}:", "", *rows] if rows else [f"{begin}: no reading positions are set, so nothing is hidden."]


def parse_settings(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The name, and all behind it as the value."""
    name, _, value = argument.strip().partition(" ")
    return {"name": name, "value": value.strip()} if name else {}


def _name(channel: ChannelAddress) -> str:
    return f"{channel.platform}:{channel.channel}"


def _note(call: CommandCall, deed: Deed, about: str) -> AuditNote:
    return AuditNote(workspace=call.workspace, actor=call.author, deed=deed, about=about)


def _place(call: CommandCall) -> ThreadAddress:
    if call.address is None:
        raise BadInput(f"/{call.name} only works in channels of chat platforms.")
    return call.address


def _switch(value: str) -> bool:
    if value.lower() not in ("on", "off"):
        raise BadInput(f"{value!r} isn't a valid value. Use on or off.")
    return value.lower() == "on"


def _auto_answer(now: AutoAnswer, value: str) -> AutoAnswer:
    """Return the mode; "on" begins with the shadow mode, and leaves a live one live."""
    if value.lower() == "on":
        return AutoAnswer.SHADOW if now is AutoAnswer.OFF else now
    if value.lower() not in [*AutoAnswer]:
        raise BadInput(f"{value[:20]!r} isn't a valid value. Use {', '.join(AutoAnswer)}.")
    return AutoAnswer(value.lower())


def _follow_ups(value: str) -> FollowUps:
    if value.lower() not in [*FollowUps]:
        raise BadInput(f"{value[:20]!r} isn't a valid value. Use {', '.join(FollowUps)}.")
    return FollowUps(value.lower())


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


def _limit(value: str) -> int | None:
    if value.lower() in OFF:
        return None
    if not is_number(value) or not 1 <= int(value) <= MOST_QUESTIONS:
        raise BadInput(f"{value[:20]!r} isn't a valid limit. Enter a number from 1 to {MOST_QUESTIONS}, or off.")
    return int(value)


SETTINGS: Mapping[str, _Setting] = {
    "auto_answer": _Setting(
        "shadow|live|off",
        lambda settings, value: replace(settings, auto_answer=_auto_answer(settings.auto_answer, value)),
        lambda settings: f"{settings.auto_answer.value} ({_AUTO_ANSWERS[settings.auto_answer]})",
    ),
    "follow_ups": _Setting(
        "named|asker|all",
        lambda settings, value: replace(settings, follow_ups=_follow_ups(value)),
        lambda settings: f"{settings.follow_ups.value} ({_FOLLOW_UPS[settings.follow_ups]})",
    ),
    "answer_posts": _Setting(
        "on|off",
        lambda settings, value: replace(settings, answer_posts=_switch(value)),
        lambda settings: "on" if settings.answer_posts else "off",
    ),
    "sources": _Setting(
        "NAME, NAME|all|none",
        lambda settings, value: replace(settings, sources=_names(value)),
        lambda settings: "all" if settings.sources is None else join_names(sorted(settings.sources)) or "none",
    ),
    "language": _Setting(
        "NAME|off",
        lambda settings, value: replace(settings, language=_language(value)),
        lambda settings: settings.language or "off (answers are in the question's language)",
    ),
    "strategy": _Setting(
        "deep|tool_use|always_retrieve|auto|off",
        lambda settings, value: replace(settings, strategy=None if value.lower() in OFF else known_name(value)),
        lambda settings: settings.strategy or "off (answers are made as the service is configured)",
    ),
    "limit": _Setting(
        "QUESTIONS PER MINUTE|off",
        lambda settings, value: replace(settings, questions_per_minute=_limit(value)),
        lambda settings: (
            f"{settings.questions_per_minute} a minute of one person"
            if settings.questions_per_minute
            else "off (the service's limit applies)"
        ),
    ),
}


# ------------------------------------------------------------------------------------------------- reading positions

NO_POSITION = ("off", "none")
LIFTED, KEPT = "lifted", "kept"
_CHANNEL = re.compile(r"(?:^|\s)--channel(?=\s|$)")
# A quoted book and a place; a book and a recognisable place; a book and one more word.
_QUOTED = re.compile(r'["“]([^"”]+)["”]\s*(.*)', re.DOTALL)
_PLAIN = re.compile(rf"(.+?)\s+({PLACE}|{LIFTED}|{KEPT}|{'|'.join(NO_POSITION)})", re.DOTALL | re.IGNORECASE)
_LAST_WORD = re.compile(r"(.*\S)\s++(\S++)", re.DOTALL)
LONGEST_PLAIN = 300  # characters of a book and a place that nothing parts; of more, the last word is the place


def parse_position(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """BOOK PLACE, "BOOK" PLACE or BOOK=PLACE, with --channel anywhere."""
    rest = _CHANNEL.sub(" ", argument).strip()
    flag = {"channel": GIVEN} if _CHANNEL.search(argument) else {}
    found = _QUOTED.fullmatch(rest)
    if found is None and "=" not in rest:
        plain = _PLAIN.fullmatch(collapse(rest)) if len(rest) <= LONGEST_PLAIN else None
        found = plain or _LAST_WORD.fullmatch(rest)
    if found is not None:
        return {"book": found[1], "place": found[2], **flag}
    if "=" in rest:
        name, place = split_position(rest)
        return {"book": name or "", "place": place, **flag}
    return {"book": rest, **flag} if rest else flag


def _person_of(call: CommandCall) -> PersonAddress:
    return PersonAddress(workspace=call.workspace, person=call.author)


def _channel_of(call: CommandCall) -> ChannelAddress:
    if call.address is None:
        raise BadInput("This isn't a channel. Omit --channel to set your own reading position.")
    return ChannelAddress.of(call.address)


def _shown_position(last: int) -> str:
    if last == 0:
        return "not begun"
    return "to the end" if last == TO_THE_END else f"up to page {last}"
