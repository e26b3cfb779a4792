"""Definitions that the form of a page marks: glossaries, definition lists, tables of terms. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput
from core.domain.passages import Span
from core.text.words import shorten
from storage.documents.html.text import MEANING_INDENT
from storage.documents.markup.marked_text import Line, MarkedText, PipeTable, plain

# Characters and words of a name, and characters of a definition.
MAX_NAME = 60
MAX_NAME_WORDS = 6
MAX_DEFINITION = 500

# Labels of notes and references, which define nothing.
_LABELS = frozenset(
    """date time when where location place venue attendees participants present absent apologies agenda notes note
    warning tip tips important caution info example examples question answer q a author authors status version type
    title summary description todo action actions decision decisions owner due deadline next steps result results
    update updates source sources see also link links file files path url method endpoint request response input
    output default required optional returns return parameters params arguments usage goal goals objective purpose
    problem solution context background pros cons advantages disadvantages step hint remember total price moderator
    facilitator chair scribe minutes recording video subject from cc bcc sent reply comments comment reference
    references related reviewers reviewer tags keywords category name email phone address contact created updated
    modified id key value yes no and or but first second third finally prerequisites requirements installation
    audience scope duration conclusion overview introduction features feature new fixed changed added removed
    deprecated security bug fix breaking""".split()
)
_NO_FIRST = frozenset({"step", "note", "see", "if", "when"})
_PLAIN_ITEM = re.compile(r"(?P<name>[^:.!?\n–—]{2,60}?)(?:\s*[:–—]|\s-(?=\s))\s+(?P<text>\S.*)")
_TERM_COLUMN = re.compile(
    r"(?:key |defined )?(?:terms?|words?|concepts?|acronyms?|abbreviations?|phrases?|jargon|expression)"
)
_MEANING_COLUMN = re.compile(
    r"(?:short )?(?:definitions?|meanings?|stands for|explanations?|descriptions?|expansion|in full|long form)"
)
_LISTS = r"(?:glossary|vocabulary|lexicon|terminology|acronyms|abbreviations)"
_GLOSSARY = re.compile(
    rf"(?:.{{1,40}}\s)?{_LISTS}(?:\s(?:of|and)\s.{{1,40}})?|(?:(?:key|important|some|basic)\s)?"
    rf"(?:terms|definitions)(?:\sand\s(?:terms|definitions|{_LISTS}))?",
    re.IGNORECASE,
)
_ITEM_MARK = re.compile(r"^(?:[>\s]*(?:[-*+•]|\d{1,3}[.)])\s+)")
# Kinds with indented meanings in their definition lists.
_OF_TAGS = frozenset({"epub", "foundry", "html"})
_BOLD_TERM = re.compile(r"\*\*(?P<names>[^*\n]{1,200})\*\*(?: \([^()\n]{1,60}\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    name: str
    text: str
    span: Span
    confidence: float


def define(given: ExtractorInput) -> list[tuple[Page, Definition]]:
    """Return the definitions of a document in text order, each name once, at its surest place."""
    in_glossary = is_glossary(given.document.title)
    best: dict[str, tuple[Page, Definition]] = {}
    for page in given.pages:
        for item in _in_page(MarkedText(page), given.document.kind, in_glossary=in_glossary):
            key = item.name.casefold()
            if key not in best or item.confidence > best[key][1].confidence:
                best[key] = page, item
    return sorted(best.values(), key=lambda pair: (pair[0].number, pair[1].span))


def is_name(name: str) -> bool:
    """Return whether a text may name a thing: short, with a letter, not a sentence or a label of notes."""
    words = name.split()
    if not words or len(name) > MAX_NAME or len(words) > MAX_NAME_WORDS or not re.search(r"[^\W\d_]", name):
        return False
    if re.search(r"[?!;|<>={}\[\]]|[.:,]$|https?:|\.\s", name):
        return False
    if words[0].casefold().removesuffix("s") in _LABELS and words[-1][0].isdigit():
        return False
    return name.casefold().strip(" .") not in _LABELS and words[0].casefold() not in _NO_FIRST


def is_glossary(title: str) -> bool:
    return bool(_GLOSSARY.fullmatch(title.strip(" :")))


def _in_page(text: MarkedText, kind: str, *, in_glossary: bool) -> Iterator[Definition]:
    for table in text.tables:
        yield from _in_table(table)
    yield from _in_colon_lists(text)
    yield from _below_terms(text, kind)
    yield from _in_glossary(text, in_glossary=in_glossary)
    if in_glossary:
        yield from _under_headings(text)


def _to_definition(name: str, meaning: str, span: Span, confidence: float = 0.9) -> Definition:
    return Definition(name=name, text=shorten(meaning, MAX_DEFINITION), span=span, confidence=confidence)


def _in_table(table: PipeTable) -> Iterator[Definition]:
    term = next((at for at, name in enumerate(table.columns) if _TERM_COLUMN.fullmatch(name)), None)
    meaning = next((at for at, name in enumerate(table.columns) if _MEANING_COLUMN.fullmatch(name)), None)
    if term is None or meaning is None:
        return
    for row in table.rows:
        if max(term, meaning) < len(row.cells):
            name, text = plain(row.cells[term]), plain(row.cells[meaning])
            if is_name(name) and text:
                yield _to_definition(name, text, row.span)


def _in_colon_lists(text: MarkedText) -> Iterator[Definition]:
    """Yield terms with lines below that begin with a colon."""
    lines = text.lines
    for at, line in enumerate(lines[1:], 1):
        if line.text.startswith(": ") and _is_text(line):
            above = lines[at - 1]
            name = plain(above.text)
            if _is_text(above) and not above.text.startswith(": ") and is_name(name):
                meaning, span = _paragraph(lines, at, line.text[2:])
                yield _to_definition(name, meaning, Span(above.span.start, span.end))


def _in_glossary(text: MarkedText, *, in_glossary: bool) -> Iterator[Definition]:
    """Yield items "term: meaning" below the heading of a glossary."""
    inside, level = in_glossary, 0
    titles = {line.span: title for line, title in text.titles()}
    for at, line in enumerate(text.lines):
        if line.heading:
            if is_glossary(titles.get(line.span, "")):
                inside, level = True, line.heading
            elif line.heading <= level:
                inside, level = in_glossary, 0
            continue
        content = _ITEM_MARK.sub("", line.text[:1_000], count=1)
        match = _PLAIN_ITEM.match(content) if inside and _is_text(line) and line.is_item else None
        if match and is_name(plain(match["name"])):
            meaning, span = _paragraph(text.lines, at, match["text"])
            yield _to_definition(plain(match["name"]), meaning, span)


def _under_headings(text: MarkedText) -> Iterator[Definition]:
    """Yield the headings of a glossary with the paragraph below."""
    titles = {line.span: title for line, title in text.titles()}
    for at, line in enumerate(text.lines[:-1]):
        following, title = text.lines[at + 1], titles.get(line.span, "")
        if line.heading > 1 and _is_text(following) and not following.is_item and is_name(title):
            meaning, span = _paragraph(text.lines, at + 1, following.text)
            yield _to_definition(title, meaning, Span(line.span.start, span.end), 0.8)


def _paragraph(lines: Sequence[Line], at: int, first: str) -> tuple[str, Span]:
    """Return the text and the place of a line, whose text is `first`, and the rest of its paragraph."""
    parts, end = [plain(first)], lines[at].span.end
    for line in lines[at + 1 : at + 8]:
        if line.follows_blank or line.is_item or not _is_text(line):
            break
        parts.append(plain(line.text))
        end = line.span.end
    return " ".join(filter(None, parts)), Span(lines[at].span.start, end)


def _below_terms(text: MarkedText, kind: str) -> Iterator[Definition]:
    """Yield terms with an indented meaning, or bold ones of reStructuredText with a meaning below.

    Several terms in a row share the meaning below the last one.
    """
    lines = text.lines
    for at, line in enumerate(lines[1:], 1):
        first = at - 1
        if not _is_text(line) or not _is_term(lines[first], line, kind):
            continue
        end = _end(lines, at)
        meaning = " ".join(plain(each.text) for each in lines[at:end])
        while first >= 0 and _is_term(lines[first], line, kind):
            place = Span(lines[first].span.start, lines[end - 1].span.end)
            yield from (_to_definition(name, meaning, place) for name in _names(lines[first]) if is_name(name))
            if lines[first].follows_blank:
                break
            first -= 1


def _names(line: Line) -> list[str]:
    bold = _BOLD_TERM.fullmatch(line.text)
    return [plain(name) for name in (bold["names"].split(", ") if bold else [line.text])]


def _end(lines: Sequence[Line], at: int) -> int:
    """Return the index behind a meaning: all indented lines, or else its paragraph."""
    end = at + 1
    while end < len(lines) and _is_text(lines[end]):
        if lines[end].indent < lines[at].indent or (not lines[at].indent and lines[end].follows_blank):
            break
        end += 1
    return end


def _is_term(line: Line, meaning: Line, kind: str) -> bool:
    if not _is_text(line) or line.is_item:
        return False
    if kind == "rst":
        return not meaning.follows_blank and _BOLD_TERM.fullmatch(line.text) is not None
    return kind in _OF_TAGS and meaning.indent - line.indent >= len(MEANING_INDENT) and is_name(plain(line.text))


def _is_text(line: Line) -> bool:
    return not (line.in_code or line.heading or line.is_row)
