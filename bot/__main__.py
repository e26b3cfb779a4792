"""Entry point of the `footnote` command, and of `python -m bot`.

It imports the command line inside its frame: Ctrl+C ends the first half second as cleanly as the rest.
"""

import os
import sys
from typing import TextIO


def main() -> None:
    """Run the command line this process was started with; exits with its code."""
    try:
        for stream in (sys.stdout, sys.stderr):
            _show_all_characters(stream)
        from bot.cli import run

        code = run(sys.argv[1:])
        code = max(code, *(_flush(stream) for stream in (sys.stdout, sys.stderr)))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _show_all_characters(stream: TextIO | None) -> None:
    """What a terminal's encoding can't show is written as an escape instead of ending the command."""
    reconfigure = getattr(stream, "reconfigure", None)  # None where the stream was closed, or is another's object
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _flush(stream: TextIO | None) -> int:
    """0, or 1 when what is left of the output can't be written; nothing is then tried again at exit."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno() if stream else 1)
        return 1
    return 0


if __name__ == "__main__":
    main()
