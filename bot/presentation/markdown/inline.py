"""One line of Markdown in tokens: pieces that must not be cut, and words; links and pings are disabled. Pure.

All clients read the output alike: code has one form, other backticks are escaped, and links are allowed or broken.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from bot.presentation.markdown.flavour import Flavour, link_target, safe_cut, units

LONGEST_LABEL = 300  # characters of a link's label; also bounds the search for its end
LONGEST_WORD = 100  # units; longer words are cut

# The start of anything but prose.
_START = re.compile(r"[\\`<!\[]|[a-z][a-z0-9+.-]{1,30}://|discord(?:app)?\.(?:gg|com|me|new|gift)/", re.IGNORECASE)
_ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
_CODE = re.compile(r"(?<!`)(`++)(?P<code>(?:[^`\n]++|(?!\1(?!`))`++)++)\1(?!`)")
_AUTO_LINK = re.compile(r"<(?P<address>[a-z][a-z0-9+.-]*:[^<>\s`]*)>", re.IGNORECASE)
_LABEL = rf"(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]{{0,{LONGEST_LABEL}}}\]){{0,{LONGEST_LABEL}}}"
_TARGET = r"<?(?P<target>[^\s<>()]*+(?:\([^\s()]*+\)[^\s<>()]*+)*+)>?"
_TITLE = r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?"
_LINK = re.compile(rf"!?\[(?P<label>{_LABEL})\]\([ \t]*+{_TARGET}{_TITLE}[ \t]*+\)")
_NOTES = re.compile(r"(?<!\[)\[(?P<notes>\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?![(\]])")
_BARE_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,30}://|discord(?:app)?\.(?:gg|com|me|new|gift)/)[^\s<>`\[\]]+", re.IGNORECASE
)
_TICKS = re.compile(r"`+")
_TRAILING = re.compile(r"(?<![.,:;!?\"'”’)\]}*_~|\\])[.,:;!?\"'”’)\]}*_~|\\]++$")
_WORD = re.compile(r"[^\s。！？]+[。！？]*\s*|[。！？]+\s*|\s+")
_SENTENCE_END = re.compile(r"[.!?。！？…:][\"'”’)\]*_~|]*\s*$")


_Parse: TypeAlias = "Callable[[re.Match[str], Flavour, int], Iterable[str | Token]]"  # the last: a token's length


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of finished Markdown that is never cut, with its footnotes in order."""

    text: str
    numbers: tuple[int, ...] = ()
    is_code: bool = False

    @property
    def ends_word(self) -> bool:
        return self.text[-1:].isspace() or self.text[-1:] in "。！？"

    @property
    def ends_sentence(self) -> bool:
        return not self.is_code and not self.numbers and _SENTENCE_END.search(self.text) is not None


def to_tokens(line: str, flavour: Flavour, longest: int) -> tuple[Token, ...]:
    """Return the line in tokens of at most `longest` units each (from 40). Joined, they are the whole line."""
    tokens: list[Token] = []
    prose = ""
    for item in (*_scan(line, flavour, longest), None):
        if isinstance(item, str):
            prose += item
            continue
        if item is not None and _ends_with_backslash(prose):
            prose += "\\"  # or it would escape the token's first character
        tokens += _words(prose, flavour)
        prose = ""
        if item is not None:
            # Adjacent spans of code would be read as one, and a span after a backtick as a fence.
            is_near = bool(tokens) and (tokens[-1].is_code or tokens[-1].text.endswith("`"))
            tokens += [Token(text=flavour.breaker)] if is_near and item.is_code else []
            tokens.append(item)
    return tuple(tokens)


def code_tokens(code: str, flavour: Flavour) -> tuple[Token, ...]:
    """Return a line of a fenced block in tokens that can't close the fence, ping or link."""
    safe = flavour.escape(flavour.harmless_code(code.replace("``", f"``{flavour.breaker}")))
    return tuple(Token(text=piece) for piece in cut(safe, LONGEST_WORD))


def cut(text: str, limit: int) -> Iterator[str]:
    """Yield the text in pieces of at most `limit` units."""
    start = 0
    while start < len(text):
        window = text[start : start + limit + 1]
        end = start + safe_cut(window, limit)
        yield text[start:end]
        start = end


def _scan(text: str, flavour: Flavour, longest: int) -> Iterator[str | Token]:
    """Yield unfinished prose and tokens."""
    last = start = 0
    while found := _START.search(text, start):
        start = found.start()
        for pattern, parse in _PARSERS:
            if match := pattern.match(text, start):
                yield text[last:start]
                yield from parse(match, flavour, longest)
                last = start = match.end()
                break
        else:
            start += 1
    yield text[last:]


def _parse_bare_address(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
    trailing = _TRAILING.search(match[0])
    end = trailing.start() if trailing and not match[0].endswith("://") else len(match[0])
    yield from _address(match[0][:end], flavour, longest)
    yield match[0][end:].replace("`", "\\`")


def _code(code: str, flavour: Flavour, longest: int) -> Iterator[Token]:
    """Yield code in complete spans."""
    # No adjacent backticks: they would end a span that begins with two.
    safe = flavour.escape(flavour.harmless_code(re.sub("`(?=`)", f"`{flavour.breaker}", code)))
    for piece in cut(safe, longest - 6):
        ticks = "``" if "`" in piece else "`"
        space = " " if piece[0] == "`" or piece[-1] == "`" or not piece.strip() else ""
        yield Token(text=f"{ticks}{space}{piece}{space}{ticks}", is_code=True)


def _address(address: str, flavour: Flavour, longest: int) -> Iterator[str | Token]:
    """Yield an address as a link if it is allowed, else as code without its scheme."""
    target = link_target(address)
    if target is not None and flavour.is_allowed(address):
        token = Token(text=flavour.link(flavour.plain(address), target))
        if units(token.text) <= longest:
            yield token
            return
    yield from _code(
        re.sub(r"^(?:https?|ftp)://(?=.)|^mailto:(?=.)", "", address, flags=re.IGNORECASE), flavour, longest
    )


def _parse_link(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
    label, address = match["label"], match["target"]
    if label.startswith("[") or label.endswith("]"):  # "[[1]](...)" looks like a footnote, but is a link
        flavour = replace(flavour, footnote=lambda _: None)
    target = link_target(address)
    if target is not None and flavour.is_allowed(address) and label.strip():
        token = Token(text=flavour.link(flavour.plain(re.sub(r"[*_~`\\|]", "", label)), target))
        if units(token.text) <= longest:
            yield token
            return
    if not re.match(r"[a-z][a-z0-9+.-]*:.", address, re.IGNORECASE):
        yield "["
        yield from _scan(label, flavour, longest)
        yield match.string[match.end("label") : match.end()].replace("`", "\\`")
    elif label.strip() in ("", address):
        yield from _address(address, flavour, longest)
    else:
        yield from _scan(label, flavour, longest)
        yield " ("
        yield from _address(address, flavour, longest)
        yield ")"


def _parse_notes(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
    numbers = [int(number) for number in re.split(r"\s*[,;]\s*", match["notes"])]
    notes = [(number, flavour.footnote(number)) for number in numbers]
    if any(note is None for _, note in notes):
        yield match[0]
        return
    for number, note in notes:
        if note:
            text = note if units(note) <= longest else f"[{number}]"
            yield Token(text=text, numbers=(number,))
    begins_line = not match.string[: match.start()].strip()
    if begins_line and match.string.startswith(":", match.end()):  # or it would be a link definition
        yield Token(text=flavour.breaker)


def _words(prose: str, flavour: Flavour) -> list[Token]:
    safe = flavour.escape(flavour.harmless(prose))
    short = LONGEST_WORD // 2  # in any script
    return [
        Token(text=piece)
        for word in _WORD.findall(safe)
        for piece in ((word,) if len(word) <= short else cut(word, LONGEST_WORD))
    ]


def _ends_with_backslash(prose: str) -> bool:
    return (len(prose) - len(prose.rstrip("\\"))) % 2 == 1


# In order: the first pattern that matches at a start parses it.
_PARSERS: tuple[tuple[re.Pattern[str], _Parse], ...] = (
    (_ESCAPE, lambda match, flavour, longest: (match[0],)),
    (_CODE, lambda match, flavour, longest: _code(match["code"], flavour, longest)),
    (_AUTO_LINK, lambda match, flavour, longest: _address(match["address"], flavour, longest)),
    (_LINK, _parse_link),
    (_NOTES, _parse_notes),
    (_BARE_ADDRESS, _parse_bare_address),
    (_TICKS, lambda match, flavour, longest: ("\\`" * len(match[0]),)),
)
