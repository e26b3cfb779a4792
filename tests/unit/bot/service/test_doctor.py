"""What the doctor says of scans; the other checks need the parts themselves, and are tested where these are."""

from types import SimpleNamespace
from typing import cast

import pytest

from bot.config import Config
from bot.service.doctor import _jail, _scans
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


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ([], "files are parsed by a process without network, that can't start programs or change your files"),
        (["no network", "no files changed"], "this system does not enforce: no network, no files changed; the process"),
    ],
)
async def test_it_says_what_holds_a_subverted_reader(missing: list[str], expected: str) -> None:
    async def missing_protections() -> list[str]:
        return missing

    app = cast(Parts, SimpleNamespace(missing_protections=missing_protections))
    assert (await _jail(app)).startswith(expected)
