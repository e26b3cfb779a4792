"""Files of questions, one JSON object on each line: what `ask --batch` and `eval` are given."""

from pathlib import Path

from core.errors import BadInput


def read_lines(file: Path) -> list[str]:
    """The lines of the file, empty ones included. Raises BadInput for one that can't be read."""
    try:
        return file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        reason = f"{error.strerror or error}: check the path"
    except UnicodeDecodeError:
        reason = "it is no UTF-8 text: save it as UTF-8, with one JSON object on each line"
    raise BadInput(f"The question file {str(file)!r} can't be read: {reason}.")
