"""EPUB books: a page for each chapter."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from storage.documents.archives import ZIP_MARK, open_archive
from storage.documents.books.chapters import book_span
from storage.documents.books.epub_package import Book, Entry, read_book, to_html
from storage.documents.html.text import html_to_text
from storage.documents.texts.encodings import say_hidden
from storage.documents.texts.sections import split_sections

# Roles (epub:type, guide) of files that no reader of the text misses.
_LEFT_OUT = frozenset(
    "cover titlepage title-page halftitlepage halftitle half-title copyright copyright-page imprint imprimatur "
    "colophon toc toc-brief landmarks loi lot lov loa page-list other-credits".split()
)
# Roles of readable parts before the first chapter, which become the last pages.
_COMES_LAST = frozenset(
    "dedication epigraph foreword preface acknowledgments acknowledgements acknowledgement frontmatter".split()
)
# Titles of left out parts, for books without roles.
_LEFT_OUT_TITLE = re.compile(
    r"cover(?: page| image)?|(?:half[ -]?)?title ?page|copyright(?: page| notice)?|imprint|impressum|colophon"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis)?|sommaire|目次"
    r"|the full project gutenberg licen[sc]e.*|project gutenberg licen[sc]e",
    re.IGNORECASE,
)
_OUTER = re.compile(r"(?:part|book|volume|act|teil|band|buch|partie|livre|parte|libro|tome?)\b", re.IGNORECASE)
_CHAPTER = re.compile(
    r"(?:chapter|kapitel|chapitre|cap[ií]tulo|capitolo|appendix|preface|foreword|introduction)\b|\d{1,3}(?:[.:]|\s)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file of the book as text. `places` are the positions of the ids in the table of contents."""

    path: str
    text: str
    headings: tuple[Heading, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    roles: frozenset[str] = frozenset()
    unseen: int = 0


@dataclass(slots=True)
class _Chapter:
    """A page as it grows out of one part or several."""

    title: str = ""
    above: tuple[str, ...] = ()
    text: str = ""
    headings: list[Heading] = field(default_factory=list)
    anchors: list[tuple[str, int]] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)

    def add(self, part: Part, start: int, end: int, anchor: str) -> None:
        raw = part.text[start:end]
        first = start + len(raw) - len(raw.lstrip())
        text = part.text[first:end].rstrip()
        if not text:
            return
        offset = len(self.text) + 2 if self.text else 0
        self.text = f"{self.text}\n\n{text}" if self.text else text
        self.anchors.append((anchor, offset))
        inside = (item for item in part.headings if first <= item.start < first + len(text))
        self.headings += [replace(item, start=item.start - first + offset) for item in inside]


def build_pages(book: Book, parts: Sequence[Part]) -> tuple[ParsedPage, ...]:
    """Return pages in reading order, with useful front matter last; () if no part has text."""
    chosen = _chosen(book.entries)
    chapters = [chapter for chapter in _chapters(book, _without_licence(parts), chosen) if chapter.text]
    kept = [chapter for chapter in chapters if not _is_left_out(chapter, book)] or chapters
    body = next((place for place, item in enumerate(kept) if not item.roles & _COMES_LAST), len(kept))
    ordered = _with_bare([*kept[body:], *kept[:body]])
    if len(ordered) == 1 and len(chosen) < 2:  # the contents say nothing: headings may say more
        sections = split_sections(ordered[0].text, ordered[0].headings, ordered[0].anchors)
        if len(sections) > 1:
            return sections
    return tuple(map(_to_page, ordered))


def _without_licence(parts: Sequence[Part]) -> list[Part]:
    """Return the parts between Project Gutenberg's markers, if the book has them."""
    joined = "\n\n".join(part.text for part in parts)
    span = book_span(joined)
    kept = []
    start = 0
    for part in parts:
        first = min(max(span.start - start, 0), len(part.text))
        last = min(max(span.end - start, 0), len(part.text))
        start += len(part.text) + 2
        kept.append(part if (first, last) == (0, len(part.text)) else _cut(part, first, last))
    return kept


def _cut(part: Part, first: int, last: int) -> Part:
    return replace(
        part,
        text=part.text[first:last],
        headings=tuple(replace(item, start=item.start - first) for item in part.headings if first <= item.start < last),
        places={name: min(max(place - first, 0), last - first) for name, place in part.places.items()},
    )


def _chapters(book: Book, parts: Sequence[Part], chosen: Sequence[int]) -> list[_Chapter]:
    """Cut the parts at the entries that are chapters. A part without an entry continues the chapter before it,
    unless it begins with its own heading or has another role.
    """
    starts: dict[str, list[tuple[int, int]]] = {}
    by_path = {part.path: part for part in parts}
    for number in chosen:
        entry = book.entries[number]
        if entry.path in by_path:
            place = by_path[entry.path].places.get(entry.fragment, 0)
            starts.setdefault(entry.path, []).append((place, number))
    chapters: list[_Chapter] = []
    for part in parts:
        cuts = sorted(starts.get(part.path, ()))
        stem = PurePosixPath(part.path).stem
        end = cuts[0][0] if cuts else len(part.text)
        if not cuts or part.text[: cuts[0][0]].strip():
            if not chapters or _begins_anew(part, chapters[-1]):
                title = next((item.title for item in part.headings if item.start < end), "")
                chapters.append(_Chapter(title=title, roles=set(part.roles)))
            chapters[-1].add(part, 0, end, stem)
        ends = [place for place, _ in cuts[1:]] + [len(part.text)] * bool(cuts)
        for (start, number), end in zip(cuts, ends, strict=True):
            entry = book.entries[number]
            chapter = _Chapter(title=entry.title, above=_above(book, entry), roles=set(part.roles))
            chapter.add(part, start, end, entry.fragment or stem)
            chapters.append(chapter)
    return chapters


def _begins_anew(part: Part, before: _Chapter) -> bool:
    deepest = before.headings[0].level if before.headings else 2
    headed = bool(part.headings) and part.headings[0].start == 0 and part.headings[0].level <= deepest
    other_kind = (part.roles & (_LEFT_OUT | _COMES_LAST)) != (before.roles & (_LEFT_OUT | _COMES_LAST))
    return headed or other_kind or _LEFT_OUT_TITLE.fullmatch(before.title) is not None


def _chosen(entries: Sequence[Entry]) -> list[int]:
    """Return the entries that are pages: those without entries below them, with the parts and titles above them."""
    below: dict[int | None, list[int]] = {}
    for number, entry in enumerate(entries):
        below.setdefault(entry.parent, []).append(number)
    chosen: list[int] = []
    waiting = list(reversed(below.get(None, [])))
    while waiting:
        number = waiting.pop()
        chosen.append(number)
        inner = below.get(number, [])
        if inner and _stands_above(entries, number, inner, alone=len(below[None]) == 1):
            waiting += reversed(inner)
    return [number for number in chosen if entries[number].path]


def _stands_above(entries: Sequence[Entry], number: int, inner: Sequence[int], *, alone: bool) -> bool:
    """Return whether an entry is a part of the book with chapters, and no chapter with sections."""
    entry = entries[number]
    if _CHAPTER.match(entry.title):
        return False
    if _OUTER.match(entry.title) or (alone and entry.level == 0):
        return True
    elsewhere = {entries[item].path for item in inner} - {entry.path, ""}
    return len(elsewhere) * 2 > len(inner) or (not entry.path and len(inner) > 0)


def _above(book: Book, entry: Entry) -> tuple[str, ...]:
    titles: list[str] = []
    parent = entry.parent
    while parent is not None:
        titles.insert(0, book.entries[parent].title)
        parent = book.entries[parent].parent
    own = _words(book.title)
    return tuple(title for title in titles if title and _words(title) != own)


def _is_left_out(chapter: _Chapter, book: Book) -> bool:
    if chapter.roles & _LEFT_OUT and "chapter" not in chapter.roles:
        return True
    if _LEFT_OUT_TITLE.fullmatch(chapter.title.strip()):
        return True
    return not chapter.above and _words(chapter.text) == _words(book.title)


def _with_bare(chapters: Sequence[_Chapter]) -> list[_Chapter]:
    kept: list[_Chapter] = []
    for chapter in chapters:
        before = kept[-1] if kept else None
        if before is not None and _is_bare(before) and before.title in chapter.above:
            kept[-1] = _joined(before, chapter)
        else:
            kept.append(chapter)
    return kept


def _is_bare(chapter: _Chapter) -> bool:
    return _words(chapter.text) == _words(" ".join(item.title for item in chapter.headings) or chapter.title)


def _joined(first: _Chapter, second: _Chapter) -> _Chapter:
    shift = len(first.text) + 2
    return _Chapter(
        title=second.title,
        above=second.above,
        text=f"{first.text}\n\n{second.text}",
        headings=[*first.headings, *(replace(item, start=item.start + shift) for item in second.headings)],
        anchors=[*first.anchors, *((name, place + shift) for name, place in second.anchors)],
        roles=second.roles,
    )


def _to_page(chapter: _Chapter) -> ParsedPage:
    title, headings = _titled(chapter)
    return ParsedPage(
        title=title,
        text=chapter.text,
        headings=tuple(headings),
        heading_path=chapter.above,
        anchors=tuple(dict(reversed(chapter.anchors)).items())[::-1],
    )


def _titled(chapter: _Chapter) -> tuple[str, list[Heading]]:
    """Return the page's title and headings; the opening headings that repeat the title become one.

    The contents have "IX: Dies Irae" for a chapter with "IX" and the title on two lines; or they have "Chapter 1" for a
    chapter with a longer title, which is then used.
    """
    opening = chapter.headings[:1] if chapter.headings and chapter.headings[0].start == 0 else []
    if not opening:
        return chapter.title, chapter.headings
    said, title = _words(opening[0].title), _words(chapter.title)
    if not title or (len(said) > len(title) and _is_in(title, said)):
        return opening[0].title, chapter.headings
    rest = chapter.headings
    while rest and _belongs_to_title(rest[0], chapter.text, title):
        rest = rest[1:]
    if len(rest) == len(chapter.headings):
        return chapter.title, chapter.headings
    return chapter.title, [replace(opening[0], title=chapter.title), *rest]


def _belongs_to_title(heading: Heading, text: str, title: list[str]) -> bool:
    before = _words(text[: heading.start])
    return _is_in(_words(heading.title), title) and before == title[: len(before)]


def _is_in(words: list[str], title: list[str]) -> bool:
    return bool(words) and any(title[place : place + len(words)] == words for place in range(len(title)))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


class EpubReader:
    """Reads `.epub`, versions 2 and 3.

    Left out are cover, title pages, imprint, colophon and the table of contents, and a licence of Project Gutenberg;
    a dedication, preface and the like come after the last chapter, so that chapters count from page 1.
    Footnotes stay with their chapter, endnotes are a page of their own. Anchors are the names of the book's files and
    of the places its table of contents leads to.
    """

    kind = "epub"
    suffixes = frozenset({".epub"})
    expects = "an EPUB (no ZIP container)"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.startswith(ZIP_MARK)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        with open_archive(path, "EPUB") as archive:
            book = read_book(archive)
            missing = 0
            parts = []
            for name in book.files:
                try:
                    source = to_html(archive.read(name))
                except ReadError as error:
                    if not str(error).startswith("empty"):
                        raise
                    missing += 1
                    continue
                parts.append(_to_part(book, name, source))
        pages = build_pages(book, parts)
        if not pages:
            raise ReadError("empty: the book has no text; are its pages pictures?")
        lost = (f"{missing} file{'s' * (missing > 1)} of the book without text left out",) if missing else ()
        hidden = say_hidden(sum(part.unseen for part in parts))
        return ParsedDocument(
            title=book.title or path.stem, kind=self.kind, pages=pages, warnings=(*lost, *hidden), hidden=hidden
        )


def _to_part(book: Book, name: str, source: str) -> Part:
    wanted = {entry.fragment for entry in book.entries if entry.path == name and entry.fragment}
    page = html_to_text(source, book=True, ids=wanted)
    return Part(
        path=name,
        text=page.text,
        headings=page.headings,
        unseen=page.unseen,
        places={anchor: place for anchor, place in page.anchors if anchor in wanted},
        roles=book.roles.get(name, frozenset()) | _own_roles(source),
    )


def _own_roles(source: str) -> frozenset[str]:
    from selectolax.lexbor import LexborHTMLParser

    roles: set[str] = set()
    tree = LexborHTMLParser(source)
    for node in (tree.body, tree.css_first("body > section, body > article, body > div, body > main > section")):
        if node is not None:
            marks = f"{node.attributes.get('epub:type') or ''} {node.attributes.get('role') or ''}".lower()
            roles.update(mark.removeprefix("doc-") for mark in marks.split())
    return frozenset(roles)
