"""Chapters of plain-text books, by their headings or their list of contents; Project Gutenberg's licence texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.domain.corpus import Heading
from core.domain.passages import Span

# Paragraphs after the mark of the start that may say who typed the book and where else it is to be had.
MAX_CREDITS = 5

# "*** START OF THE PROJECT GUTENBERG EBOOK ULYSSES ***", over one line or two; older ones say ETEXT or end a "small
# print" instead.
_START = re.compile(
    r"^[ \t]*\*{2,3} ?START OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)[^*]{0,300}(?:\*{2,3}[ \t]*)?$"
    r"|^[^\n]*\*END[* ]+THE SMALL PRINT[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(
    r"^[ \t]*\*{2,3} ?END OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)"
    r"|^[ \t]*End of (?:the |this )?Project Gutenberg(?:'s|’s)?\b",
    re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\s*+(\S[^\n]*+(?:\n[^\S\n]*+\S[^\n]*+)*+)")
_CREDIT = re.compile(
    r"(?:e-?text|produced|transcribed|prepared|scanned|this e-?(?:book|text) was \w+|\[?transcriber'?s? note)\b"
    r"|[^\n]*\bproject gutenberg\b",
    re.IGNORECASE,
)


def book_span(text: str) -> Span:
    """Return the span of the book itself, or of all of `text` if it lacks the project's markers."""
    first = _START.search(text)
    start = _after_credits(text, first.end()) if first else 0
    last = _END.search(text, start)
    end = last.start() if last else len(text)
    return Span(start, end) if text[start:end].strip() else Span(0, len(text))


def without_licence(
    text: str, headings: Sequence[Heading], anchors: Sequence[tuple[str, int]] = ()
) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
    """Return the book itself, with its headings and anchors."""
    span = book_span(text)
    if span == Span(0, len(text)):
        return text, tuple(headings), tuple(anchors)
    inside = (item for item in headings if span.start <= item.start < span.end)
    return (
        span.of(text),
        tuple(replace(item, start=item.start - span.start) for item in inside),
        tuple((name, place - span.start) for name, place in anchors if span.start <= place < span.end),
    )


def _after_credits(text: str, start: int) -> int:
    for _ in range(MAX_CREDITS):
        paragraph = _PARAGRAPH.match(text, start)
        if paragraph is None or not _CREDIT.match(paragraph[1]):
            break
        start = paragraph.end()
    return start


# Minimum names of a list that must be headings in the text, and their minimum share of the list.
MIN_FOUND = 3
MIN_SHARE = 0.6
# Entries of a list that are looked for, and characters of one.
MAX_ENTRIES = 400
MAX_ENTRY = 90

_CONTENTS = re.compile(r"^[ \t]*(?:table of )?contents\.?[ \t]*\n", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(r"^[ \t]*+(\S(?:[^\n]*[^ \t\n])?)[ \t]*$", re.MULTILINE)
# Numbers before and after a name in such a list: "IV. ", "12) ", " ..... 212", "    xii".
_BEFORE = re.compile(r"^(?:[ivxlc]+[.)]|\d{1,3}[.)]?)\s+", re.IGNORECASE)
_BEHIND = re.compile(r"(?:[ \t]*\.[ .]*|[ \t]{2,}|\t)(?:\d{1,4}|[ivxlc]{1,6})$|[ \t]+\d{1,4}$", re.IGNORECASE)


def find_listed(text: str) -> tuple[Heading, ...]:
    """Return the single lines that repeat the names of a list of contents, in its order, or () without such a list.

    The list ends at the second occurrence of its first name. Names that are not found are skipped; if most are, the
    list is of something else.
    """
    opening = _CONTENTS.search(text)
    if opening is None:
        return ()
    names: list[str] = []
    body = 0
    for line in _LINE.finditer(text, opening.end()):
        name = _name(line[1])
        if names and name == names[0]:
            body = line.start()
            break
        if len(line[1]) > MAX_ENTRY or len(names) >= MAX_ENTRIES:
            return ()
        if name and name not in names:
            names.append(name)
    found = _find(text, body, names) if body else []
    return tuple(found) if len(found) >= max(MIN_FOUND, len(names) * MIN_SHARE) else ()


def _find(text: str, start: int, names: list[str]) -> list[Heading]:
    found: list[Heading] = []
    left = {name: place for place, name in enumerate(names)}
    last = -1
    for line in _LINE.finditer(text, start):
        place = left.get(_name(line[1]), -1) if len(line[1]) <= MAX_ENTRY else -1
        if place > last and _stands_alone(text, line.start(), line.end()):
            found.append(Heading(level=1, title=line[1].rstrip("."), start=line.start(1)))
            last = place
    return found


def _name(line: str) -> str:
    bare = _BEFORE.sub("", _BEHIND.sub("", line.strip()))
    return " ".join(re.findall(r"\w+", bare.casefold()))


def _stands_alone(text: str, start: int, end: int) -> bool:
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    below = text.find("\n", end + 1)
    return not text[above:start].strip() and not text[end : below if below >= 0 else len(text)].strip()


# Fewer headings than these are more likely to be lines of the text.
MIN_CHAPTERS = 3
# Characters: a longer line is a sentence.
MAX_HEADING = 90
MAX_SUBTITLE = 70

_ONES = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth last".split()
_NUMBER = (
    rf"(?:[0-9]{{1,3}}|[ivxlcdm]{{1,7}}|{'|'.join(_ONES + _TEENS)}|twenty(?:[- ](?:{'|'.join(_ONES)}))?"
    rf"|(?:the )?(?:{'|'.join(_ORDINALS)}))"
)
_NAMED = re.compile(
    r"(part|book|volume|act|epoch|phase|chapter|section|scene|letter|canto|stave|adventure|lecture|lesson|essay|story|tale"
    r"|session)"
    rf"\s+({_NUMBER})\b[.:)\]]*(.*)",
    re.I,
)
# "THE SECOND ACT", "Third Book".
_ORDINAL_FIRST = re.compile(
    r"(?:the\s+)?(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last)\s+"
    r"(part|book|volume|act|chapter|section|scene|letter|canto|stave|adventure|lecture|lesson|story|tale)[.:]?",
    re.I,
)
# Chapters of other languages: "Chapitre premier", "Kapitel 4", "Erstes Kapitel", "Глава первая", "第三章 橋".
_FOREIGN = re.compile(
    r"(chapitre|cap[ií]tulo|capitolo|kapitel|hoofdstuk|kapitola|rozdzia[łl]|luku|глава|розділ)\s+"
    r"([0-9]{1,3}|[ivxlcdm]{1,7}|[^\W\d_]{3,16})[.:]?(\s*[.:—–-]\s*\S.*)?"
    r"|([^\W\d_]{4,16}[.]?|[0-9]{1,3}\.)\s+(kapitel|hoofdstuk|fejezet)[.:]?"
    r"|第\s?([0-9０-９〇零一二三四五六七八九十百千]{1,6})\s?[章回話话](?:[\s：:　]+\S.*)?",
    re.I,
)
_NUMBERED = re.compile(r"([0-9]{1,3})[.)]?[ \t]+([A-Z].*)|([IVXLC]{1,7})\.?(?:[ \t]+([A-Z].*))?")
_BARE_NUMBER = re.compile(r"[IVXLCDM]+\.?")
_ALONE = re.compile(
    r"(?:prologue|epilogue|(?:author's |translator's |editor's )?(?:preface|foreword|introduction|note)|afterword"
    r"|conclusion|appendix(?: [a-z0-9]+)?|(?:table of )?contents|(?:list of )?illustrations|glossary|index"
    r"|(?:foot|end)?notes)",
    re.I,
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_OUTER = frozenset({"part", "book", "volume", "act", "epoch", "phase"})
_STANDING_ALONE = "standing alone"


@dataclass(frozen=True, slots=True)
class _Candidate:
    family: str
    number: str
    title: str
    start: int
    body: int  # where the text under it begins


def find_chapters(text: str) -> tuple[Heading, ...]:
    """Return chapter headings in text order, or () if there are fewer than three of one kind.

    A heading is a short line between blank lines such as "CHAPTER IV.", "Chapter 3: The Road", "3. The Road", "IV" or
    "THE SECOND ACT". A line of capitals after a bare "CHAPTER IV." is its title, as is the single line right below it.
    Headings without text between them, as in a table of contents, are text. Parts and books are above chapters. In a
    text without such headings, the names in a table of contents are headings at their second occurrence.
    """
    return _find_numbered(text) or find_listed(text)


def _find_numbered(text: str) -> tuple[Heading, ...]:
    candidates = _with_plain_numbers(_without_contents(text, _candidates(text)))
    families = [item.family for item in candidates]
    kept = {family for family in set(families) if families.count(family) >= MIN_CHAPTERS}
    named = kept - {"numbered", _STANDING_ALONE}
    if named:
        kept = named | {_STANDING_ALONE} | (set(families) & _OUTER)
    elif "numbered" not in kept or not _rises([item for item in candidates if item.family == "numbered"]):
        return ()
    chosen = [item for item in candidates if item.family in kept]
    first = next((item.family for item in chosen if item.family != _STANDING_ALONE), "")
    outer = first in _OUTER and bool(kept - _OUTER - {_STANDING_ALONE})
    if named - _OUTER and not outer:  # acts of a play inside of a chapter are no parts of the book
        chosen = [item for item in chosen if item.family not in _OUTER]
    return tuple(
        Heading(level=2 if outer and item.family not in _OUTER else 1, title=item.title, start=item.start)
        for item in chosen
    )


def _candidates(text: str) -> list[_Candidate]:
    found = []
    blocks = list(re.finditer(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*", text))
    for place, block in enumerate(blocks):
        line = block[0].strip()
        if "\n" in line:
            candidate = _with_title_below(line, block)
            if candidate:
                found.append(candidate)
            continue
        if len(line) > MAX_HEADING:
            continue
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        candidate = _to_candidate(line, block.start(), block.end(), following)
        if candidate:
            found.append(candidate)
    return found


def _with_title_below(block: str, match: re.Match[str]) -> _Candidate | None:
    """Return a bare "Chapter One" with its title on the next line, and no other line below."""
    line, _, below = (part.strip() for part in block.partition("\n"))
    named = _NAMED.fullmatch(line)
    if named is None or named[3].strip(" \t.-—–:") or "\n" in below or not _is_title(below):
        return None
    return _Candidate(named[1].lower(), named[2].lower(), f"{line} {below}".rstrip(" ."), match.start(), match.end())


def _is_title(line: str) -> bool:
    if (
        len(line) > MAX_SUBTITLE
        or not line[:1].isupper()
        or line.rstrip("”\"’'").endswith((".", ",", ";", ":", "-", "!"))
    ):
        return line.isupper() and len(line) <= MAX_SUBTITLE and not line.endswith((",", ";"))
    return _NAMED.fullmatch(line) is None and _BARE_NUMBER.fullmatch(line) is None


def _to_candidate(line: str, start: int, end: int, following: re.Match[str] | None) -> _Candidate | None:
    named = _NAMED.fullmatch(line)
    if named and (not named[3].strip() or named[3][0] in " \t-—–") and not line.endswith((",", ";")):
        title = line
        bare = not named[3].strip(" \t.-—–:")
        if bare and following and _is_subtitle(following[0].strip()):
            title, end = f"{line} {following[0].strip()}", following.end()
        return _Candidate(named[1].lower(), named[2].lower(), title.rstrip(" ."), start, end)
    ordinal = _ORDINAL_FIRST.fullmatch(line)
    if ordinal:
        return _Candidate(ordinal[2].lower(), f"the {ordinal[1].lower()}", line.rstrip("."), start, end)
    foreign = _FOREIGN.fullmatch(line)
    if foreign:
        number = foreign[2] or foreign[4] or foreign[6]
        return _Candidate("chapter abroad", number.lower(), line.rstrip("."), start, end)
    if _ALONE.fullmatch(line.rstrip(".")):
        return _Candidate(_STANDING_ALONE, line.lower(), line.rstrip("."), start, end)
    numbered = _NUMBERED.fullmatch(line)
    if numbered and not line.endswith((",", ";", ":")) and len(line) <= MAX_SUBTITLE:
        return _Candidate("numbered", numbered[1] or numbered[3], line, start, end)
    return None


def _is_subtitle(line: str) -> bool:
    if "\n" in line or len(line) > MAX_SUBTITLE or not line.isupper():
        return False
    return _NAMED.fullmatch(line) is None and _BARE_NUMBER.fullmatch(line) is None


def _without_contents(text: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Leave out entries of a table of contents: headings with nothing under them, and the last of their run."""
    kept = []
    run = 0
    for place, item in enumerate(candidates):
        following = candidates[place + 1] if place + 1 < len(candidates) else None
        same_kind = following is not None and (following.family in _OUTER) <= (item.family in _OUTER)
        empty = not text[item.body : following.start if following else len(text)].strip()
        if empty and (same_kind and (following is None or following.family == item.family)):
            run += 1
            continue
        if run < MIN_CHAPTERS - 1:
            kept.append(item)
        run = 0
    return kept


def _with_plain_numbers(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Treat "VII. THE BRIDGE" as a chapter after "CHAPTER VI" if there is no "CHAPTER VII"."""
    known = {(item.family, _value(item.number)) for item in candidates if item.family != "numbered"}
    found: list[_Candidate] = []
    family, number = "", 0
    for item in candidates:
        value = _value(item.number)
        goes_on = family and value == number + 1 and (family, value) not in known
        if item.family == "numbered" and goes_on and item.title.isupper() and " " in item.title:
            found.append(replace(item, family=family))
        else:
            found.append(item)
        if found[-1].family not in ("numbered", _STANDING_ALONE):
            family, number = found[-1].family, value
    return found


def _rises(candidates: Sequence[_Candidate]) -> bool:
    values = [_value(item.number) for item in candidates]
    return values[0] in (0, 1) and all(after == before + 1 for before, after in pairwise(values))


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    if set(number.upper()) - set(_ROMAN):  # a word, "twelve": it continues nothing
        return -1
    digits = [_ROMAN[letter] for letter in number.upper()]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-digit if digit < following else digit for digit, following in pairs)
