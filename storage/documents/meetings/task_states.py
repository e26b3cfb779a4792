"""Whether a task is done, by the words and marks that say so. Pure."""

import re

from storage.documents.meetings.lines import plain

_DONE = re.compile(
    r"\s*(?:[(\[]\s?(?:done|completed?|closed|finished|x|✓|erledigt|fait|hecho|fatto|klaar|gedaan)\s?[)\]]"
    r"|[✅✔☑✓]\ufe0f?"
    r"|\s[-–—]+\s?(?:done|completed?|closed|erledigt|fait|hecho)\.?$|^(?:done|completed?|erledigt)\s?[:–—-]\s)\s*",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\s[-–—|]+\s?(?:open|pending|in progress|not started)\.?$|"
    r"\s*[(\[]\s?(?:open|todo|to do|pending|in progress|not done|wip|ongoing|offen|en cours|abierto)\s?[)\]]\s*",
    re.I,
)
_DONE_WORD = re.compile(
    r"(?:done|complete[d]?|closed|finished|yes|x|✓|✔|✅|☑|erledigt|ja|fait|terminé|hecho|fatto|gedaan|klaar)\W*", re.I
)
_OPEN_WORD = re.compile(
    r"(?:open|to ?do|pending|in progress|not (?:done|started|yet)|wip|ongoing|new|no|started|blocked|on hold|offen|nein"
    r"|en cours|à faire|abierto|pendiente|aperto|bezig|❌|⬜|☐)\W*.*",
    re.IGNORECASE,
)


def read_state(cell: str) -> bool | None:
    """Whether a cell of a column of states says done; None where it says neither."""
    text = plain(cell)
    if _OPEN_WORD.fullmatch(text):
        return False
    return True if _DONE_WORD.match(text) else None


def take_state(raw: str, done: bool | None) -> tuple[bool | None, str]:
    """(what is said of it, the task without those words); `done` is what its check box says."""
    if re.fullmatch(r"\s*~~.*~~\s*\.?", raw, re.DOTALL):
        return True, raw.replace("~~", "")
    found = _DONE.search(raw)
    if found:
        return True if done is None else done, f"{raw[: found.start()]} {raw[found.end() :]}".strip()
    still = _OPEN.search(raw)
    if still:
        return False if done is None else done, f"{raw[: still.start()]} {raw[still.end() :]}".strip()
    return done, raw
