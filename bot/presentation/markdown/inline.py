"""One line of Markdown as pieces that may not be cut, and words between them; links and pings are harmless. Pure.

Code comes out in one form that every client reads alike, all other backticks are escaped, and what could be a link is
either allowed or broken: so nothing that a client finds in the text can differ from what was found here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot.presentation.markdown.characters import safe_cut, units
from bot.presentation.markdown.flavour import Flavour, link_target

# Of a link's label; bounds the search for its end, too.
LONGEST_LABEL = 300
# Units of one word: longer ones are cut, as they are no words.
LONGEST_WORD = 100
_LABEL = rf"(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]{{0,{LONGEST_LABEL}}}\]){{0,{LONGEST_LABEL}}}"
_PIECE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>[^\n]+?)(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<auto>[A-Za-z][A-Za-z0-9+.-]*:[^<>\s`]*)>"
    rf"|!?\[(?P<label>{_LABEL})\]\([ \t]*<?(?P<target>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
    r"|(?<!\[)\[(?P<notes>\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?![(\]])"
    r"|(?P<bare>[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s<>`\[\]]+|discord(?:app)?\.(?:gg|com|me|new|gift)/[^\s<>`\[\]]+)"
    r"|(?P<tick>`+)",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[.,:;!?\"'”’)\]}*_~|\\]+$")
_WORD = re.compile(r"[^\s。！？]+[。！？]*\s*|[。！？]+\s*|\s+")
_SENTENCE_END = re.compile(r"[.!?。！？…:][\"'”’)\]*_~|]*\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of finished Markdown that is never cut. In `numbers` its footnotes, in order."""

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
    """The line in tokens of at most `longest` units each (from 40), if links fit; joined they are the whole line."""
    tokens: list[Token] = []
    prose = ""
    for item in (*_scan(line, flavour, longest), None):
        if isinstance(item, str):
            prose += item
            continue
        if item is not None and _ends_with_backslash(prose):
            prose += "\\"  # it would escape the token's first sign
        tokens += _words(prose, flavour)
        prose = ""
        if item is not None:
            # Two spans of code side by side would be read as one, and with a tick before it a span as a fence.
            is_near = bool(tokens) and (tokens[-1].is_code or tokens[-1].text.endswith("`"))
            tokens += [Token(text=flavour.breaker)] if is_near and item.is_code else []
            tokens.append(item)
    return tuple(tokens)


def code_tokens(code: str, flavour: Flavour) -> tuple[Token, ...]:
    """A line of a fenced block in tokens; what would close the fence, ping or pass for a link does not."""
    safe = flavour.escape(flavour.harmless_code(code.replace("``", f"``{flavour.breaker}")))
    return tuple(Token(text=piece) for piece in cut(safe, LONGEST_WORD))


def cut(text: str, limit: int) -> Iterator[str]:
    """The text in pieces of at most `limit` units."""
    start = 0
    while start < len(text):
        window = text[start : start + limit + 1]
        end = start + safe_cut(window, limit)
        yield text[start:end]
        start = end


def _scan(text: str, flavour: Flavour, longest: int) -> Iterator[str | Token]:
    """Prose, not finished, and tokens."""
    last = 0
    for match in _PIECE.finditer(text):
        yield text[last : match.start()]
        last = match.end()
        yield from _piece(match, flavour, longest)
    yield text[last:]


def _piece(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
    if match["code"] is not None:
        yield from _code(match["code"], flavour, longest)
    elif match["auto"] is not None:
        yield from _address(match["auto"], flavour, longest)
    elif match["target"] is not None:
        yield from _link(match, flavour, longest)
    elif match["notes"] is not None:
        yield from _notes(match, flavour, longest)
    elif match["bare"] is not None:
        trailing = _TRAILING.search(match[0])
        end = trailing.start() if trailing and not match[0].endswith("://") else len(match[0])
        yield from _address(match[0][:end], flavour, longest)
        yield match[0][end:].replace("`", "\\`")
    elif match["tick"] is not None:
        yield "\\`" * len(match["tick"])
    else:
        yield match[0]


def _code(code: str, flavour: Flavour, longest: int) -> Iterator[Token]:
    """Code in spans that stand for themselves."""
    # No two ticks side by side: they would end a span that begins with two.
    safe = flavour.escape(flavour.harmless_code(re.sub("`(?=`)", f"`{flavour.breaker}", code)))
    for piece in cut(safe, longest - 6):
        ticks = "``" if "`" in piece else "`"
        space = " " if piece[0] == "`" or piece[-1] == "`" or not piece.strip() else ""
        yield Token(text=f"{ticks}{space}{piece}{space}{ticks}", is_code=True)


def _address(address: str, flavour: Flavour, longest: int) -> Iterator[str | Token]:
    """A bare address: a link if it is allowed, else code without its scheme."""
    target = link_target(address)
    if target is not None and flavour.is_allowed(address):
        token = Token(text=flavour.link(flavour.plain(address), target))
        if units(token.text) <= longest:
            yield token
            return
    yield from _code(
        re.sub(r"^(?:https?|ftp)://(?=.)|^mailto:(?=.)", "", address, flags=re.IGNORECASE), flavour, longest
    )


def _link(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
    label, address = match["label"], match["target"]
    if label.startswith("[") or label.endswith("]"):  # "[[1]](...)" is a link that looks like a footnote, and is none
        flavour = replace(flavour, footnote=_no_footnote)
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


def _no_footnote(_: int) -> str | None:
    return None


def _notes(match: re.Match[str], flavour: Flavour, longest: int) -> Iterator[str | Token]:
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
    if begins_line and match.string.startswith(":", match.end()):  # or it would be read as an address for later
        yield Token(text=flavour.breaker)


def _words(prose: str, flavour: Flavour) -> list[Token]:
    safe = flavour.escape(flavour.harmless(prose))
    short = LONGEST_WORD // 2  # in any script; most words are, and need no closer look
    return [
        Token(text=piece)
        for word in _WORD.findall(safe)
        for piece in ((word,) if len(word) <= short else cut(word, LONGEST_WORD))
    ]


def _ends_with_backslash(prose: str) -> bool:
    return (len(prose) - len(prose.rstrip("\\"))) % 2 == 1
