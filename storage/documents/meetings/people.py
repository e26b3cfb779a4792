"""Names of people in lists and lines of notes. Pure."""

import re
from collections.abc import Iterable, Sequence

from core.text.words import collapse
from storage.documents.meetings.lines import plain, word_list

# Characters and words: a longer text is a sentence.
MAX_NAME = 60
_MAX_WORDS = 7

_EMAIL = re.compile(r"[<(\[]?(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}[>)\]]?")
_ADDRESS = re.compile(r"https?://\S+")
_PART_LEAD = re.compile(r"(?:co-?|vice[- ]?|acting )(?=[a-z])")
_TIMED = ("arrived ", "from ", "until ", "left ")
_NOTE = re.compile(r"(?<!\s)\s*+[(\[]([^()\[\]]{1,60})[)\]]")
_REMARK = re.compile(r"\s?\??\((?:[^\s()]+\s){3}[^()]*\)")  # four words are not part of a name
_AWAY = re.compile(
    r"[(\[–—-]\s?(?:absent|apologies|regrets|excused|not present|not attending|unable .{1,20}|declined|entschuldigt"
    r"|abwesend|excusée?|ausente|afwezig|did not attend|no)\b",
    re.IGNORECASE,
)
_NO_PEOPLE = re.compile(
    r"\?+|-+|(?:and )?\d+ (?:others?|people|members|participants).*|quorum.*|person \d|add your name.*", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"[{}<>$=]|\[.*\]|^@?(?:name|user(?:name)?|person|attendee|participant|someone)\s?\d{0,2}$", re.I
)
_SENTENCE = re.compile(r"[^\W\d_]{3}[.!?:]\s|\d{3}")
_AND = re.compile(r"\s(?:and|und|et|y|e|en|i|och|og|&|\+|и)\s|\s?&\s?", re.IGNORECASE)
_DASHED = re.compile(r"\s+[-–—|]+\s+|\s*[—–|]\s*|\s*:\s+")
_TITLE = re.compile(r"(?:mr|mrs|ms|miss|dr|prof|sir|rev|cllr|councill?or|alderman|commissioner)\.?\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’.-])*\.?")
_HANDLE = re.compile(r"@[A-Za-z0-9][\w.-]{0,38}")
_ALSO_NAMES = frozenset({"will", "may", "april", "june", "august"})


def read_names(text: str) -> list[str]:
    """Return the names in a line that lists people: "Ann Lee (chair), Ben Ruiz and @carla"."""
    line = plain(_ADDRESS.sub("", _EMAIL.sub("", text))).rstrip(".")
    separator = ";" if ";" in line else ","
    parts = _split_outside(line, separator)
    if separator == "," and len(parts) == 1 and " / " in line:
        parts = line.split(" / ")
    names: list[str] = []
    for part in parts:
        for piece in _split_and(part):
            if not _AWAY.search(piece):
                names.append(clean_name(_split_outside(piece, ",")[0] if separator == ";" else piece))
    return [name for name in names if name and is_listed_name(name)]


def read_listed_name(text: str) -> list[str]:
    """Return the name in a list item, without the text after it ("Ann Lee, Acme", "Ben - notes").

    An item that is a list itself gives all of its names.
    """
    if _AWAY.search(plain(text)) or _ADDRESS.search(plain(text)) or text.lstrip().startswith("~~"):
        return []
    line = plain(_ADDRESS.sub("", _EMAIL.sub("", text))).rstrip(".,;")
    parts = _split_outside(line, ",")
    if len(parts) > 2 and all(is_name(clean_name(part)) for part in parts[1:]):
        return read_names(text)
    pieces = _split_and(parts[0]) if parts else []
    if len(pieces) > 1 and all(is_name(clean_name(piece)) for piece in pieces):
        return [clean_name(piece) for piece in pieces]
    name = clean_name(parts[0]) if parts else ""
    dashed = [part for part in _DASHED.split(name) if part]
    name = clean_name(dashed[0]) if dashed else ""
    return [name] if name and is_listed_name(name) else []


def clean_name(text: str) -> str:
    """Return a name as written, without the person's part in the meeting ("(chair)")."""
    without = _NOTE.sub(lambda note: "" if _are_parts(note[1]) else note[0], collapse(text))
    name = _REMARK.sub("", without).strip(" ,;:.*•-–—?!")
    return "" if _are_parts(name) else name


def _are_parts(text: str) -> bool:
    parts = [_PART_LEAD.sub("", part.casefold(), count=1) for part in re.split(r"\s?[,/&;]\s?", text)]
    return all(part in word_list("parts") or (part.startswith(_TIMED) and len(part) < 28) for part in parts)


def is_listed_name(text: str) -> bool:
    """Return whether a text in a list of people can be a name: short, and not a sentence."""
    bare = re.sub(r"\([^()]*\)", "", text).strip()
    if not bare or len(text) > MAX_NAME or len(bare.split()) > _MAX_WORDS or _names_nobody(bare):
        return False
    if _PLACEHOLDER.search(bare) or not any(letter.isalpha() for letter in bare):
        return False
    if _SENTENCE.search(_HANDLE.sub("", bare)):
        return False
    first = bare.split()[0].lower()
    return not (first in word_list("no_name") and first not in _ALSO_NAMES)


def is_name(text: str) -> bool:
    """Return whether a text is certainly a name: one to four capitalised words, or a handle."""
    bare = re.sub(r"\s?\([^()]*\)", "", text).strip()
    if _HANDLE.fullmatch(bare):
        return True
    words = bare.split()
    if not 1 <= len(words) <= 5 or len(bare) > 40 or _names_nobody(bare):
        return False
    kept = [word for word in words if word not in word_list("name_particles")]
    if not kept or not all(_WORD.fullmatch(word) and (word[0].isupper() or not word[0].islower()) for word in kept):
        return False
    return len(kept) <= 4 and kept[0].lower() not in word_list("no_name") and words[0] == kept[0]


def _names_nobody(text: str) -> bool:
    return text.casefold() in word_list("no_person") or _NO_PEOPLE.fullmatch(text) is not None


class People:
    """The known participants of a meeting, for telling names from other words at the start of a line."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known: set[str] = set()
        for name in names:
            bare = _TITLE.sub("", re.sub(r"\([^()]*\)", "", name).strip(), count=1)
            parts = [part for part in bare.split() if part not in word_list("name_particles")]
            self._known.update(handle.lower().lstrip("@") for handle in re.findall(r"@([\w-]+)", name))
            self._known.add(bare.lower().lstrip("@"))
            if parts:
                self._known.update((parts[0].lower(), parts[-1].lower()))
                self._known.add("".join(part[0] for part in parts).lower() if len(parts) > 1 else parts[0].lower())
        self._known -= {"", *word_list("no_name")}

    def knows(self, name: str) -> bool:
        bare = re.sub(r"\([^()]*\)", "", name).strip().lower().lstrip("@").rstrip(".")
        bare = _TITLE.sub("", bare, count=1)
        words = bare.split()
        capitals = all(not word[:1].islower() for word in name.split())
        return bare in self._known or (len(words) > 1 and words[0] in self._known and capitals)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in order, each once in any case."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.lower(), name)
    return tuple(kept.values())


def names_someone_of(name: str, others: Sequence[str]) -> bool:
    """Return whether a name is one of the others, or a part of one, as "Ann" is of "Ann Lee"."""
    words = set(name.lower().replace("(", " ").replace(")", " ").split())
    return any(words & set(other.lower().replace("(", " ").replace(")", " ").split()) for other in others)


def _split_outside(text: str, separator: str) -> list[str]:
    """Return the parts between separators outside of brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth = max(0, depth - 1)
        elif not depth and (letter == separator or (separator == "," and letter in "、，،")):
            parts.append(text[begin:place])
            begin = place + 1
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


def _split_and(text: str) -> list[str]:
    bare = re.sub(r"^(?:and|und|et|y|e|en|&)\s", "", text.strip(), flags=re.IGNORECASE)
    masked = re.sub(r"\([^()]*\)", lambda match: "\0" * len(match[0]), bare)
    pieces, begin = [], 0
    for match in _AND.finditer(masked):
        pieces.append(bare[begin : match.start()])
        begin = match.end()
    return [piece.strip() for piece in (*pieces, bare[begin:]) if piece.strip()]
