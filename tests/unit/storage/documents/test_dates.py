"""The day of a document: its author's, its name's, or its program's, in this order."""

from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import docx
import pptx
import pytest

from core.domain.corpus import ParsedDocument, ParsedPage
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from storage.documents.child import date_of
from tests.unit.storage.documents.pdf_files import build_pdf


def parsed(**fields: str) -> ParsedDocument:
    values = {"title": "Council", "kind": "markdown", "pages": (ParsedPage(title="", text="x"),), **fields}
    return ParsedDocument(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "fields", "day"),
    [
        ("council.md", {}, None),
        ("2026-06-09-council.md", {}, "2026-06-09"),
        ("council_2026_06_09.md", {}, "2026-06-09"),
        ("20260609.md", {}, "2026-06-09"),
        ("council.md", {"title": "Harbour council, 9 June 2026"}, "2026-06-09"),
        ("2026-06-09/council.md", {}, "2026-06-09"),
        ("2026-06-09-council.md", {"title": "Council of 12 May 2026"}, "2026-06-09"),
        ("2026-06-09-council.md", {"dated": "2026-05-12", "created": "2020-01-01"}, "2026-05-12"),
        ("2026-06-09-council.md", {"created": "2020-01-01"}, "2026-06-09"),
        ("council.md", {"created": "2020-01-01"}, "2020-01-01"),
        ("report 12345678.md", {}, None),
    ],
)
def test_the_surest_day_counts(path: str, fields: dict[str, str], day: str | None) -> None:
    assert date_of(parsed(**fields), Path(path)) == day


def day_of(path: Path) -> str | None:
    reader = find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers())
    return date_of(reader.read(path, path.parent), path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "---\ndate: 2026-06-09\n---\n# Council\n\nFerries."),
        ("a.md", "---\ncreated: 2026-06-09T10:00:00Z\n---\n# Council\n\nFerries."),
        ("a.md", "date:: 9 June 2026\n\nFerries."),
        ("a.org", "#+TITLE: Council\n#+DATE: <2026-06-09 Tue>\n* Ferries\nThey sail."),
        ("a.rst", "Council\n=======\n\n:Date: 2026-06-09\n\nFerries sail."),
    ],
)
def test_texts_state_their_day(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert day_of(path) == "2026-06-09"


def test_a_mail_has_the_day_of_its_header(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["Date"] = "Ferries", "Tue, 09 Jun 2026 10:15:00 +0200"
    mail.set_content("They sail at seven.")
    path = tmp_path / "a.eml"
    path.write_bytes(mail.as_bytes())
    assert day_of(path) == "2026-06-09"


def test_office_files_have_the_day_on_which_they_were_made(tmp_path: Path) -> None:
    word, deck = docx.Document(), pptx.Presentation()
    word.add_paragraph("Ferries sail at seven.")
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Ferries"
    for made, path in ((word, tmp_path / "a.docx"), (deck, tmp_path / "a.pptx")):
        made.core_properties.created = datetime(2026, 6, 9, 10, tzinfo=UTC)
        made.save(str(path))
        assert day_of(path) == "2026-06-09"


@pytest.mark.parametrize(("stated", "day"), [("/CreationDate (D:20260609101500Z) ", "2026-06-09"), ("", None)])
def test_a_pdf_has_the_day_on_which_it_was_made(tmp_path: Path, stated: str, day: str | None) -> None:
    path = tmp_path / "a.pdf"
    made = build_pdf([[(72, 700, "Ferries sail at seven.")]], title="Ferries")
    path.write_bytes(made.replace(b"/Title", stated.encode() + b"/Title"))
    assert day_of(path) == day
