"""Entry point of the `footnote` command, and of `python -m bot`.

It imports the command line inside its frame: Ctrl+C ends the first half second as cleanly as the rest.
"""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def main() -> None:
    """Run the command line this process was started with; exits with its code."""
    try:
        sys.stdout, sys.stderr = _ready(sys.stdout), _ready(sys.stderr)
        from bot.cli.app import run

        code = run(sys.argv[1:])
        code = max(code, *(_flush(stream) for stream in (sys.stdout, sys.stderr)))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _ready(stream: TextIO | None) -> TextIO:
    """A stream that takes everything: what its encoding can't show as an escape, and nowhere where it was closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _flush(stream: TextIO) -> int:
    """0, or 1 when what is left of the output can't be written; nothing is then tried again at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 1
    return 0


if __name__ == "__main__":
    main()
