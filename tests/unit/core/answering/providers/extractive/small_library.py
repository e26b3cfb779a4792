"""Passages, and models without vectors, for the tests of the extractive provider."""

import re
from collections.abc import Mapping, Sequence

from core.domain.chat import NumberedPassage, ToolDefinition, ToolInvocation, ToolResult
from core.domain.corpus import SourcedPassage
from core.domain.passages import ScoredSpan, Span
from core.text.words import content_words
from tests.builders import build_document, build_pages, build_passages

TOOLS = tuple(ToolDefinition(name=name, description="", parameters={}) for name in ("search", "get_page"))


def passages_of(path: str, *texts: str, heading: str = "Section") -> list[SourcedPassage]:
    """One passage a page, its sentences cut at full stops and line ends."""
    from dataclasses import replace

    document = build_document(path)
    pages = build_pages(document, *texts)
    found = []
    for passage, text in zip(build_passages(pages), texts, strict=True):
        spans = tuple(Span(m.start(), m.end()) for m in re.finditer(r"[^\s.!?][^.!?\n]*[.!?]?", text))
        whole = replace(passage, span=Span(0, len(text)), text=text, sentences=spans, heading_path=(heading,))
        found.append(SourcedPassage(passage=whole, document=document, page_title=heading, score=1.0))
    return found


def search_result(call: ToolInvocation, found: Sequence[SourcedPassage]) -> ToolResult:
    numbered = tuple(NumberedPassage(number=n, source=source) for n, source in enumerate(found, start=1))
    return ToolResult(invocation_id=call.id, name=call.name, text="", passages=numbered)


class WordJudge:
    """An AnswerJudge: the share of the question's words that a text has, within bounds. Keeps what it read.

    `ceilings` bound the scores of texts that begin with a key.
    """

    def __init__(self, floor: float = 0.0, ceilings: Mapping[str, float] | None = None) -> None:
        self.floor, self.ceilings = floor, ceilings or {}
        self.read: list[str] = []

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read.extend(texts)
        asked = {word[:4] for word in content_words(question)}
        return [
            self._bounded(text, len(asked & {w[:4] for w in content_words(text)}) / max(len(asked), 1))
            for text in texts
        ]

    def _bounded(self, text: str, share: float) -> float:
        bounds = (bound for begin, bound in self.ceilings.items() if text.startswith(begin))
        return min(max(self.floor, share), *bounds, 1.0)


class NearModel:
    """A SupportModel that holds all sentences for likely, so that only the checks in code decide."""

    async def support(self, sentence: str, quotes: str) -> float:
        return 0.8


class FirstSentences:
    """A SentenceRanker that takes the last sentences first, so that its choice can be told from the text order."""

    async def rank(self, question: str, passages: Sequence[SourcedPassage], limit: int = 10) -> list[ScoredSpan]:
        spans = [(found.passage.id, span) for found in passages for span in found.passage.sentences]
        return [ScoredSpan(passage_id=key, span=span, score=0.5) for key, span in reversed(spans)][:limit]
