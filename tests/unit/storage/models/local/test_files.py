import hashlib
import json
from pathlib import Path

import pytest

from core.errors import ModelMissing
from storage.models.local import files
from storage.models.local.files import (
    BGE_QUERY_PREFIX,
    NEEDED_FILES,
    LocalModel,
    check_digests,
    find_embedding_model,
    find_reranker,
    packaged_folder,
    support_model,
)


def model_folder(path: Path, config: dict[str, object] | None = None) -> Path:
    path.mkdir()
    for name in NEEDED_FILES:
        (path / name).write_text("{}")
    if config is not None:
        (path / "config.json").write_text(json.dumps(config))
    return path


@pytest.fixture
def no_carrier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CARRIER", "no_such_package")


def test_without_a_setting_the_packaged_model_is_used() -> None:
    model = find_embedding_model(None)

    assert (model.name, model.dimensions, model.query_prefix) == ("bge-small-en-int8", 384, BGE_QUERY_PREFIX)
    assert model.folder == packaged_folder("bge_small_en")


def test_the_packaged_files_are_the_ones_expected() -> None:
    model = find_embedding_model(None)

    check_digests(model)
    assert "model.onnx" in model.digests


@pytest.mark.usefixtures("no_carrier")
def test_without_the_package_bge_small_is_asked_for_by_name() -> None:
    model = find_embedding_model(None)

    assert (model.name, model.folder, model.query_prefix) == ("BAAI/bge-small-en-v1.5", None, BGE_QUERY_PREFIX)


@pytest.mark.usefixtures("no_carrier")
def test_our_own_cross_encoders_need_no_package() -> None:
    for model in (find_reranker(None), support_model()):
        assert model.folder == files.FITTED_FOLDER
        assert all((model.folder / name).is_file() for name in (model.file, *NEEDED_FILES[1:]))


def test_a_carrier_that_lacks_the_folder_counts_as_none() -> None:
    assert packaged_folder("no_such_model") is None


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("BAAI/bge-base-en-v1.5", BGE_QUERY_PREFIX, ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
    ],
)
def test_a_name_that_is_no_folder_is_left_to_fastembed_with_its_prefixes(name: str, query: str, passage: str) -> None:
    model = find_embedding_model(name)

    assert (model.name, model.folder, model.query_prefix, model.passage_prefix) == (name, None, query, passage)
    assert find_reranker(name) == LocalModel(name=name)


def test_a_folder_is_read_for_its_dimensions_and_pooling(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "e5-small", {"hidden_size": 12})
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')

    model = find_embedding_model(str(folder))

    assert (model.name, model.folder, model.dimensions) == ("e5-small-2", folder, 12)
    assert (model.pools_by_mean, model.query_prefix) == (True, "query: ")


def test_a_folder_without_pooling_notes_pools_by_its_first_token(tmp_path: Path) -> None:
    assert find_embedding_model(str(model_folder(tmp_path / "m", {"hidden_size": 12}))).pools_by_mean is False


def test_a_folder_of_a_cross_encoder_needs_no_dimensions(tmp_path: Path) -> None:
    assert find_reranker(str(model_folder(tmp_path / "m"))).folder == tmp_path / "m"


@pytest.mark.parametrize("find", [find_embedding_model, find_reranker])
def test_a_folder_that_lacks_a_file_is_named_with_the_file(tmp_path: Path, find: object) -> None:
    folder = model_folder(tmp_path / "m")
    (folder / "tokenizer.json").unlink()

    with pytest.raises(ModelMissing, match=r"lacks tokenizer.json"):
        find(str(folder))


@pytest.mark.parametrize("config", [None, {}, {"hidden_size": "many"}])
def test_a_folder_without_a_size_of_vectors_is_refused(tmp_path: Path, config: dict[str, object] | None) -> None:
    with pytest.raises(ModelMissing, match="hidden_size"):
        find_embedding_model(str(model_folder(tmp_path / "m", config)))


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_config_that_is_no_json_object_is_refused(tmp_path: Path, content: str) -> None:
    folder = model_folder(tmp_path / "m")
    (folder / "config.json").write_text(content)

    with pytest.raises(ModelMissing):
        find_embedding_model(str(folder))


def test_a_changed_or_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"good")
    model = LocalModel(name="m", folder=tmp_path, digests={"model.onnx": hashlib.sha256(b"good").hexdigest()})
    check_digests(model)

    (tmp_path / "model.onnx").write_bytes(b"evil")
    with pytest.raises(ModelMissing, match=r"model.onnx .* is not the file expected"):
        check_digests(model)

    (tmp_path / "model.onnx").unlink()
    with pytest.raises(ModelMissing, match="can't be read"):
        check_digests(model)


def test_a_model_without_a_folder_has_nothing_to_check() -> None:
    assert check_digests(LocalModel(name="m", digests={"x": "y"})) is None
