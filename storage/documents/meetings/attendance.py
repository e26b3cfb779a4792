"""Sentences of notes that say who was there: "Ann, Ben and Carla attended.", "On the call were Ann and Ben." Pure."""

import re

from storage.documents.meetings.people_names import is_name, read_names

# Characters of a sentence that lists people; a longer one tells a story.
_MAX_SENTENCE = 400
_MIN_PEOPLE = 2

_WHERE = r"(?:the |this |today['’]s |our )?(?:meeting|call|session|sync|stand-?up|interim|workshop)"
_HOW = rf"(?: (?:{_WHERE}|in person|remotely|online|virtually|by (?:phone|video)|via \w+)){{0,2}}"
_FIRST = re.compile(
    rf"(?P<names>.+?),? (?:attended|took part|participated|(?:were|was) (?:also )?(?:present|in attendance)"
    rf"|(?:joined|dialled in to|dialed in to|attended) {_WHERE})(?: in)?{_HOW}\W*",
    re.DOTALL,
)
_LAST = re.compile(
    rf"(?:(?:also )?(?:present|in attendance|attending|on {_WHERE}|in the room|around the table)(?: today)?"
    rf"(?:,? (?:were|was|we had))|we were joined by|those (?:present|attending) were) (?P<names>.+?)\W*",
    re.IGNORECASE | re.DOTALL,
)
_OFFICES = re.compile(
    r"^(?:(?:the )?(?:councill?ors|cllrs\.?|messrs\.?|directors|trustees|commissioners|members|board members|governors"
    r"|colleagues)\s)",
    re.IGNORECASE,
)
_ME = re.compile(
    r"(?:,|\band\b|&)\s*(?:and\s)?(?:me|myself|I|(?:a few |several |some )?others|guests)\s*$", re.IGNORECASE
)
_HINT = re.compile(r"attend|present|part|joined|\bcall\b|room|table|dial", re.IGNORECASE)


def find_present(sentence: str) -> list[str]:
    """The people whom a sentence names as present, and nothing but people; [] where it is about something else."""
    if len(sentence) > _MAX_SENTENCE or not _HINT.search(sentence):
        return []
    match = _LAST.fullmatch(sentence) or _FIRST.fullmatch(sentence)
    if match is None:
        return []
    listed = _ME.sub("", _OFFICES.sub("", match["names"].strip()))
    names = read_names(listed)
    parts = [part for part in re.split(r",|\sand\s|&", re.sub(r"\([^()]*\)", "", listed)) if part.strip()]
    if len(names) < _MIN_PEOPLE or len(parts) > len(names) or not all(map(is_name, names)):
        return []
    return names
