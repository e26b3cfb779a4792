"""Questions to begin with, about what the library really holds: sections of documents that can be read."""

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from core.domain.corpus import Document, Page, SearchScope
from core.features.kept_answers import KEPT_SOURCE
from core.ports import CorpusRepository
from core.text.words import content_words, shorten

MOST_TRIED = 12  # documents looked into
PAGES_TRIED = 3  # of each: a section's name stands on its first pages, or it has none
NAME_LENGTH = 48  # characters of a title, so that a question reads well on one line
# Headings that say nothing to whoever does not know the document.
_BARE = re.compile(
    r"(?:(?:page|chapter|part|section|book|appendix)?\s*[\divxlc.]*|(?:table of )?contents|index|preface|introduction)",
    re.IGNORECASE,
)


async def example_questions(
    documents: Sequence[Document], corpus: CorpusRepository, scope: SearchScope, most: int
) -> list[str]:
    """At most `most`, each about another of these documents; of several sources in turn, newest documents first.

    Nothing is named that the scope does not read.
    """
    readable = [item for item in documents if _is_readable(item, scope)]
    found: list[str] = []
    for document in _in_turn(readable)[:MOST_TRIED]:
        section = await _section(corpus, document, scope)
        title = shorten(document.title, NAME_LENGTH)
        if section is not None:
            found.append(f"What does “{title}” say about “{shorten(section, NAME_LENGTH)}”?")
        if len(found) == most:
            break
    return found


def _is_readable(document: Document, scope: SearchScope) -> bool:
    return document.revision is not None and document.source_id in scope.sources and document.source != KEPT_SOURCE


async def _section(corpus: CorpusRepository, document: Document, scope: SearchScope) -> str | None:
    """The first heading that says more than the document's title; None where none does, or may be read yet."""
    for number in range(1, PAGES_TRIED + 1):
        page = await corpus.find_page(document.id, number, scope)
        if page is None:
            return None
        for heading in _headings(page):
            if not _BARE.fullmatch(heading.strip()) and content_words(heading) - content_words(document.title):
                return heading
    return None


def _headings(page: Page) -> Sequence[str]:
    return [*(heading.title for heading in page.headings), page.title]


def _in_turn(documents: Sequence[Document]) -> list[Document]:
    """One of each source, then the next one of each."""
    newest = sorted(documents, key=_age)
    sources = {item.source: [other for other in newest if other.source == item.source] for item in newest}
    return [item for item in chain.from_iterable(zip_longest(*sources.values())) if item is not None]


def _age(document: Document) -> float:
    return -document.crawled_at.timestamp() if document.crawled_at is not None else 0.0
