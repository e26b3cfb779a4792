"""Reading of texts too long for one prompt: section by section, concurrently, each note with its passages.

A `SectionReader` reads every page whole; its notes are short enough to be shown together, so a long journal's summary
or list is complete. Footnotes still quote passages: a note without one is shown, but can't be cited.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from core.domain.corpus import Page, SourcedPassage
from core.domain.jobs import JobKind
from core.errors import ProviderError
from core.text.words import collapse, shorten
from core.work.steps import NO_STEPS, Step

MOST_SECTIONS = 80  # of one journal; beyond it the last ones are named as not read
SIDE_BY_SIDE = 4  # concurrent requests, within the rate limits of small accounts
NOTES_CHARACTERS = 16_000  # of all notes that are shown: about 4,000 tokens
Purpose = Literal["summary", "extraction"]
NOTE_CHARACTERS = 400
# An item's name ends at a colon, else before plain text about it: "Dr. Moss" and "50 gold, a ring"
# are not cut, as two different things must not become one.
_NAME = re.compile(r"^\W*(.+?)\s*(?::(?=\s|$)|$)")
_SAID = re.compile(r"\s*[(–—].*|\s-\s.*")


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
