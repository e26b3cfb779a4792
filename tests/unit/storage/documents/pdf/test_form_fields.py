from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.documents.pdf.layout import LayoutReader
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.form_files import Filled, build_form
from tests.unit.storage.documents.pdf_files import Piece

LABELS: list[Piece] = [
    (50, 700, "Passenger name:"), (50, 670, "Date:"), (300, 670, "Pier:"), (50, 640, "Ticket type"),
    (200, 640, "Remarks"), (70, 560, "I travel with a dog"), (70, 540, "I need a ramp"), (50, 520, "Smoker: yes"),
    (160, 520, "no"),
]  # fmt: skip
FIELDS = [
    Filled((150, 695, 350, 715), "Ann Später"),
    Filled((90, 665, 200, 685), "14 March 2031"),
    Filled((340, 665, 400, 685), "3"),
    Filled((50, 610, 150, 632), "c", "choice"),
    Filled((200, 590, 400, 632), "Two bags\nand a bicycle"),
    Filled((50, 558, 62, 570), "On", "box"),
    Filled((50, 538, 62, 550), "", "box"),
    Filled((118, 518, 128, 530), "On", "box"),
    Filled((180, 518, 190, 530), "", "box"),
]


def read(labels: Sequence[Piece], fields: Sequence[Filled], folder: Path) -> str:
    path = folder / "form.pdf"
    path.write_bytes(build_form(labels, fields))
    return PdfReader().read(path, folder).pages[0].text


def test_what_is_filled_in_stands_beside_its_label(tmp_path: Path) -> None:
    assert read(LABELS, FIELDS, tmp_path).splitlines() == [
        "Passenger name: Ann Später",
        "Date: 14 March 2031 Pier: 3",
        "Ticket type Remarks",
        "Child\tTwo bags",
        "and a bicycle",
        "[x] I travel with a dog",
        "[ ] I need a ramp",
        "Smoker: yes [x] no [ ]",
    ]


def test_an_empty_form_is_read_as_it_is_printed(tmp_path: Path) -> None:
    empty = [Filled(field.box, "", field.kind) for field in FIELDS]
    assert read(LABELS, empty, tmp_path).splitlines() == [
        "Passenger name:", "Date: Pier:", "Ticket type Remarks", "I travel with a dog", "I need a ramp",
        "Smoker: yes no",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "field",
    [Filled((150, 695, 350, 715), "sesame", "password"), Filled((150, 695, 350, 715), "sesame", is_hidden=True)],
)
def test_what_nobody_sees_is_not_read(field: Filled, tmp_path: Path) -> None:
    assert "sesame" not in read(LABELS, [field, FIELDS[1]], tmp_path)


def test_a_page_of_fields_alone_has_their_rows(tmp_path: Path) -> None:
    assert read([], FIELDS[:3], tmp_path).splitlines() == ["Ann Später", "14 March 2031\t3"]


def test_words_of_fields_are_words_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "form.pdf").write_bytes(build_form(LABELS, FIELDS[:2]))
    reader = LayoutReader(tmp_path / "form.pdf")
    layout = reader.read(1)
    reader.close()
    assert layout is not None
    assert [word.text for word in layout.words[-5:]] == ["Ann", "Später", "14", "March", "2031"]
    assert len({word.order for word in layout.words}) == len(layout.words)
