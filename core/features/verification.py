"""The check of an exported answer against the library: quotes, places, revisions, numbers and support."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.answering.citations import MARKER, ProvedText
from core.answering.grounding import check_text
from core.answering.support.check import SupportCheck
from core.domain.answer import Citation, Draft, Evidence
from core.domain.corpus import Page, SearchScope
from core.domain.footnotes import cite
from core.domain.passages import Span
from core.errors import BadInput, NotFound
from core.ports import ConversationRepository, CorpusRepository
from core.serializers.objects import citation_json

NOT_AN_ANSWER = "This file holds no answer: it needs the JSON that `footnote ask --json` prints."


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a check. Without problems, every footnote is proved and supports its sentence."""

    footnotes: int
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"verified": not self.problems, "footnotes": self.footnotes, "problems": list(self.problems)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """Checks exported answers. Pages are read within the reader's scope."""

    corpus: CorpusRepository
    conversations: ConversationRepository
    check: SupportCheck

    async def verify(self, answer: Mapping[str, Any], scope: SearchScope) -> Verification:
        """Return all problems of an answer object. BadInput if it is none."""
        text, given = _read(answer)
        problems = _number_problems(text, given)
        found: list[Citation] = []
        for item in given:
            citation, problem = await self._citation(item, scope)
            problems += [problem] if problem else []
            found += [citation] if citation is not None else []
        problems += await self._text_problems(answer, text)
        if not problems:
            problems += await self._support_problems(answer, text, found)
        return Verification(footnotes=len(given), problems=tuple(problems))

    async def _citation(self, given: Mapping[str, Any], scope: SearchScope) -> tuple[Citation | None, str]:
        """Return the footnote as the library has it, and the difference of the given one."""
        number = given.get("number")
        try:
            page = await self.corpus.get_page(str(given.get("page_id")), scope)
            document = await self.corpus.get_document(page.document_id, scope)
        except NotFound:
            return None, f"[{number}] cites a page that is not in the library: {given.get('document')!r}."
        span = _span(given.get("span"), page)
        if given.get("revision") != page.revision:
            return None, f"[{number}] cites another revision of {document.path!r} than the one in the library."
        if span is None or span.of(page.text) != given.get("quote"):
            return None, f"[{number}] has a quote that is not at its place in {document.path!r}, page {page.number}."
        citation = cite(int(number) if isinstance(number, int) else 0, document, page, span)
        other = [key for key, value in citation_json(citation).items() if given.get(key) != value]
        if other:
            return None, f"[{number}] differs from the library in {', '.join(other)}."
        return citation, ""

    async def _text_problems(self, answer: Mapping[str, Any], text: str) -> list[str]:
        """Compare with the stored answer, if it is still kept."""
        message_id = answer.get("message_id")
        stored = (
            await self.conversations.find_message(message_id) if isinstance(message_id, str) and message_id else None
        )
        if stored is not None and stored.content != text:
            return ["The text is not that of the stored answer."]
        return []

    async def _support_problems(self, answer: Mapping[str, Any], text: str, found: Sequence[Citation]) -> list[str]:
        """Name the sentences that their footnotes don't support and that aren't marked so."""
        marked = {tuple(span) for span in answer.get("unsupported", []) if isinstance(span, list)}
        draft = Draft(segments=(), evidence=Evidence())
        proved = ProvedText(text=text, citations=tuple(found), dropped=0)
        checked = await check_text(draft, proved, self.check, "")
        return [
            f"Not supported by its footnote: {item.span.of(text)}"
            for item in checked
            if item.is_faulty and item.numbers and (item.span.start, item.span.end) not in marked
        ]


def _read(answer: Mapping[str, Any]) -> tuple[str, list[Mapping[str, Any]]]:
    text, given = answer.get("answer"), answer.get("citations")
    if not isinstance(text, str) or not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise BadInput(NOT_AN_ANSWER)
    return text, given


def _number_problems(text: str, given: Sequence[Mapping[str, Any]]) -> list[str]:
    """Markers and footnotes have the same numbers, from 1 without gaps, in order of first use."""
    used = [int(n) for match in MARKER.finditer(text) for n in match.group(1).replace(";", ",").split(",")]
    numbers = [item.get("number") for item in given]
    expected = list(range(1, len(given) + 1))
    if numbers != expected:
        return [f"The footnotes are numbered {', '.join(map(str, numbers))} instead of 1 to {len(given)}."]
    if list(dict.fromkeys(used)) != expected:
        return ["The numbers in the text are not those of the footnotes, in order of first use."]
    return []


def _span(given: object, page: Page) -> Span | None:
    match given:
        case [int(start), int(end)] if 0 <= start < end <= len(page.text):
            return Span(start, end)
    return None
