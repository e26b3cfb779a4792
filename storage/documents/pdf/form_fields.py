"""The filled fields of a PDF form, which are written into the page's text next to their labels."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.text.words import collapse
from storage.documents.pdf.glyphs import Box, turned, turned_box
from storage.documents.pdf.rows import Line
from storage.documents.texts.encodings import clean

CHECKED, UNCHECKED = "[x]", "[ ]"
# Fields of one page that are read, and characters of one value.
MAX_FIELDS = 2_000
MAX_VALUE = 20_000
# Points by which a label may reach into its field's box.
_INTO = 3.0

_HIDDEN = 2 | 32  # flags of an annotation: hidden, not to be viewed
_PASSWORD = 1 << 13  # flag of a text field


@dataclass(frozen=True, slots=True)
class Field:
    """The text of a field, with its box in points from the lower left corner of the page as shown."""

    text: str
    box: Box

    @property
    def is_mark(self) -> bool:
        return self.text in (CHECKED, UNCHECKED)

    @property
    def line(self) -> Line:
        left, bottom, right, top = self.box
        return Line(text=collapse(self.text), left=left, right=right, bottom=bottom, top=top)


def open_forms(document: Any) -> None:
    """Make the forms of a document readable, before any of its pages; broken ones stay closed."""
    import pypdfium2

    with suppress(pypdfium2.PdfiumError):
        document.init_forms()


def read_fields(document: Any, page: Any) -> list[Field]:
    """Return the filled fields of an open page from top to bottom, with the check boxes next to them.

    Returns () for an empty form, which is read as printed. `document` was opened with its forms.
    """
    if document.formenv is None:
        return []
    fields = list(_fields(document.formenv.raw, page))
    if all(field.text == UNCHECKED for field in fields):
        return []
    return sorted(fields, key=lambda field: (-field.box[3], field.box[0]))


def with_fields(raw: str, boxes: Sequence[Box | None], fields: Sequence[Field]) -> str:
    """Return `raw`, the text of a page, with the values of its fields; `boxes` are the boxes of its characters.

    A value follows the text to its left in its row, else the text above it; the mark of a check box is placed next to
    the nearest word.
    """
    added: dict[int, list[tuple[str, Field]]] = {}
    for field in fields:
        place, gap = _place(raw, boxes, field)
        added.setdefault(place, []).append((gap, field))
    pieces, end = [], 0
    for place in sorted(added):
        pieces += [raw[end:place], *_written(added[place])]
        end = place
    return "".join([*pieces, raw[end:]]).strip("\r\n")


def _written(added: Sequence[tuple[str, Field]]) -> Iterator[str]:
    """Return the text of fields at one position, with one line for each row."""
    before: Field | None = None
    for gap, field in added:
        if gap.startswith(" ") and field.is_mark and not gap.strip():
            yield gap + field.text
        elif gap == "before":
            yield field.text + " "
        elif before is not None and min(before.box[3], field.box[3]) > max(before.box[1], field.box[1]):
            yield "\t" + field.text
        else:
            yield gap + field.text
        before = field


def _place(raw: str, boxes: Sequence[Box | None], field: Field) -> tuple[int, str]:
    """Return the position of a field in the text, and its separator; "before" puts it in front."""
    left, bottom, right, top = field.box
    row = [
        (place, box)
        for place, box in enumerate(boxes)
        if box and bottom - _INTO <= (box[1] + box[3]) / 2 <= top + _INTO
    ]
    at_left = max(((box[2], place) for place, box in row if box[2] <= left + _INTO), default=None)
    at_right = min(((box[0], place) for place, box in row if box[0] >= right - _INTO), default=None)
    if field.is_mark and at_right and (at_left is None or at_right[0] - right <= left - at_left[0]):
        return at_right[1], "before"
    if at_left:
        return at_left[1] + 1, " "
    above = [
        (box[1], -place) for place, box in enumerate(boxes)
        if box and box[1] >= top - _INTO and box[0] < right and box[2] > left
    ]  # fmt: skip
    if not above:
        return len(raw), "\r\n"
    end = raw.find("\r\n", -min(above)[1])
    return len(raw) if end < 0 else end, "\r\n"


def _fields(form: Any, page: Any) -> Iterator[Field]:
    from pypdfium2 import raw

    turn = turned(page)
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), MAX_FIELDS)):
        widget = raw.FPDFPage_GetAnnot(page.raw, index)
        if not widget:
            continue
        try:
            text = _shown(raw, form, widget)
            rect = raw.FS_RECTF()
            if text and raw.FPDFAnnot_GetRect(widget, ctypes.byref(rect)):
                yield Field(text, turned_box((rect.left, rect.bottom, rect.right, rect.top), turn))
        finally:
            raw.FPDFPage_CloseAnnot(widget)


def _shown(raw: Any, form: Any, widget: Any) -> str:
    """Return the shown text of a field; "" if it is no field, empty or hidden."""
    if raw.FPDFAnnot_GetSubtype(widget) != raw.FPDF_ANNOT_WIDGET or raw.FPDFAnnot_GetFlags(widget) & _HIDDEN:
        return ""
    kind = raw.FPDFAnnot_GetFormFieldType(form, widget)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        return CHECKED if raw.FPDFAnnot_IsChecked(form, widget) else UNCHECKED
    if kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        chosen = [
            _string(raw.FPDFAnnot_GetOptionLabel, form, widget, option)
            for option in range(min(raw.FPDFAnnot_GetOptionCount(form, widget), MAX_FIELDS))
            if raw.FPDFAnnot_IsOptionSelected(form, widget, option)
        ]
        return ", ".join(filter(None, chosen)) or _string(raw.FPDFAnnot_GetFormFieldValue, form, widget)
    is_secret = raw.FPDFAnnot_GetFormFieldFlags(form, widget) & _PASSWORD
    if kind != raw.FPDF_FORMFIELD_TEXTFIELD or is_secret:
        return ""
    return _string(raw.FPDFAnnot_GetFormFieldValue, form, widget)


def _string(get: Any, *arguments: Any) -> str:
    """Return the text from a PDFium function: UTF-16 with a final zero, after a call that returns its size."""
    size = get(*arguments, None, 0)
    if not 2 < size <= MAX_VALUE * 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = clean(buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\0", ""))
    return "\r\n".join(collapse(line) for line in text.splitlines()).strip()
