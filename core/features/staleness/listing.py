"""Stale answers in words, and as JSON. Pure."""

from collections.abc import Sequence

from core.domain.answer import Citation
from core.domain.features import Fate, StaleAnswer
from core.serializers.objects import Json
from core.text.words import shorten

TITLE_LENGTH = 80


def told(item: StaleAnswer) -> str:
    """What became of an answer's footnotes, in words: “Keys” does not say any more what footnotes 1 and 2 quote."""
    by_document: dict[tuple[str, Fate], list[int]] = {}
    for quote in item.lost:
        cited = next((c for c in item.message.citations if c.number == quote.number), None)
        title = shorten(cited.document_title or cited.document, TITLE_LENGTH) if cited else "a document"
        by_document.setdefault((title, quote.fate), []).append(quote.number)
    parts = [
        f"“{title}” was taken out ({_footnotes(numbers)})"
        if fate is Fate.GONE
        else f"“{title}” does not say any more what {_footnotes(numbers)} {'quote' if len(numbers) > 1 else 'quotes'}"
        for (title, fate), numbers in by_document.items()
    ]
    return "; ".join(parts) or "a document behind it was taken out"


def stale_json(item: StaleAnswer) -> Json:
    """A stale answer as listed."""
    cited = {citation.number: citation for citation in item.message.citations}
    return {
        "conversation_id": item.conversation.id,
        "title": item.conversation.title,
        "thread": str(item.conversation.address),
        "message_id": item.message.id,
        "question": item.question,
        "answered_at": item.message.created_at.isoformat(),
        "lost": [
            {"number": quote.number, "fate": quote.fate.value, **_cited_json(cited.get(quote.number))}
            for quote in item.lost
        ],
    }


def _cited_json(citation: Citation | None) -> Json:
    if citation is None:
        return {}
    return {
        "source": citation.source,
        "document": citation.document,
        "document_title": citation.document_title,
        "page_number": citation.page_number,
        "quote": citation.quote,
    }


def _footnotes(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"footnotes {', '.join(first)} and {last}" if first else f"footnote {last}"
