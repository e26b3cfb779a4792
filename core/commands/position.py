"""The command about reading positions: how far a book may be told, to a person and in a channel."""

import re
from collections.abc import Mapping, Sequence

from core.access import Access
from core.commands.base import GIVEN, Command, CommandCall, CommandResult, Option, OptionKind
from core.domain.corpus import Document, SearchScope
from core.domain.settings import TO_THE_END, ChannelAddress, PersonAddress, PositionHolder
from core.errors import AccessDenied, BadInput
from core.library import Library
from core.ports import CorpusRepository
from core.reading import positions_for, split_position
from core.service_ports import SettingsRepository

OFF = ("off", "none")
_CHANNEL = re.compile(r"(?:^|\s)--channel(?=\s|$)")
# A book in quotation marks and a place, or a book and what a place looks like: "7", "chapter 5", "end".
_QUOTED = re.compile(r'["“]([^"”]+)["”]\s*(.*)', re.DOTALL)
_LAST_WORDS = re.compile(r"(.+?)\s+((?:(?:chapter|part|book|session|act)\s+|the\s+(?=end$))?\S+)", re.DOTALL | re.I)


class PositionCommands:
    """/position."""

    def __init__(
        self, settings: SettingsRepository, library: Library, corpus: CorpusRepository, access: Access
    ) -> None:
        self._settings = settings
        self._library = library
        self._corpus = corpus
        self._access = access

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="position",
                usage="[BOOK PLACE [--channel]]",
                help="how far you have read: nothing beyond it is told to you",
                run=self._show_or_set,
                options=(
                    Option(name="book", help="path, title or alias", kind=OptionKind.DOCUMENT),
                    Option(name="place", help="the page or chapter you have read last; end; or off"),
                    Option(name="channel", help="set this channel's instead (admins)", kind=OptionKind.FLAG),
                ),
                parse=parse_position,
            ),
        )

    async def _show_or_set(self, call: CommandCall) -> CommandResult:
        scope = await self._access.scope_to_the_end(call.workspace, call.address)
        book, place = call.option("book"), call.option("place")
        if not book and not place:
            return CommandResult(text=await self._text(call, scope))
        if not book or not place:
            raise BadInput('Write the book and how far you have read in it: /position "The Lighthouse" chapter 5')
        is_channel = call.is_set("channel")
        holder = _channel_of(call) if is_channel else _person_of(call)
        if is_channel and not call.is_admin:
            raise AccessDenied("Only an admin can change this channel's reading position: ask one to do it.")
        document = await self._library.find_document(book, scope)
        last = await self._last_page(place, document, scope)
        await self._settings.save_position(holder, document.id, last)
        return CommandResult(text=_told(document, last, is_channel=is_channel), is_public=is_channel)

    async def _last_page(self, place: str, document: Document, scope: SearchScope) -> int | None:
        """None takes the position away. BadInput for a place that the document does not have."""
        if place.casefold() in OFF:
            return None
        found = await positions_for(place, document, self._corpus, scope)
        return found.get(document.id, TO_THE_END)

    async def _text(self, call: CommandCall, scope: SearchScope) -> str:
        lines = await self._list("You have read", _person_of(call), scope)
        if call.address is not None:
            lines += ["", *await self._list("This channel has read", _channel_of(call), scope)]
        return "\n".join(lines)

    async def _list(self, begin: str, holder: PositionHolder, scope: SearchScope) -> list[str]:
        """Only of documents that may be read here: the rest have no name here."""
        positions = await self._settings.positions(holder)
        documents = await self._library.documents(scope)
        rows = [f"- **{item.title}**: {_shown(positions[item.id])}" for item in documents if item.id in positions]
        return [f"{begin}:", "", *rows] if rows else [f"{begin}: nothing is set, so nothing is kept back for it."]


def parse_position(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """BOOK PLACE, "BOOK" PLACE or BOOK=PLACE, with --channel anywhere."""
    rest = _CHANNEL.sub(" ", argument).strip()
    flag = {"channel": GIVEN} if _CHANNEL.search(argument) else {}
    if (found := _QUOTED.fullmatch(rest) or (None if "=" in rest else _LAST_WORDS.fullmatch(rest))) is not None:
        return {"book": found[1], "place": found[2], **flag}
    if "=" in rest:
        name, place = split_position(rest)
        return {"book": name or "", "place": place, **flag}
    return {"book": rest, **flag} if rest else flag


def _person_of(call: CommandCall) -> PersonAddress:
    return PersonAddress(workspace=call.workspace, person=call.author)


def _channel_of(call: CommandCall) -> ChannelAddress:
    if call.address is None:
        raise BadInput("There is no channel here: leave --channel out to set your own reading position.")
    return ChannelAddress.of(call.address)


def _shown(last: int) -> str:
    return "to the end" if last == TO_THE_END else f"up to page {last}"


def _told(document: Document, last: int | None, *, is_channel: bool) -> str:
    who = "this channel" if is_channel else "you"
    if last is None:
        return f"{who.capitalize()} no longer {'has' if is_channel else 'have'} a position in “{document.title}”."
    if last == TO_THE_END:
        return f"{who.capitalize()} may see all of “{document.title}”."
    return f"From now on {who} will see nothing of “{document.title}” beyond page {last}."
