"""What the front matter of a note says of a meeting: no page shows it, so it is read from the file."""

from pathlib import Path

from storage.documents.markup.markdown_text import read_front_matter
from storage.documents.meetings.lines import plain

# Characters: front matter that is longer is data.
_MAX_FRONT = 20_000
_DATES = ("date", "meeting_date", "day")
_PEOPLE = ("attendees", "participants", "people", "present")


def read_properties(path: Path | None) -> tuple[str, tuple[str, ...]]:
    """(what stands as its date, the people it lists); ("", ()) for a file without front matter, or that is gone."""
    if path is None or path.suffix.lower() not in (".md", ".markdown", ".mdx"):
        return "", ()
    try:
        with path.open(encoding="utf-8-sig") as file:
            front = read_front_matter(file.read(_MAX_FRONT))
    except (OSError, UnicodeDecodeError):
        return "", ()  # the pages are read all the same; the next sync tells that the file is gone
    day = next((str(front.values[key]) for key in _DATES if front.values.get(key)), "")
    return day, tuple(plain(name) for name in front.strings(*_PEOPLE))
