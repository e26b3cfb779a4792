"""The terminal: a console that shows control characters instead of executing them, and completion of typed lines."""

from collections.abc import Callable, Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from core.errors import FootnoteError
from core.text.markup import printable


class PlainConsole(Console):
    """A rich console that prints control characters as pictures."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)


def one_line(name: str) -> str:
    """Return a file name on one line, with pictures of its line breaks."""
    return name.translate({10: 0x240A, 13: 0x240D, 9: 0x2409})


def complete_with_tab(complete: Callable[[str], list[str]]) -> None:
    """Let Tab complete the line at `input`: `complete` returns whole lines. Without readline, Tab does nothing."""
    try:
        import readline
    except ImportError:  # Windows
        return
    found: list[str] = []

    def choose(line: str, number: int) -> str | None:
        if number == 0:
            try:
                found[:] = complete(line)
            except FootnoteError:  # the next command reports it
                found.clear()
        return found[number] if number < len(found) else None

    readline.set_completer_delims("")
    readline.set_completer(choose)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
