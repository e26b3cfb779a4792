"""Reading of texts too long for one prompt: section by section, concurrently, each note with its passages.

A `SectionReader` reads every page whole; its notes are short enough to be shown together, so a long journal's summary
or list is complete. Footnotes still quote passages: a note without one is shown, but can't be cited.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from core.answering.agent.prompts import section_items, section_summary
from core.answering.context import estimate_tokens
from core.answering.run import DEFAULT_TOKENS
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, Repeats
from core.domain.corpus import Page, SourcedPassage
from core.domain.jobs import JobKind
from core.domain.service import SummaryKey, SummaryKind
from core.domain.spending import CallPurpose
from core.errors import ProviderError
from core.ports import ChatProvider
from core.ports.service import SummaryRepository
from core.text.words import collapse, shorten
from core.work.steps import NO_STEPS, Step, complete

MOST_SECTIONS = 80  # of one journal; beyond it the last ones are named as not read
SIDE_BY_SIDE = 4  # concurrent requests, within the rate limits of small accounts
NOTES_CHARACTERS = 16_000  # of all notes that are shown: about 4,000 tokens
Purpose = Literal["summary", "extraction"]
NOTE_CHARACTERS = 400
# An item's name ends at a colon, else before plain text about it: "Dr. Moss" and "50 gold, a ring"
# are not cut, as two different things must not become one.
_NAME = re.compile(r"^\W*+((?:[^\s:]++|:(?!\s|$)|\s++(?!:(?:\s|$)|$))++)")
_SAID = re.compile(r"(?<!\s)\s*+[(–—].*|\s-\s.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionNote:
    """A statement about a page, or an item found on it, with the passages that say it."""

    text: str
    passage_ids: tuple[str, ...] = ()


class SectionReader(Protocol):
    async def read(
        self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose, parent: Step
    ) -> Sequence[SectionNote]:
        """Return a summary of a page, or all items that the request asks for. Raises ProviderError.

        Steps go below `parent`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionNotes:
    """The notes of all sections in order, and the titles of unreadable ones."""

    by_page: tuple[tuple[Page, tuple[SectionNote, ...]], ...]
    unread: tuple[str, ...] = ()

    @property
    def passage_ids(self) -> list[str]:
        """Behind the notes, each once: the first of every note before more of any."""
        notes = [note.passage_ids for _, own in self.by_page for note in own]
        return list(dict.fromkeys([*(ids[0] for ids in notes if ids), *(key for ids in notes for key in ids)]))


async def read_sections(
    sections: Sequence[tuple[Page, Sequence[SourcedPassage]]],
    request: str,
    purpose: Purpose,
    reader: SectionReader,
    parent: Step = NO_STEPS,
) -> SectionNotes:
    """Read every section once, as a step; failed ones are listed. Raises ProviderError if all fail."""
    places = asyncio.Semaphore(SIDE_BY_SIDE)
    failures: list[ProviderError] = []

    async def read(page: Page, passages: Sequence[SourcedPassage]) -> tuple[SectionNote, ...] | None:
        async with places:
            try:
                async with parent.step(JobKind.TOOL, "read a section", input={"section": title_of(page)}) as job:
                    notes = tuple(await reader.read(page, passages, request, purpose, job))
                    job.output = {"notes": len(notes)}
            except ProviderError as error:
                failures.append(error)
                return None
            return notes

    taken = [item for item in sections if item[1]][:MOST_SECTIONS]
    found = await asyncio.gather(*(read(page, passages) for page, passages in taken))
    if failures and len(failures) == len(taken):
        raise failures[0]
    read_pages = [(page, notes) for (page, _), notes in zip(taken, found, strict=True) if notes is not None]
    unread = [title_of(page) for (page, _), notes in zip(taken, found, strict=True) if notes is None]
    unread += [title_of(page) for page, _ in [item for item in sections if item[1]][MOST_SECTIONS:]]
    made = SectionNotes(by_page=tuple(read_pages), unread=tuple(unread))
    return merged(made) if purpose == "extraction" else made


def merged(notes: SectionNotes) -> SectionNotes:
    """Merge items with the same name at their first place, with all their texts and passages."""
    first: dict[str, tuple[int, SectionNote]] = {}
    for place, note in ((place, note) for place, (_, own) in enumerate(notes.by_page) for note in own):
        name = name_of(note.text)
        if name not in first:
            first[name] = (place, note)
            continue
        at, known = first[name]
        first[name] = (at, _joined(known, note))
    by_page = [
        (page, tuple(note for at, note in first.values() if at == place))
        for place, (page, _) in enumerate(notes.by_page)
    ]
    return replace(notes, by_page=tuple(item for item in by_page if item[1]))


def name_of(text: str) -> str:
    """Return the name of a note's subject, without the text about it."""
    line = collapse(text)
    found = _NAME.match(line)
    name = _SAID.sub("", found[1]) if found else line
    return name.casefold().strip(" *_.").removeprefix("the ").strip() or line.casefold()


def _joined(known: SectionNote, note: SectionNote) -> SectionNote:
    said = collapse(note.text).partition(": ")[2]
    text = known.text if not said or said.casefold() in known.text.casefold() else f"{known.text}; {said}"
    return SectionNote(
        text=shorten(text, NOTE_CHARACTERS), passage_ids=tuple(dict.fromkeys((*known.passage_ids, *note.passage_ids)))
    )


def to_lines(notes: SectionNotes, purpose: Purpose) -> list[str]:
    """Return each section with its notes for the model, within NOTES_CHARACTERS, and a line about omitted ones."""
    what = "All that was found, section by section:" if purpose == "extraction" else "Each section, summed up:"
    lines, used, cut = [what], 0, 0
    for page, own in notes.by_page:
        for line in (f"{title_of(page)} (page {page.number}, page_id {page.id})", *(f"- {n.text}" for n in own)):
            used += len(line)
            if used > NOTES_CHARACTERS:
                cut += 1
            else:
                lines.append(line)
    if cut:
        lines.append(f"({cut} more lines did not fit: ask about a chapter or section by its name.)")
    if notes.unread:
        lines.append(f"Not read: {'; '.join(_few(notes.unread))}. Say that the answer may be incomplete.")
    return lines


def title_of(page: Page) -> str:
    return page.title or (page.heading_path[-1] if page.heading_path else f"page {page.number}")


def _few(titles: Sequence[str], most: int = 10) -> Iterable[str]:
    return [*titles[:most], f"and {len(titles) - most} more"] if len(titles) > most else titles


MOST_NOTES = 1_000  # of a section, against nonsense; the number shown is limited elsewhere
# Of one request, about 6,000 tokens; a longer section is read in parts, one after the other.
PART_CHARACTERS = 24_000
NOTHING = "nothing"  # a model's reply for a section without such an item
_LINE = re.compile(r"^\s*+(?:[-*•]|\d++[.)])\s*+(.+)$")
_MARKER = re.compile(r"(?<!\s)\s*+\[(\d++(?:\s*+[,;]\s*+\d++)*+)\]")


class ModelSectionReader:
    """Reads a section with one request, or more for a very long one (implements section_notes.SectionReader).

    Summaries are kept by their content: the next question about the journal needs no new ones. Lists are made for one
    request and not kept.
    """

    def __init__(self, provider: ChatProvider, summaries: SummaryRepository, tokens: int = DEFAULT_TOKENS) -> None:
        """`tokens` is the budget of the question."""
        self._provider = provider
        self._summaries = summaries
        self._tokens = tokens
        self._open = 0  # estimated tokens of requests that have no reply yet

    async def read(
        self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose, parent: Step
    ) -> Sequence[SectionNote]:
        if purpose == "extraction":
            return to_notes(await self._ask(section_items(request), passages, parent), passages)
        key = SummaryKey(
            workspace=passages[0].document.workspace,
            kind=SummaryKind.SECTION,
            subject=page.id,
            revision=_digest(page, passages),
        )
        text = (await self._summaries.find([key])).get(key)
        if text is None:
            text = await self._ask(section_summary(), passages, parent)
            await self._summaries.save(key, text)
        return to_notes(text, passages)

    async def _ask(self, system: str, passages: Sequence[SourcedPassage], parent: Step) -> str:
        replies = []
        for numbered in _parts(passages):
            said = ChatMessage(role=ChatRole.USER, text=numbered)
            request = ChatRequest(system=system, messages=(said,), repeats=Repeats.NOTHING)
            text = await self._reply(request, parent)
            if not text:
                raise ProviderError(f"{self._provider.name} gave nothing for a section.")
            replies.append(text)
        return "\n".join(text for text in replies if not _is_nothing(text)) or NOTHING

    async def _reply(self, request: ChatRequest, parent: Step) -> str:
        """Return a reply's text. Raises ProviderError instead, if it would exceed the budget of the question."""
        tokens = sum(map(estimate_tokens, request.messages))
        tally = parent.account.tally
        if (tally.total.total if tally is not None else 0) + self._open + tokens > self._tokens:
            raise ProviderError(f"The limit of {self._tokens} tokens for this question is reached.")
        self._open += tokens
        try:
            return (await complete(self._provider, request, parent.charged_for(CallPurpose.SECTION))).text.strip()
        finally:
            self._open -= tokens


def _digest(page: Page, passages: Sequence[SourcedPassage]) -> str:
    """Return the revision of the summarised text.

    A request for part of a page must neither use nor replace the whole page's summary, and its passages have other
    numbers.
    """
    parts = (page.revision, *(item.passage.text for item in passages))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _parts(passages: Sequence[SourcedPassage]) -> Iterator[str]:
    """The passages with their numbers, as many together as fit one request; at least one."""
    part: list[str] = []
    for number, item in enumerate(passages, start=1):
        if part and sum(map(len, part)) + len(item.passage.text) > PART_CHARACTERS:
            yield "\n\n".join(part)
            part = []
        part.append(f"[{number}] {item.passage.text}")
    yield "\n\n".join(part)


def _is_nothing(text: str) -> bool:
    return collapse(text).casefold().strip(".-*• ") == NOTHING


def to_notes(text: str, passages: Sequence[SourcedPassage]) -> list[SectionNote]:
    """Return the lines of a reply, without invalid numbers; none for "nothing"."""
    if _is_nothing(text):
        return []
    lines = [found[1] for line in text.splitlines() if (found := _LINE.match(line))] or [collapse(text)]
    return [note for line in lines[:MOST_NOTES] if (note := _to_note(line, passages)).text]


def _to_note(line: str, passages: Sequence[SourcedPassage]) -> SectionNote:
    numbers = [int(n) for found in _MARKER.findall(line) for n in re.split(r"\D+", found) if n]
    known = dict.fromkeys(n for n in numbers if 1 <= n <= len(passages))
    return SectionNote(
        text=shorten(_MARKER.sub("", line), NOTE_CHARACTERS),
        passage_ids=tuple(passages[number - 1].passage.id for number in known),
    )
