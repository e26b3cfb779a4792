"""A model reads one section of a journal: a summary of it, or all items of a kind, each with the passages behind it."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from core.agent.prompts import section_items, section_summary
from core.domain.chat import ChatMessage, ChatRequest, ChatRole
from core.domain.corpus import Page, SourcedPassage
from core.domain.summaries import SummaryKey, SummaryKind
from core.errors import ProviderError
from core.ports import ChatProvider
from core.service_ports import SummaryRepository
from core.texts import collapse, shorten
from core.tools.section_notes import Purpose, SectionNote

NOTE_CHARACTERS = 400
MOST_NOTES = 60  # of a request
# Of a request: about 6,000 tokens, which models with small windows bear, too. A longer page is read in parts.
PART_CHARACTERS = 24_000
MOST_PARTS = 20  # of a page: a chapter of 80,000 words
NOTHING = "nothing"  # what a model answers where a section has no such item
_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*(.+)$")
_MARKER = re.compile(r"\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]")


class ModelSectionReader:
    """One request a section, or a part of it (implements core.tools.section_notes.SectionReader).

    Summaries are kept by the page's revision and the passages they are of: the next question about the journal asks for
    none of them again, and what a part of a page says never stands for all of it. Lists are made for one request and
    not kept.
    """

    def __init__(self, provider: ChatProvider, summaries: SummaryRepository) -> None:
        self._provider = provider
        self._summaries = summaries

    async def read(
        self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose
    ) -> Sequence[SectionNote]:
        if purpose == "extraction":
            return to_notes(await self._ask(section_items(request), passages), passages)
        key = SummaryKey(
            workspace=passages[0].document.workspace,
            kind=SummaryKind.SECTION,
            subject=page.id,
            revision=f"{page.revision}:{_digest(passages)}",
        )
        text = (await self._summaries.find([key])).get(key)
        if text is None:
            text = await self._ask(section_summary(), passages)
            await self._summaries.save(key, text)
        return to_notes(text, passages)

    async def _ask(self, system: str, passages: Sequence[SourcedPassage]) -> str:
        """What the model says of all parts, one after the other; numbers are those of the passages."""
        parts = list(_parts(passages))
        if len(parts) > MOST_PARTS:
            raise ProviderError(f"This section is longer than {MOST_PARTS * PART_CHARACTERS:,} characters.")
        said = [await self._ask_part(system, part) for part in parts]
        return "\n".join(text for text in said if not _is_nothing(text)) or said[0]

    async def _ask_part(self, system: str, part: Sequence[tuple[int, SourcedPassage]]) -> str:
        numbered = "\n\n".join(f"[{number}] {item.passage.text}" for number, item in part)
        request = ChatRequest(system=system, messages=(ChatMessage(role=ChatRole.USER, text=numbered),))
        text = (await self._provider.complete(request)).text.strip()
        if not text:
            raise ProviderError(f"{self._provider.name} gave nothing for a section.")
        lines = text.splitlines()
        kept = [line for line in lines if _LINE.match(line)][:MOST_NOTES]
        return "\n".join(kept) if kept else text


def _parts(passages: Sequence[SourcedPassage]) -> Iterator[list[tuple[int, SourcedPassage]]]:
    """The passages with their numbers from 1, as many at once as a request bears; at least one."""
    part: list[tuple[int, SourcedPassage]] = []
    used = 0
    for number, item in enumerate(passages, start=1):
        used += len(item.passage.text)
        if part and used > PART_CHARACTERS:
            yield part
            part, used = [], len(item.passage.text)
        part.append((number, item))
    yield part


def _digest(passages: Sequence[SourcedPassage]) -> str:
    return hashlib.sha256("\n".join(item.passage.id for item in passages).encode()).hexdigest()[:16]


def _is_nothing(text: str) -> bool:
    return collapse(text).casefold().strip(".-* ") == NOTHING


def to_notes(text: str, passages: Sequence[SourcedPassage]) -> list[SectionNote]:
    """The lines of a reply; numbers that are no passage's are dropped. "nothing" alone stands for none."""
    if _is_nothing(text):
        return []
    lines = [found[1] for line in text.splitlines() if (found := _LINE.match(line))] or [collapse(text)]
    return [note for line in lines if (note := _to_note(line, passages)).text]


def _to_note(line: str, passages: Sequence[SourcedPassage]) -> SectionNote:
    numbers = [int(n) for found in _MARKER.findall(line) for n in re.split(r"\D+", found) if n]
    known = dict.fromkeys(n for n in numbers if 1 <= n <= len(passages))
    return SectionNote(
        text=shorten(_MARKER.sub("", line), NOTE_CHARACTERS),
        passage_ids=tuple(passages[number - 1].passage.id for number in known),
    )
