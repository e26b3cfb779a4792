"""Definitions on a page: glossaries, definition lists, bold terms with their meaning, acronyms. Pure.

Wrong definitions are worthless: labels of notes ("Date:"), speakers of a transcript and feature lists without meanings
are left out, and each definition has a confidence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.corpus import Page, Span
from core.domain.extracts import ExtractorInput
from core.text.pipe_tables import to_cells
from core.text.words import shorten
from storage.documents.html.writer import MEANING_INDENT
from storage.documents.markup.marked_text import Line, MarkedText, PipeTable, plain

MAX_NAME = 60
MAX_NAME_WORDS = 6

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


def is_name(name: str) -> bool:
    """Whether a text may be the name of a thing: short, with a letter, no sentence and no label of notes."""
    words = name.split()
    if not words or len(name) > MAX_NAME or len(words) > MAX_NAME_WORDS or not re.search(r"[^\W\d_]", name):
        return False
    if re.search(r"[?!;|<>={}\[\]]|[.:,]$|https?:|\.\s", name):
        return False
    if words[0].casefold().removesuffix("s") in _LABELS and words[-1][0].isdigit():
        return False
    return name.casefold().strip(" .") not in _LABELS and words[0].casefold() not in (
        "step",
        "note",
        "see",
        "if",
        "when",
    )


MAX_DEFINITION = 500
# Characters before an acronym's bracket in which its words stand.
_LOOK_BACK = 120

_BOLD = re.compile(
    r"\*\*(?P<name>[^*_\n][^*\n]{0,80}?)(?P<inside>:?)\*\*(?P<mark>\s*[:–—]|\s+-(?=\s))?\s*(?P<text>\S.*)?"
)
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
_ONE = r"(?:an?|the|any|one|some|each|every|when|where|how|what|another)\b"
_IS = rf"(?:is\s+{_ONE}|are\b|means\b|refers\s+to\b|denotes\b|stands\s+for\b)"
_LEAD = re.compile(rf"(?:(?:an?|the)\s+)?(?P<name>\S.{{0,80}}?)(?:\s+\([^()]{{1,60}}\))?,?\s+{_IS}\s*\w", re.IGNORECASE)
_STANDS_FOR = re.compile(
    r"\b(?P<short>[A-Z][A-Za-z0-9]{1,9})\s+stands for\s+[\"“'*]{0,2}(?P<full>[A-Za-z][\w'-]*(?:[ -][\w'-]+){1,7})"
)
_BRACKET = re.compile(r"\(\s?[\"“”*]{0,2}(?P<short>[A-Z][A-Za-z]{0,2}[A-Z]{1,7})s?[\"“”*]{0,2}\s?\)")
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_SMALL = frozenset({"of", "and", "the", "for", "in", "on", "to", "a", "an", "de", "la", "with", "by", "or"})
_SPEAKS = re.compile(r"(?:^|\s)(?:I|I'm|I've|I'll|we|we're|you|my|thanks|yeah|yes|okay|so)\b", re.IGNORECASE)
_MEANS = re.compile(
    r"(?:an?|the|any|one|those|when|where|what|who|how|is|are|means|used|refers|short for|to)\s", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """`short` is set where the name is written out and has a short form. `text` may be "" for those."""

    name: str
    text: str
    span: Span
    confidence: float
    short: str = ""


def define(given: ExtractorInput) -> list[tuple[Page, Definition]]:
    """All of a document, in text order, each name once: where it is defined most surely."""
    texts = [MarkedText(page) for page in given.pages]
    often = Counter(name for text in texts for name in _bold_names(text))  # one who speaks does so again
    in_glossary = is_glossary(given.document.title)
    best: dict[str, tuple[Page, Definition]] = {}
    for text in texts:
        for item in _all(text, often, given.document.kind, in_glossary=in_glossary):
            key = item.name.casefold()
            if key not in best or item.confidence > best[key][1].confidence:
                best[key] = text.page, item
    return sorted(best.values(), key=lambda pair: (pair[0].number, pair[1].span))


def is_glossary(title: str) -> bool:
    return bool(_GLOSSARY.fullmatch(title.strip(" :")))


def _all(text: MarkedText, often: Mapping[str, int], kind: str, *, in_glossary: bool) -> Iterator[Definition]:
    for table in text.tables:
        yield from _in_table(table)
    yield from _in_bold(text, often)
    yield from _in_lists(text)
    yield from _below_terms(text, kind)
    yield from _in_glossary(text, in_glossary=in_glossary)
    yield from _under_headings(text, in_glossary=in_glossary)
    yield from _acronyms(text)


def _in_table(table: PipeTable) -> Iterator[Definition]:
    term = next((at for at, name in enumerate(table.columns) if _TERM_COLUMN.fullmatch(name)), None)
    meaning = next((at for at, name in enumerate(table.columns) if _MEANING_COLUMN.fullmatch(name)), None)
    if term is None or meaning is None:
        return
    for row in table.rows:
        if max(term, meaning) < len(row.cells):
            name, said = plain(row.cells[term]), plain(row.cells[meaning])
            if is_name(name) and said:
                yield Definition(name=name, text=shorten(said, MAX_DEFINITION), span=row.span, confidence=0.9)


def _bold_names(text: MarkedText) -> list[str]:
    return [name.casefold() for _, _, name in _bold(text)]


def _bold(text: MarkedText) -> Iterator[tuple[int, str, str]]:
    """Lines that begin with a bold label: index, what stands behind the label, the label."""
    for at, line in enumerate(text.lines):
        match = _BOLD.match(_content(line)) if _may_define(line) and "**" in line.text[:20] else None
        if match and match["text"] and (match["inside"] or match["mark"]):
            yield at, match["text"], plain(match["name"]).rstrip(":").strip()


def _in_bold(text: MarkedText, often: Mapping[str, int]) -> Iterator[Definition]:
    """Bold terms with a colon or dash and what begins as a meaning does; surer in lists of several."""
    labels = list(_bold(text))
    places = {at for at, _, _ in labels}
    for at, behind, name in labels:
        said, span = _continued(text.lines, at, behind)
        if is_name(name) and often[name.casefold()] < 2 and _is_meaning(said) and _MEANS.match(said):
            in_list = text.lines[at].is_item and bool({at - 1, at + 1} & places)
            confidence = 0.7 if in_list else 0.6
            yield Definition(name=name, text=shorten(said, MAX_DEFINITION), span=span, confidence=confidence)


def _may_define(line: Line) -> bool:
    return not (line.in_code or line.heading or line.is_row)


def _is_meaning(said: str) -> bool:
    words = said.split()
    return len(words) >= 3 and len(said) >= 12 and said[0].isalpha() and not _SPEAKS.search(said)


def _content(line: Line) -> str:
    """A line without the mark of its list."""
    return re.sub(r"^(?:[>\s]*(?:[-*+•]|\d{1,3}[.)])\s+)", "", line.text[:1_000], count=1)


def _continued(lines: Sequence[Line], at: int, said: str) -> tuple[str, Span]:
    """What a line and those that go on in its paragraph say, and where."""
    parts, end = [plain(said)], lines[at].span.end
    for line in lines[at + 1 : at + 8]:
        if line.follows_blank or line.is_item or not _may_define(line) or _BOLD.match(line.text):
            break
        parts.append(plain(line.text))
        end = line.span.end
    return " ".join(filter(None, parts)), Span(lines[at].span.start, end)


def _in_lists(text: MarkedText) -> Iterator[Definition]:
    """A term in its line, and below it lines that begin with a colon."""
    lines = text.lines
    for at, line in enumerate(lines[1:], 1):
        if line.text.startswith(": ") and _may_define(line):
            above = lines[at - 1]
            name = plain(above.text)
            if _may_define(above) and not above.text.startswith(": ") and is_name(name):
                said, span = _continued(lines, at, line.text[2:])
                place = Span(above.span.start, span.end)
                yield Definition(name=name, text=shorten(said, MAX_DEFINITION), span=place, confidence=0.9)


def _below_terms(text: MarkedText, kind: str) -> Iterator[Definition]:
    for name, said, span in read_terms(text, kind):
        yield Definition(name=name, text=shorten(said, MAX_DEFINITION), span=span, confidence=0.9)


def _in_glossary(text: MarkedText, *, in_glossary: bool) -> Iterator[Definition]:
    """Items "term: meaning" where a heading says that it is a glossary."""
    inside, level = in_glossary, 0
    titles = {line.span: title for line, title in text.titles()}
    for at, line in enumerate(text.lines):
        if line.heading:
            if is_glossary(titles.get(line.span, "")):
                inside, level = True, line.heading
            elif line.heading <= level:
                inside, level = in_glossary, 0
            continue
        match = _PLAIN_ITEM.match(_content(line)) if inside and _may_define(line) and line.is_item else None
        if match and is_name(plain(match["name"])):
            said, span = _continued(text.lines, at, match["text"])
            yield Definition(name=plain(match["name"]), text=shorten(said, MAX_DEFINITION), span=span, confidence=0.9)


def _under_headings(text: MarkedText, *, in_glossary: bool) -> Iterator[Definition]:
    """A heading whose text begins with what it is: "## Tide", "The tide is the rise and fall of the sea."."""
    lines = text.lines
    titles = {line.span: title for line, title in text.titles()}
    named = [(at + 1, line, titles.get(line.span, "")) for at, line in enumerate(lines) if line.heading]
    if lines and not lines[0].heading and text.page.title:
        named.insert(0, (0, lines[0], text.page.title))
    for at, place, title in named:
        following = lines[at] if at < len(lines) else None
        if following is None or not _may_define(following) or following.is_item or not is_name(title):
            continue
        said, span = _continued(lines, at, following.text)
        lead = _LEAD.match(said)
        if lead and _same(lead["name"], title):
            where = Span(place.span.start, span.end)
            yield Definition(name=title, text=_first_sentences(said), span=where, confidence=0.85)
        elif in_glossary and place.heading > 1:
            yield Definition(
                name=title, text=_first_sentences(said), span=Span(place.span.start, span.end), confidence=0.8
            )


def _same(name: str, title: str) -> bool:
    one, other = (re.sub(r"\W+", " ", each.casefold()).strip().removesuffix("s") for each in (name, title))
    return one == other


def _first_sentences(said: str) -> str:
    if len(said) <= MAX_DEFINITION:
        return said
    end = said.rfind(". ", 0, MAX_DEFINITION)
    return said[: end + 1] if end > 0 else shorten(said, MAX_DEFINITION)


def _acronyms(text: MarkedText) -> Iterator[Definition]:
    for line in text.lines:
        if line.in_code or ("(" not in line.text and "stands for" not in line.text):
            continue
        words = line.text if not line.is_row else " ".join(to_cells(line.text))
        for match in _BRACKET.finditer(words):
            full = written_out(words[max(0, match.start() - _LOOK_BACK) : match.start()], match["short"])
            if full:
                yield Definition(name=full, text="", span=line.span, confidence=0.85, short=match["short"])
        for match in _STANDS_FOR.finditer(words):
            full = _by_initials(_WORD.findall(match["full"]), match["short"])
            if full:
                yield Definition(name=full, text="", span=line.span, confidence=0.9, short=match["short"])


def written_out(before: str, short: str) -> str:
    """The words at the end of a text whose initials are an acronym: "Cross Project Council" for "CPC"; else ""."""
    tail = re.split(r"[.;:!?()\[\]|\"“”]", before)[-1]
    words = re.findall(r"[^\W\d_][\w'’]*", re.sub(r"[*_`]", "", tail))
    wanted = list(short.lower())
    taken: list[str] = []
    for word in reversed(words):
        if not wanted:
            break
        if word[0].lower() == wanted[-1]:
            wanted.pop()
        elif word.lower() not in _SMALL or not taken:
            return ""
        taken.append(word)
    if wanted or len(taken) < 2 or not (taken[-1][0].isupper() or len(short) > 2):
        return ""
    return " ".join(reversed(taken))


def _by_initials(words: Sequence[str], short: str) -> str:
    """The first of some words, as many as make an acronym."""
    for end in range(2, len(words) + 1):
        if written_out(" ".join(words[:end]), short) == " ".join(words[:end]):
            return " ".join(words[:end])
    return ""


# Kinds whose readers indent what the terms of a definition list mean.
_OF_TAGS = frozenset({"epub", "foundry", "html"})
_BOLD_TERM = re.compile(r"\*\*(?P<names>[^*\n]{1,200})\*\*(?: \([^()\n]{1,60}\))?")


def read_terms(text: MarkedText, kind: str) -> Iterator[tuple[str, str, Span]]:
    """(term, meaning, place of both): the meaning is indented, or stands below a bold term of reStructuredText.

    Several terms in a row share what stands below the last one.
    """
    lines = text.lines
    for at, line in enumerate(lines[1:], 1):
        first = at - 1
        if not _is_text(line) or not _is_term(lines[first], line, kind):
            continue
        end = _end(lines, at)
        said = " ".join(plain(each.text) for each in lines[at:end])
        while first >= 0 and _is_term(lines[first], line, kind):
            place = Span(lines[first].span.start, lines[end - 1].span.end)
            yield from ((name, said, place) for name in _names(lines[first]) if is_name(name))
            if lines[first].follows_blank:
                break
            first -= 1


def _names(line: Line) -> list[str]:
    bold = _BOLD_TERM.fullmatch(line.text)
    return [plain(name) for name in (bold["names"].split(", ") if bold else [line.text])]


def _end(lines: Sequence[Line], at: int) -> int:
    """Behind the last line of a meaning: all that is indented, or else its paragraph."""
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
