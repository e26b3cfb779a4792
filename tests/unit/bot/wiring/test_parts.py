"""How the configuration turns into a run: whether scans are recognised."""

from pathlib import Path

import pytest

from bot.config import Config
from bot.config.sections import IngestConfig
from bot.wiring.parts import open_parts
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
