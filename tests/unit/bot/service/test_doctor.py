"""What the doctor says of scans; the other checks need the parts themselves, and are tested where these are."""

from types import SimpleNamespace
from typing import cast

import pytest

from bot.config import Config
from bot.service.doctor import _scans
from bot.wiring.parts import Parts


@pytest.mark.parametrize(
    ("ocr", "installed", "expected"),
    [
        (True, True, "the text of scanned PDF pages is recognised (OCR)"),
        (True, False, "scanned PDFs are refused: to recognise their text, pip install 'footnote[ocr]'"),
        (False, True, "scanned PDFs are refused: [ingest] ocr is false"),
    ],
)
async def test_it_says_whether_scans_are_read_and_what_they_take(ocr: bool, installed: bool, expected: str) -> None:
    config = Config.model_validate({"ingest": {"ocr": ocr}})
    assert await _scans(cast(Parts, SimpleNamespace(config=config, has_ocr=ocr and installed))) == expected
