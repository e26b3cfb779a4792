"""Turns a PDF page the way its text is read: PDFium gives the lines of a page shown sideways in a wrong order."""

import re
from collections import Counter
from typing import Any

# Characters of a page by which its direction is told, and their share that has to agree.
SAMPLE = 400
MIN_SHARE = 0.6

# Scripts that are written from right to left say nothing about how a page is turned.
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def upright_text(page: Any) -> Any:
    """The text of an open page, which is turned first where most of its letters do not stand upright; to be closed.

    A page without a rotation of its own stays as it is: its file gives the lines as they were written. Raises what
    PDFium raises for a page whose text can't be loaded.
    """
    text_page = page.get_textpage()
    if not _turn(page, text_page):
        return text_page
    text_page.close()
    return page.get_textpage()


def _turn(page: Any, text_page: Any) -> bool:
    """Set the page's rotation; True where it was another one."""
    shown = page.get_rotation()
    turns = _turns(text_page) if shown else Counter()
    if not turns:
        return False
    turn, count = turns.most_common(1)[0]
    if count < turns.total() * MIN_SHARE or turn == shown:
        return False
    page.set_rotation(turn)
    return True


def _turns(text_page: Any) -> Counter[int]:
    """How far each letter's page would be turned clockwise to be upright, by where the next letter of its word stands.

    Not by the angle that PDFium gives: that of letters which are drawn mirrored twice is wrong.
    """
    from pypdfium2 import raw

    turns: Counter[int] = Counter()
    before: tuple[float, float] | None = None
    for index in range(min(text_page.count_chars(), SAMPLE)):
        letter = chr(raw.FPDFText_GetUnicode(text_page.raw, index))
        if not letter.isalnum() or _LEFTWARDS.match(letter):
            before = None
            continue
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        place = ((left + right) / 2, (bottom + top) / 2)
        if before is not None:
            across, up = place[0] - before[0], place[1] - before[1]
            level, upright = (0 if across > 0 else 180), (90 if up > 0 else 270)
            turns[level if abs(across) > abs(up) else upright] += 1
        before = place
    return turns
