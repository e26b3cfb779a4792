"""A model reads one section of a journal: a summary of it, or all items of a kind, each with the passages behind it."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from core.answering.agent.prompts import section_items, section_summary
from core.answering.tools.section_notes import NOTE_CHARACTERS, Purpose, SectionNote
from core.domain.answer import ChatMessage, ChatRequest, ChatRole
from core.domain.corpus import Page, SourcedPassage
from core.domain.service import SummaryKey, SummaryKind
from core.errors import ProviderError
from core.ports import ChatProvider
from core.ports.service import SummaryRepository
from core.text.words import collapse, shorten
from core.work.steps import Step, complete

MOST_NOTES = 1_000  # of a section, against nonsense; the number shown is limited elsewhere
# Of one request, about 6,000 tokens; a longer section is read in parts, one after the other.
PART_CHARACTERS = 24_000
NOTHING = "nothing"  # a model's reply for a section without such an item
_LINE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*(.+)$")
_MARKER = re.compile(r"\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]")


class ModelSectionReader:
    """Reads a section with one request, or more for a very long one (implements section_notes.SectionReader).

    Summaries are kept by their content: the next question about the journal needs no new ones. Lists are made for one
    request and not kept.
    """

    def __init__(self, provider: ChatProvider, summaries: SummaryRepository) -> None:
        self._provider = provider
        self._summaries = summaries

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
            request = ChatRequest(system=system, messages=(ChatMessage(role=ChatRole.USER, text=numbered),))
            text = (await complete(self._provider, request, parent)).text.strip()
            if not text:
                raise ProviderError(f"{self._provider.name} gave nothing for a section.")
            replies.append(text)
        return "\n".join(text for text in replies if not _is_nothing(text)) or NOTHING


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
