"""A console that shows text from documents and file names without obeying it."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_CONTROLS = [*range(9), 11, 12, *range(14, 32)]
# Marks that reverse or isolate what follows them: a name ending in "gpj.exe" could be shown as "exe.jpg".
_DIRECTIONS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
# Each as wide as a character of its own: escapes become their pictures (U+2400 and on), the rest U+FFFD.
_SHOWN = (
    {code: 0x2400 + code for code in _CONTROLS}
    | {127: 0x2421}
    | dict.fromkeys([*range(128, 160), *_DIRECTIONS], 0xFFFD)
)


class PlainConsole(Console):
    """A rich console on which control characters in what is printed are shown as pictures, never sent."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(segment.text.translate(_SHOWN), segment.style)


def one_line(name: str) -> str:
    """A file name for a list: line breaks as their pictures, so that a line stays a line."""
    return name.translate({10: 0x240A, 13: 0x240D, 9: 0x2409})
