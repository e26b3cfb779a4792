"""What the doctor says of scans, files and readers; other checks need the parts themselves, and are tested there."""

from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bot.config import Config
from bot.service.doctor import _jail, _scans, _source_readers, run_other_models
from bot.wiring.parts import Parts
from core.answering.support.check import SupportCheck
from core.domain.readers import MEMBERS_ONLY
from core.domain.sources import FolderOrigin, SourceSpec
from core.errors import InvalidState, ModelMissing
from storage.models.local.encoders import CrossEncoderJudge, CrossEncoderSupport
from storage.models.local.files import find_reranker, support_model
from storage.models.local.turns import LocalTurnModel
from tests.builders import build_source
from tests.stores import Stores


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


async def test_it_runs_the_models_that_judge_check_and_read_messages(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        judge = CrossEncoderJudge(find_reranker(None))
        support = CrossEncoderSupport(support_model())
        turns = LocalTurnModel()
        missing = LocalTurnModel(tmp_path / "turns.onnx")
        for model in (judge, support, turns, missing):
            stack.push_async_callback(model.close)
        app = cast(Parts, SimpleNamespace(judge=judge, support=SupportCheck(support), turn_model=turns))
        assert (await run_other_models(app)).endswith("run")

        app.turn_model = missing
        with pytest.raises(ModelMissing, match="turns"):
            await run_other_models(app)


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


async def test_it_fails_for_sources_whose_readers_nobody_chose_and_names_older_ones() -> None:
    stores = Stores()
    specs = [SourceSpec(name=name, workspace="local", origin=FolderOrigin(path=Path(name))) for name in ("old", "new")]
    app = cast(Parts, SimpleNamespace(syncs=SimpleNamespace(specs=specs), stores=stores))
    await stores.corpus.save_source(build_source("old", readers=MEMBERS_ONLY))

    for readers in (None, frozenset[str]()):  # never synced, and synced without readers
        if readers is not None:
            await stores.corpus.save_source(build_source("new", readers=readers))
        with pytest.raises(InvalidState, match="Nobody may read 'new' in chats yet"):
            await _source_readers(app)

    app.syncs.specs.pop()
    assert await _source_readers(app) == "not in the configuration, as before: 'old' is for all members, without guests"
