"""Checks in code of the words that a sentence puts together: sides, slots, pairs, roles, rows of a table. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from core.answering.support.clauses import check_subjects
from core.answering.support.dates import DAY_NAMES, MONTH_NAMES
from core.answering.support.figures import equals, scaled
from core.answering.support.forms import GROUPS_OF, PRESENT_OF
from core.answering.support.opposites import find_poles, is_converse
from core.answering.support.parts import THANS, Part, Word, nearest, parts_of, stems_of
from core.answering.support.texts import Text
from core.domain.support import Finding, FindingKind
from core.text.quantities import Quantity, find_quantities
from core.text.words import tokens

_REACH = 4  # words compared on each side of a slot
_FILLERS = frozenset("either regarding about whether therefore thus likewise respectively".split())
_LEAST = 2  # equal words around a slot, the end of both clauses counting as one
_PLAIN = 4  # with so many, hardly more than this word differs
_CLEAR = 6  # with so many, only this verb differs: verbs have more words for the same than nouns
_AFTER_VERBS = frozenset("the a an his her its their to".split())
_TITLES = frozenset("king queen mr mrs ms dr lord ladi captain general dwarf elf mayor old".split())


_CALENDAR = {stem for name in (*MONTH_NAMES, *DAY_NAMES) for stem in tokens(name)}


def sides_of(claim: Part, here: int, part: Part, there: int) -> tuple[int, int, bool]:
    """Words on the same side of a word, words on its other side, and whether both sides have crossed."""
    left, right = stems_of(claim.words[:here]), stems_of(claim.words[here + 1 :])
    before, behind = stems_of(part.words[:there]), stems_of(part.words[there + 1 :])
    left, right, before, behind = left - right, right - left, before - behind, behind - before
    if claim.is_passive_at(here) != part.is_passive_at(there):
        left, right = right, left
    straight = len(left & before) + len(right & behind)
    return straight, len(left & behind) + len(right & before), bool(left & behind and right & before)


def turned_sides(claim: Part, parts: Sequence[Part], part: Part) -> Iterator[Finding]:
    """The same names around the same word, the other way round; or a name of another sentence in the place of one."""
    if _are_converse(claim, part):
        return
    if any(word.text in THANS for word in claim.words) != any(word.text in THANS for word in part.words):
        return
    names = {word.stem for text in (claim, *parts) for word in text.words if word.is_name and word.stem}
    names -= _CALENDAR
    turned, straight = [], 0
    for stem in sorted(claim.stems & part.stems - names):
        heres = [place for place, word in enumerate(claim.words) if word.stem == stem]
        theres = [place for place, word in enumerate(part.words) if word.stem == stem]
        if len(heres) != 1 or len(theres) != 1 or claim.is_noun_at(heres[0]):
            continue
        here, there = heres[0], theres[0]
        sides = [stems_of(words) & names for words in (claim.words[:here], claim.words[here + 1 :])]
        others = [stems_of(words) & names for words in (part.words[:there], part.words[there + 1 :])]
        if claim.is_passive_at(here) != part.is_passive_at(there):
            sides.reverse()
        (left, right), (before, behind) = sides, others
        left, right, before, behind = left - right, right - left, before - behind, behind - before
        if left & behind and right & before and not left & before and not right & behind:
            turned.append(stem)
        elif left & before and right & behind:
            straight += 1
        elif _is_another(claim, here, part, there, names):
            yield Finding(FindingKind.ROLE, " ".join(sorted(left)), part.text, is_sure=True)
            return
    if len(turned) > straight:
        yield Finding(FindingKind.ROLE, turned[0], part.text, is_sure=True)
    yield from check_subjects(claim.text, "\n".join(one.text for one in parts))
    yield from _ways(claim, part)


def _are_converse(claim: Part, part: Part) -> bool:
    """Whether one buys and the other sells: the sides of such words are turned without a fault."""
    said = {(pole.axis, pole.pole) for pole in part.poles if is_converse(pole.axis)}
    return any((pole.axis, 1 - pole.pole) in said for pole in claim.poles)


def _is_another(claim: Part, here: int, part: Part, there: int, names: set[str]) -> bool:
    """Whether a verb's subject is another name than in the quotes, though the rest is the same."""
    if claim.is_passive_at(here) or part.is_passive_at(there) or part.text[:1] in "|*#":
        return False
    mine, theirs = stems_of(claim.words[:here]), stems_of(part.words[:there])
    if not mine or not theirs & names or not mine <= names | _TITLES or mine & part.stems or theirs & claim.stems:
        return False
    following = stems_of(claim.words[here + 1 :])
    return len(theirs) <= len(theirs & names) + 1 and following <= stems_of(part.words[there + 1 :]) and bool(following)


_FROM_TO = re.compile(
    r"\b(?:from|von|desde|de)\s+(?:the\s+)?([\w-]+)(?:\s+\w+){0,3}?\s+(?:to|nach|a|hasta)\s+(?:the\s+)?([\w-]+)",
    re.IGNORECASE,
)
_SCORE = re.compile(r"\b(\d+)(?:\s+\w+)?\s?(?:to|zu|a|-|–|:)\s?(\d+)\b")


def _ways(claim: Part, part: Part) -> Iterator[Finding]:
    """A way "from A to B", or a score, the other way round."""
    for pattern in (_FROM_TO, _SCORE):
        said = {(match[1].lower(), match[2].lower()): match.group() for match in pattern.finditer(part.text)}
        for match in pattern.finditer(claim.text):
            one, other = match[1].lower(), match[2].lower()
            if one != other and (other, one) in said and (one, other) not in said:
                yield Finding(FindingKind.ROLE, match.group(), said[other, one], is_sure=True)
    yield from _goals(claim, part)


_GOAL = re.compile(
    r"\b(?P<before>\w+) (?P<way>from|to|into|onto|out of) (?:the |an? |her |his |its |their )?(?P<place>[\w-]+)",
    re.IGNORECASE,
)


def _goals(claim: Part, part: Part) -> Iterator[Finding]:
    """A place that something comes from, where the quotes say that it goes there; or the other way round."""
    ways = [
        {(match["place"].lower(), match["way"].lower() in ("from", "out of")): match for match in found}
        for found in (_GOAL.finditer(claim.text), _GOAL.finditer(part.text))
    ]
    for (place, is_start), said in ways[0].items():
        other = ways[1].get((place, not is_start))
        if other and (place, is_start) not in ways[1] and tokens(place) and _root(said) == _root(other):
            yield Finding(FindingKind.ROLE, said.group(), other.group(), is_sure=True)
            return


def _root(way: re.Match[str]) -> str:
    return PRESENT_OF.get(way["before"].lower()) or next(iter(tokens(way["before"])), way["before"].lower())


def check_slots(sentence: str, quotes: str, *, has_names: bool) -> Iterator[Finding]:
    """Yield a word for which the quotes, with the same words around it, have another one.

    `has_names`: a capital stands for a name, as it doesn't in German.
    """
    claim, parts = Part(sentence), parts_of(quotes)
    known = {stem for part in parts for stem in part.stems}
    for here, word in enumerate(claim.words):
        if not word.stem:
            continue
        is_figure = word.text[0].isdigit()
        for part in parts:
            if word.stem in part.stems:
                continue
            for there, other in enumerate(part.words):
                if not other.stem or other.stem in claim.stems or other.text in _FILLERS:
                    continue
                if other.text[0].isdigit() is not is_figure:
                    continue
                fit = _fit(claim, here, part, there)
                if is_figure:
                    if fit >= _PLAIN and word.stem in known:
                        yield Finding(FindingKind.NUMBER, word.text, other.text, is_sure=True)
                        return
                    continue
                if fit >= (_PLAIN if word.stem in known else _LEAST) and not _are_alike(word, other):
                    are_names = has_names and word.is_name and (other.is_name or there == 0)
                    following = claim.texts[here + 1] if here + 1 < len(claim.texts) else ""
                    least = _CLEAR if following in _AFTER_VERBS else _PLAIN
                    is_sure = (fit >= least and bool(claim.negations) == bool(part.negations)) or are_names
                    kind = FindingKind.NAME if are_names else FindingKind.WORD
                    yield Finding(kind, word.text, other.text, is_sure=is_sure)
                    return


def _are_alike(word: Word, other: Word) -> bool:
    groups = [GROUPS_OF.get(one.text, set()) | GROUPS_OF.get(one.stem, set()) for one in (word, other)]
    short, long = sorted((word.text, other.text), key=len)
    if groups[0] & groups[1] or (len(short) >= _CLIPPED and long.startswith(short)):  # "photo" for "photograph"
        return True
    poles = [{(pole.axis, pole.pole) for pole in find_poles(one.text)} for one in (word, other)]
    return bool(poles[0] & poles[1])


_CLIPPED = 4  # letters


def _fit(claim: Part, here: int, part: Part, there: int) -> int:
    """How many words around two slots are the same; 0 if one side differs at once, or no word of meaning is there."""
    mine, theirs = claim.texts, part.texts
    left = _same(mine[max(0, here - _REACH) : here][::-1], theirs[max(0, there - _REACH) : there][::-1])
    right = _same(mine[here + 1 : here + 1 + _REACH], theirs[there + 1 : there + 1 + _REACH])
    around = claim.words[here - left : here] + claim.words[here + 1 : here + 1 + right]
    if not any(word.stem for word in around):
        return 0
    are_first = here == there == 0
    are_last = claim.ends_clause(here) and part.ends_clause(there)
    if not (left or are_first) or not (right or are_last):
        return 0
    return left + right + are_first + are_last


def _same(mine: Sequence[str], theirs: Sequence[str]) -> int:
    count = 0
    for one, other in zip(mine, theirs, strict=False):
        if one != other:
            break
        count += 1
    return count


_PIECE = re.compile(
    r"[,;:.](?=\s)(?!\s\d{4}\b)|\n+|\b(?:while|whereas|but|and|from(?=\s[\d$€£])|than|when|because|y|und|mientras|während|"
    r"als|cuando|weil|porque)\b"
)


def check_pairs(sentence: str, quotes: str) -> Iterator[Finding]:
    """Yield two things that the quotes say of each other: "A has 2, B has 3" for "A has 3, B has 2"."""
    claim, parts = Part(sentence), parts_of(quotes)
    if "respectively" in quotes or not parts:
        return
    near = nearest(claim, parts)
    found = next(_crossed(sentence, near.text), None) or next(_crossed(sentence, quotes), None)
    if found is not None:
        yield found


def _crossed(sentence: str, quotes: str) -> Iterator[Finding]:
    mine, theirs = _pieces(sentence), _pieces(quotes)
    place_of = {stem: place for place, piece in enumerate(theirs) for stem in piece}
    once = {stem for stem in place_of if sum(stem in piece for piece in theirs) == 1}
    mine = [piece & once for piece in mine]
    mine = [piece - set().union(*mine[:place], *mine[place + 1 :]) for place, piece in enumerate(mine)]
    for number, first in enumerate(mine):
        for second in mine[number + 1 :]:
            homes = [{place_of[stem] for stem in piece} for piece in (first, second)]
            if len(homes[0]) == 2 and homes[0] == homes[1]:
                yield Finding(FindingKind.ROLE, " ".join(sorted(first)), " ".join(sorted(second)), is_sure=True)
                return


def _pieces(text: str) -> list[set[str]]:
    """The stems of each clause; one with too little joins the next."""
    found: list[set[str]] = []
    pending: set[str] = set()
    for piece in _PIECE.split(text):
        stems = stems_of(Part(f"- {piece}").words) | pending
        pending = set()
        if len(stems) < _LEAST:
            pending = stems
        else:
            found.append(stems)
    return found


_ARTICLES = frozenset("the a an der die das den dem ein eine im am zur zum el la los las un una".split())
_CAPITALS = re.compile(r"(?<![\w’'-])[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)+")
_ROLE = re.compile(r"\b(?:the|an?|his|her|its|their|our|old|young)\s(?:[a-z]+\s)?([a-z]{3,}),?\s([A-Z][\w-]+)")
_OF = re.compile(r"(?<![\w-])(?:([A-Z][\w-]+)\s)?([A-Z][\w-]+)\s(?:of|de|von)\s([A-Z][\w-]+)")


def check_bindings(sentence: str, quotes: str) -> Iterator[Finding]:
    """Yield words that the quotes put with others: another's title, role, place or row."""
    known = set(_bound(quotes))
    for one, other in _bound(sentence):
        if (one, other) in known:
            continue
        left = {b for a, b in known if a == one}
        right = {a for a, b in known if b == other}
        if left and right and one not in {b for _, b in known} - {a for a, _ in known}:
            yield Finding(FindingKind.ROLE, f"{one} {other}", f"{one} {min(left)}", is_sure=True)
            return
    for clause in _PIECE.split(sentence):
        yield from _rows(clause, quotes)


def _bound(text: str) -> Iterator[tuple[str, str]]:
    for run in _CAPITALS.finditer(text):
        names = [re.sub(r"['’]s?$", "", name) for name in run.group().split()]
        names = [name for name in names if name and name.lower() not in _ARTICLES]
        yield from ((a.lower(), b.lower()) for place, a in enumerate(names) for b in names[place + 1 :])
    for match in _ROLE.finditer(text):
        yield match[1], match[2].lower()
    for match in _OF.finditer(text):
        yield match[2].lower(), match[3].lower()
        if match[1]:
            yield match[1].lower(), match[3].lower()


_NAMED = r"(?<!of )(?<!of the )(?P<name>[A-ZÀ-Ý][\w’'-]{1,30}+(?: (?:de |van |von )?[A-ZÀ-Ý][\w’'-]{1,30}+){0,4}+)"
_CHOSEN = r"(?:elected|re-elected|appointed|named|made|chosen)"
_IS = rf"(?:is|was|becomes?|became|remains?|remained|stays|stayed|serves|served|acts|acted|{_CHOSEN})"
_A = r"(?:the|an?|his|her|its|their|our|[A-Z][\w-]{1,30}['’]s)"
_POSTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NAMED}(?: [a-z-]{{1,20}}){{0,4}}? as (?:{_A} )?(?:new )?(?P<post>[a-z-]{{4,30}})\b",
        rf"{_NAMED},? (?:[a-z-]{{1,20}} )?{_IS} (?:[a-z-]{{1,20}} )?(?:{_A} )(?:new )?(?P<post>[a-z-]{{4,30}})\b",
        rf"{_NAMED} (?:was|is|has been|were) (?:{_CHOSEN}) (?P<post>[a-z-]{{4,30}})\b",
        rf"{_NAMED} \((?:the |our )?(?P<post>[a-z-]{{4,30}})\)",
        rf"{_NAMED}, (?:{_A} )(?:new |then )?(?P<post>[a-z-]{{4,30}})\b(?=[,.;)]| of| at)",
        rf"\b(?:[Tt]he|[Hh]is|[Hh]er|[Oo]ur|[Ii]ts)(?: new)? (?P<post>[a-z-]{{4,30}}),? (?:is |was |remains )?{_NAMED}",
        rf"\b(?P<post>[Cc]hair|[Tt]reasurer|[Ss]ecretary|[Pp]resident|[Dd]irector|[Ee]ditor|[Hh]ost): {_NAMED}",
    )
)
_CHANGES = re.compile(r"\b(?:former|ex|previous|outgoing|old|late|until|succe\w+|replac\w+|predecessor|then|deputy)\b")


def posts_of(text: str) -> set[tuple[str, str]]:
    """Return the posts that a text gives to names: (post, each part of the name)."""
    return {
        (match["post"].lower(), part.lower())
        for pattern in _POSTS
        for match in pattern.finditer(text)
        for part in re.sub(r"['’]s\b", "", match["name"]).split()
    }


def check_posts(sentence: str, quotes: str) -> Iterator[Finding]:
    """Yield a post that the sentence gives to a name of the quotes, and the quotes to another person."""
    known = posts_of(quotes)
    words = {word.text for part in parts_of(quotes) for word in part.words}
    said = posts_of(sentence)
    for post in sorted({post for post, _ in said}):
        names = {name for one, name in said if one == post}
        holders = {name for one, name in known if one == post}
        if holders and names & words and not names & holders:
            is_sure = not _CHANGES.search(sentence) and not _CHANGES.search(quotes)
            yield Finding(FindingKind.ROLE, f"{post} {min(names)}", f"{post} {min(holders)}", is_sure=is_sure)
            return


def _table(quotes: str) -> tuple[list[list[str]], bool]:
    """Return the rows of a table without the rule below its head, and whether the first is its head."""
    lines = [line for line in quotes.splitlines() if line.count("|") > 1]
    rows = [line for line in lines if re.search(r"[^\s|:-]", line)]
    names_columns = bool(rows) and not _FIGURE.search(rows[0]) and any(map(_FIGURE.search, rows[1:]))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in rows]
    return cells, names_columns or len(rows) < len(lines)


_FIGURE = re.compile(r"(?<!\d)(?!(?:19|20)\d\d\b)\d")  # no year


def check_cells(claim: Text, evidence: Text) -> Iterator[Finding]:
    """Yield a table's figure that the sentence puts in another row or column."""
    rows, has_head = _table(evidence.written)
    if not has_head:
        return
    figures = {
        (row, column): [replace(one, values=one.values[:1]) for one in (*found, *scaled(found, evidence))]
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
        if row and column and (found := find_quantities(cell))
    }
    sides: tuple[dict[int, set[str]], ...] = (
        {row: set(tokens(cells[0])) for row, cells in enumerate(rows) if row},
        {column: set(tokens(cell)) for column, cell in enumerate(rows[0]) if column and _is_said_as_label(cell)},
    )
    for quantity in claim.quantities:
        places = [place for place, found in figures.items() if any(_fits(quantity, other) for other in found)]
        for side, labels in enumerate(sides):
            said = _named(labels, claim.text, quantity.span.start)
            if places and said and not said & {place[side] for place in places}:
                yield Finding(FindingKind.ROLE, quantity.span.of(claim.text), " ".join(rows[0]), is_sure=True)
                return


def _is_said_as_label(column: str) -> bool:
    """Return whether a sentence with a column's words means the column: one word may be the thing itself.

    "A crossing costs 12.80" is no figure of the column "Crossings".
    """
    return len(tokens(column)) > 1 or any(character.isdigit() for character in column)


def _fits(quantity: Quantity, other: Quantity) -> bool:
    return (quantity.dimension == "%") is (other.dimension == "%") and equals(quantity, other)


def _named(labels: Mapping[int, set[str]], text: str, place: int) -> set[int]:
    """Return the rows or columns that a clause names; of several, one clause for each figure, the nearest behind it."""
    ends = [0, *(match.start() for match in _PIECE.finditer(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(ends)]
    own = next(piece for piece, end in zip(pieces, ends[1:], strict=True) if place < end)
    said = [_of_labels(labels, set(tokens(piece))) for piece in pieces]
    if any(one and not find_quantities(piece) for one, piece in zip(said, pieces, strict=True)):
        own = text
    found = _of_labels(labels, set(tokens(own)))
    behind = re.split(r"\b(?:to|and|but|from|bis|und|von|a|y|de)\b|[,;]\s", text[place:])[0]
    return (len(found) > 1 and _of_labels(labels, set(tokens(behind)))) or found


def _of_labels(labels: Mapping[int, set[str]], stems: set[str]) -> set[int]:
    """Return the labels in a text, without parts of longer ones."""
    found = {number for number, label in labels.items() if label and label <= stems}
    return {number for number in found if not any(labels[number] < labels[other] for other in found)}


def _rows(sentence: str, quotes: str) -> Iterator[Finding]:
    """A table's cells from different rows and columns, said together."""
    rows, has_head = _table(quotes)
    said = set(tokens(sentence))
    found = [
        (row, column)
        for row, cells in enumerate(rows)
        if row or not has_head
        for column, cell in enumerate(cells)
        if (stems := set(tokens(cell))) and stems <= said
    ]
    together = {(a, b) for a in found for b in found if a[1] < b[1]}
    if together and not any(a[0] == b[0] for a, b in together):
        (row, _), (other, place) = min(together)
        inside = rows[row][place] if place < len(rows[row]) else ""
        yield Finding(FindingKind.ROLE, rows[other][place], inside, is_sure=True)
