"""A draft as it can be streamed: what was sent of it can't be taken back, so only what is sure to stay is given. Pure.

Names: `draft_text`, `DRAFT_LENGTH`.
"""

import re

from bot.presentation.answer_text import MORE_COMING
from bot.presentation.rendering import clean

DRAFT_LENGTH = 8_000  # characters: of a longer draft its beginning is enough, the final post has it all
_BREAKER = "\u200b"
_NOTE = r"\[\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*\]"
_IN_NOTE = "0123456789,; \t"
# Every rule looks ahead within a word at most, and words are whole here: that keeps what was given once.
_PIECE = re.compile(
    rf"(?P<notes>(?:[ \t]{{0,8}}{_NOTE})+)"
    r"|[<@]|&(?=#?\w)|\](?=\()|:(?=//)|(?<=[\w-])\.(?=[^\W\d_]{2})|\\\.(?=[^\W\d_]{2})"
)


def draft_text(text: str) -> str:
    """The draft, harmless and without footnotes, up to its last whole word, and at most DRAFT_LENGTH characters of it.

    What it gives for the beginning of a text is the beginning of what it gives for the text: a stream that was sent
    `sent` is sent `draft_text(text)[len(sent):]` next.
    """
    draft = _PIECE.sub(_harmless, _stable(clean(text)))
    return draft if len(draft) <= DRAFT_LENGTH else f"{draft[:DRAFT_LENGTH]}\n\n{MORE_COMING}"


def _stable(text: str) -> str:
    """Whole words, up to where a footnote may be in the making. White space follows them, and is left for later."""
    whole = _without_last_word(text)
    while (bracket := whole.rfind("[")) >= 0 and not whole[bracket + 1 :].strip(_IN_NOTE):
        whole = _without_last_word(whole[:bracket])
    return whole


def _without_last_word(text: str) -> str:
    """What stands before the last white space, or before the white space that it ends with."""
    if text and not text[-1].isspace():
        text = text[: -len(text.rsplit(maxsplit=1)[-1])]
    return text.rstrip()


def _harmless(match: re.Match[str]) -> str:
    """Notes go, and part what they stood between, so that it can't become one word; else a sign is set apart."""
    if match["notes"] is None:
        return f"{match[0]}{_BREAKER}"
    behind = match.string[match.end() : match.end() + 2]
    ends_word = not behind[:1].strip() or (behind[0] in ".,!?)" and not behind[1:].strip())
    return "" if ends_word else _BREAKER
