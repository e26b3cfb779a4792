"""Entry point of the `footnote` command, and of `python -m bot`.

Imports the command line inside `main`, so that Ctrl+C also ends the first half second cleanly.
"""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def main() -> None:
    """Run the process's command line and exit with its code."""
    try:
        sys.stdout, sys.stderr = _ready(sys.stdout), _ready(sys.stderr)
        from bot.cli.app import run
        from bot.runtime.data_directory import create_private_files

        create_private_files()
        code = run(sys.argv[1:])
        code = max(code, *(_flush(stream) for stream in (sys.stdout, sys.stderr)))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _ready(stream: TextIO | None) -> TextIO:
    """Return a stream that escapes characters outside its encoding; a closed one discards everything."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _flush(stream: TextIO) -> int:
    """Write buffered output; return 0, or 1 if that fails. The interpreter then doesn't retry at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 1
    return 0


if __name__ == "__main__":
    main()
