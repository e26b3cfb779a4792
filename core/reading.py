"""Reading positions: "5", "chapter 9", "my-book.epub=12", "end" -> the last page that may be read of a document.

What can't be understood is refused with a sentence: a spoiler line that fails open is none.
"""

import re
from collections.abc import Mapping, Sequence

from core.domain.corpus import Document, Page, SearchScope
from core.errors import BadInput
from core.ports import CorpusRepository
from core.texts import collapse

_END = re.compile(r"^(?:the )?end$|^(?:finished|all)$", re.IGNORECASE)
_CHAPTER = re.compile(r"\b(?:chapter|part|book|session|act)\s+([ivxlcdm]+|\d+|[a-z]+)\b", re.IGNORECASE)
_NUMERAL_TITLE = re.compile(r"^\W*([IVXLCDM]+|\d+)\s*(?:[.:)—–-]|$)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_WORDS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(),
        start=1,
    )
}


def split_position(text: str) -> tuple[str | None, str]:
    """(document name or None, place) of "[DOCUMENT=]place"."""
    name, sign, place = text.rpartition("=")
    if not collapse(place):
        raise BadInput(f"The reading position {text!r} names no place: write a page number or a chapter's name.")
    return (collapse(name) or None) if sign else None, collapse(place)


async def positions_for(
    place: str, document: Document | None, corpus: CorpusRepository, scope: SearchScope
) -> dict[str, int]:
    """Document id -> last readable page number, for "N or chapter name".

    With a document: of that one. Without: a chapter's name holds for every document that has such a chapter; a bare
    page number needs a document. Raises BadInput when nothing fits.
    """
    if _END.match(place):
        return {}
    if document is not None:
        last = find_position(place, await corpus.list_pages(document.id, scope))
        if last is None:
            raise BadInput(
                f"{document.title!r} has no chapter or page {place!r}: write one of its page numbers "
                f"(1 to {document.pages}) or chapter names."
            )
        return {document.id: last}
    if place.isdigit():
        raise BadInput(f"Page {place} of which document? Write the position as DOCUMENT={place}.")
    found: dict[str, int] = {}
    for candidate in await corpus.list_documents(scope.workspace, scope.sources):
        if candidate.pages > 1:
            last = find_position(place, await corpus.list_pages(candidate.id, scope))
            if last is not None:
                found[candidate.id] = last
    if not found:
        raise BadInput(f"No document has a chapter {place!r}: write the position as DOCUMENT=page number.")
    return found


def lowest(*positions: Mapping[str, int]) -> dict[str, int]:
    """Of several positions in a document, the one that shows least; a document that only some name is bound, too."""
    found: dict[str, int] = {}
    for document_id, last in (item for each in positions for item in each.items()):
        found[document_id] = min(last, found.get(document_id, last))
    return found


def find_position(place: str, pages: Sequence[Page]) -> int | None:
    """The last page of a place: a page number, a page's title, or a chapter by its number. None: no such place."""
    if place.isdigit():
        return min(int(place), pages[-1].number) if int(place) > 0 and pages else None
    wanted = collapse(place).casefold()
    same = [page.number for page in pages if wanted in (title.casefold() for title in _titles(page))]
    if same:
        return _end_of_first_run(same)
    match = _CHAPTER.search(place)
    number = _to_number(match.group(1)) if match else None
    if number is None:
        return None
    return _end_of_first_run([page.number for page in pages if number in _chapter_numbers(page)])


def _end_of_first_run(numbers: Sequence[int]) -> int | None:
    """A chapter may be several pages; one of the same number in a later part is not meant."""
    last: int | None = None
    for number in numbers:
        if last is not None and number != last + 1:
            break
        last = number
    return last


def _titles(page: Page) -> list[str]:
    return [collapse(title) for title in (page.title, *page.heading_path) if title]


def _chapter_numbers(page: Page) -> set[int]:
    found = set()
    for title in _titles(page):
        for pattern in (_CHAPTER, _NUMERAL_TITLE):
            if match := pattern.search(title):
                found.add(_to_number(match.group(1)))
    return {number for number in found if number is not None}


def _to_number(text: str) -> int | None:
    lower = text.lower()
    if lower.isdigit():
        return int(lower)
    if lower in _WORDS:
        return _WORDS[lower]
    if not lower or set(lower) - set(_ROMAN):
        return None
    values = [_ROMAN[letter] for letter in lower]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
