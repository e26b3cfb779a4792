"""The command of reading positions, for a person or a channel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.access.positions.named_places import PLACE, place_of
from core.access.positions.reading import describe_position, positions_for, split_position
from core.access.scopes import Access
from core.domain.conversation import ChannelAddress
from core.domain.corpus import Document, SearchScope
from core.domain.service import TO_THE_END, PersonAddress, PositionHolder
from core.errors import AccessDenied, BadInput
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository
from core.text.words import collapse
from core.work.commands import GIVEN, Command, CommandCall, CommandResult, Option, OptionKind, readable_by

OFF = ("off", "none")
LIFTED, KEPT = "lifted", "kept"
_CHANNEL = re.compile(r"(?:^|\s)--channel(?=\s|$)")
# A quoted book and a place; a book and a recognisable place; a book and one more word.
_QUOTED = re.compile(r'["“]([^"”]+)["”]\s*(.*)', re.DOTALL)
_PLAIN = re.compile(rf"(.+?)\s+({PLACE}|{LIFTED}|{KEPT}|{'|'.join(OFF)})", re.DOTALL | re.IGNORECASE)
_LAST_WORD = re.compile(r"(.+)\s+(\S+)", re.DOTALL)
LONGEST_PLAIN = 300  # characters of a book and a place that nothing parts; of more, the last word is the place


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
                help="set how far you have read, to avoid spoilers",
                run=self._show_or_set,
                options=(
                    Option(name="book", help="path, title or alias", kind=OptionKind.DOCUMENT),
                    Option(name="place", help="what you have read last; in chapter 7; end; off; lifted, in private"),
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
        if is_channel and not call.is_admin:
            raise AccessDenied("Only an admin can change this channel's reading position: ask one to do it.")
        document = await self._library.find_document(book, scope)
        if place.casefold() in (LIFTED, KEPT):
            return await self._lift(call, document, is_lifted=place.casefold() == LIFTED)
        holder = _channel_of(call) if is_channel else _person_of(call)
        last = await self._last_page(place, document, scope, await readable_by(call, self._access))
        await self._settings.save_position(holder, document.id, last)
        if isinstance(holder, PersonAddress):
            await self._settings.save_position(replace(holder, alone=True), document.id, None)
        at = await self._place(document, last, scope) if last else ""
        return CommandResult(text=describe_position(document, last, at, is_channel=is_channel), is_public=is_channel)

    async def _lift(self, call: CommandCall, document: Document, *, is_lifted: bool) -> CommandResult:
        """Change the person's position for private contexts only."""
        if call.is_set("channel") or not call.is_alone:
            raise BadInput(
                f"A position is {LIFTED} or {KEPT} where nobody else reads: write this in a direct message to me, or "
                "in the terminal."
            )
        holder = replace(_person_of(call), alone=True)
        await self._settings.save_position(holder, document.id, TO_THE_END if is_lifted else None)
        title = document.title
        if is_lifted:
            text = f"In private I now answer from all of “{title}”. Elsewhere your position still applies."
            return CommandResult(text=f"{text} To undo this, use /position with the book and “{KEPT}”.")
        return CommandResult(text=f"Your position in “{title}” applies everywhere again.")

    async def _last_page(self, place: str, document: Document, scope: SearchScope, shown: SearchScope) -> int | None:
        """None takes the position away. BadInput for a place that the document does not have."""
        if place.casefold() in OFF:
            return None
        found = await positions_for(place, document, self._corpus, scope, shown)
        return found.get(document.id, TO_THE_END)

    async def _text(self, call: CommandCall, scope: SearchScope) -> str:
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
            f"- **{item.title}**: {_shown(positions.get(item.id, TO_THE_END))}"
            + (", lifted where nobody else reads" if item.id in lifted else "")
            for item in documents
            if item.id in positions or item.id in lifted
        ]
        return [f"{begin}:", "", *rows] if rows else [f"{begin}: no reading positions are set, so nothing is hidden."]

    async def _place(self, document: Document, last: int, scope: SearchScope) -> str:
        """Return the heading of the last page."""
        if last == TO_THE_END:
            return ""
        return place_of(last, await self._corpus.list_pages(document.id, scope))


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


def _shown(last: int) -> str:
    if last == 0:
        return "not begun"
    return "to the end" if last == TO_THE_END else f"up to page {last}"
