"""What an extractor leaves out because of a bound of its own is said, and never silent."""

from pathlib import Path

import pytest

from core.domain.extracts import Found, Unread
from core.ports.documents import Extractor
from storage.documents.extractors import api_specs, meetings, tables
from storage.documents.extractors.tables import PdfTableExtractor
from storage.documents.pdf import found_tables as pdf_page_tables
from tests.contract.test_extractors import API, MINUTES, NOTE, build_given, build_paper


def bounds(extractor: Extractor, text: str, kind: str = "markdown") -> list[str]:
    return [item.reason for item in extractor.extract(build_given(text, kind)) if isinstance(item, Unread)]


def test_notes_that_are_too_long_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bounds(meetings.MeetingsExtractor(), MINUTES) == []
    monkeypatch.setattr(meetings, "_MAX_CHARACTERS", 100)
    assert bounds(meetings.MeetingsExtractor(), MINUTES) == ["notes of more than 100 characters are not read"]


def test_endpoints_beyond_the_most_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bounds(api_specs.ApiSpecsExtractor(), API) == []
    monkeypatch.setattr(api_specs, "MAX_ENDPOINTS", 1)
    [reason] = bounds(api_specs.ApiSpecsExtractor(), API)
    assert reason.startswith("kept only 1 of ")


def test_a_line_that_is_too_long_for_a_row_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bounds(tables.TableExtractor(), NOTE) == []
    monkeypatch.setattr(tables, "MAX_LINE", 40)
    assert bounds(tables.TableExtractor(), NOTE)[0] == "lines of more than 40 characters are not searched for tables"


def test_pages_that_hold_too_much_are_not_looked_at_for_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = build_paper(tmp_path / "ferry.pdf")
    assert all(isinstance(item, Found) for item in PdfTableExtractor().extract(paper))
    monkeypatch.setattr(pdf_page_tables, "MAX_COST", 1)
    [item] = PdfTableExtractor().extract(paper)
    assert isinstance(item, Unread) and item.page_number == 1 and "split the file" in item.reason
