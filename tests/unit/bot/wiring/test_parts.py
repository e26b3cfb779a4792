"""How the configuration turns into a run: its limits, and whether scans are recognised."""

from pathlib import Path

import pytest

from bot.config import Config
from bot.config.sections import IngestConfig
from bot.wiring.parts import open_parts, to_read_limits
from core.domain.read_limits import MEBIBYTE
from storage.documents.pdf import recognition
from storage.documents.pdf.recognition import UNRECOGNISED
from storage.documents.sandbox import READERS, RECOGNISING_READERS


@pytest.mark.parametrize(
    ("ocr", "installed", "readers", "retried"),
    [
        (True, True, RECOGNISING_READERS, {UNRECOGNISED}),
        (True, False, READERS, ()),
        (False, True, READERS, ()),
    ],
)
async def test_scans_are_recognised_and_tried_again_where_that_is_on_and_installed(
    ocr: bool, installed: bool, readers: str, retried: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(recognition, "is_installed", lambda: installed)
    async with open_parts(Config(data_dir=tmp_path, ingest=IngestConfig(ocr=ocr))) as parts:
        ingestor = parts._build_ingestor()
    assert ingestor.sandbox._functions[0] == readers
    assert ingestor.retried == retried


def test_limits_are_those_of_the_configuration() -> None:
    limits = to_read_limits(
        IngestConfig(parse_seconds=7, parse_memory_mb=900, max_file_mb=3, max_pages=40, max_ocr_pages=5)
    )
    assert (limits.seconds, limits.memory_bytes, limits.file_bytes) == (7, 900 * MEBIBYTE, 3 * MEBIBYTE)
    assert limits.wall_seconds == 70
    assert (limits.pages, limits.recognised_pages) == (40, 5)
