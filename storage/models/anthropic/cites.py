"""Takes stray inline `<cite ...>` tags out of model text, whole or piece by piece.

Models that were asked for a certain output form sometimes write their citations as tags into the text, besides or
instead of the citation field (anthropic-sdk-python#1060). The tags prove nothing; the words between them stay.
"""

import re

# Only a cite with an index attribute is the model's own; `<cite>` alone may be HTML that a document is about.
# Lengths are bounded so that a lone "<" can't hold back a page of streamed text.
_OPENING = re.compile(r"<(?:\w{1,10}:)?cite\s(?=[^<>]{0,200}\bindex\s?=)[^<>]{0,200}>")
_CLOSING = re.compile(r"</(?:\w{1,10}:)?cite\s?>")
# Text that may still grow into a tag: held back until more arrives.
_MAY_BECOME_TAG = re.compile(
    r"<(?:/?\w{0,10}|/?\w{1,10}:\w{0,4}|(?:\w{1,10}:)?cite\s[^<>]{0,200}|/(?:\w{1,10}:)?cite\s)\Z"
)


class InlineCiteFilter:
    """Feed text in pieces of any size; concatenated results are the text without inline cite tags."""

    def __init__(self) -> None:
        self._held = ""
        self._open = 0  # opening tags taken out whose closing tag is still to come

    def feed(self, piece: str) -> str:
        """What is certain by now; the rest is held back for the next call."""
        text = self._held + piece
        kept: list[str] = []
        at = 0
        while match := self._next_tag(text, at):
            kept.append(text[at : match.start()])
            at = match.end()
        tail = _MAY_BECOME_TAG.search(text, at)
        end = tail.start() if tail else len(text)
        self._held = text[end:]
        return "".join(kept) + text[at:end]

    def flush(self) -> str:
        """What was held back; to be called at the end of a text block."""
        text, self._held = self._held, ""
        return text

    def _next_tag(self, text: str, at: int) -> re.Match[str] | None:
        opening = _OPENING.search(text, at)
        closing = _CLOSING.search(text, at, opening.start() if opening else len(text)) if self._open else None
        if closing:
            self._open -= 1
            return closing
        if opening:
            self._open += 1
        return opening
