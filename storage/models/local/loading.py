"""Models into memory, through fastembed's own classes.

Importing fastembed takes about half a second, so it is done here, when a model is needed. Half of that is
huggingface_hub with its HTTP clients, which fastembed imports whether or not it downloads anything.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from core.errors import ModelMissing
from storage.models.local.files import FITTED_FOLDER, LocalModel, check_digests

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

TURN_TOKENS = 128  # of a message and those before it
# Of ONNX Runtime. A processor that has only AVX2 cuts off sums of int8 products beyond 16 bits, which moves a logit by
# .46 (standard deviation of 200 pairs), and some decisions. So it counts exactly, for 8 % more time. Processors that
# multiply int8 natively do so anyway, and would take 75 % more time with this option.
EXACT_PRODUCTS = ("session.x64quantprecision", "1")
SUMS_FILE = FITTED_FOLDER / "sums.onnx"  # eight products of 255 and 127, added
SUM = 8 * 255 * 127
NOWHERE = "unused/unused"  # fastembed wants a source to download from; files on disk have none

_T = TypeVar("_T")
# fastembed keeps its list of custom models per process, and refuses a name twice.
_registering = Lock()
# Its modules import each other in a circle: two threads that import them at once can wait for each other.
_importing = Lock()


def load_text_model(model: LocalModel, cache_dir: Path | None = None) -> "TextEmbedding":
    """Return an embedding model of one thread, ready to run. Raises ModelMissing."""
    _import_fastembed()
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    def register(name: str) -> None:
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN if model.pools_by_mean else PoolingType.CLS,
            normalization=True,
            sources=ModelSource(hf=NOWHERE),
            dim=model.dimensions or 0,
            model_file=model.file,
        )

    return cast("TextEmbedding", _load(TextEmbedding, model, register, cache_dir))


def load_cross_encoder(model: LocalModel, cache_dir: Path | None = None) -> "TextCrossEncoder":
    """Return a cross-encoder of one thread, ready to run. Raises ModelMissing."""
    _import_fastembed()
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    def register(name: str) -> None:
        TextCrossEncoder.add_custom_model(model=name, sources=ModelSource(hf=NOWHERE), model_file=model.file)

    return cast("TextCrossEncoder", _load(TextCrossEncoder, model, register, cache_dir))


def load_turn_model(file: Path) -> "tuple[InferenceSession, Tokenizer]":
    """Return the turn model with its tokenizer, for one thread. Raises ModelMissing."""
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    def load() -> tuple[InferenceSession, Tokenizer]:
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        count_exactly(options)
        tokenizer = Tokenizer.from_file(str(file.with_name("tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(TURN_TOKENS)
        return InferenceSession(str(file), options), tokenizer

    return _guarded(file.stem, load)


def text_model_dimensions(name: str) -> int:
    """Length of the vectors of a model that fastembed knows by name. Raises ModelMissing for other names."""
    _import_fastembed()
    from fastembed import TextEmbedding

    try:
        return int(TextEmbedding.get_embedding_size(name))
    except ValueError as error:
        raise ModelMissing(_advice(name, "it is no folder, and fastembed knows no such model")) from error


def _load(kind: Any, model: LocalModel, register: Callable[[str], None], cache_dir: Path | None) -> Any:
    check_digests(model)
    options = {"threads": 1, "cache_dir": None if cache_dir is None else str(cache_dir)}
    if model.folder is None:
        from loguru import logger

        logger.disable("fastembed")  # its log of every download attempt: the outcome is in our own error
        return _guarded(model.name, lambda: kind(model.name, **options))
    folder = str(model.folder.resolve())
    name = f"local/{sha256(f'{folder}/{model.file}'.encode()).hexdigest()[:16]}"
    with _registering:
        if all(known["model"] != name for known in kind.list_supported_models()):
            register(name)
    return _guarded(model.name, lambda: kind(name, specific_model_path=folder, **options))


def count_exactly(options: "SessionOptions") -> None:
    """Let a session compute alike on every processor."""
    if cuts_sums_off():
        options.add_session_config_entry(*EXACT_PRODUCTS)


@cache
def cuts_sums_off() -> bool:
    """Tell whether this processor computes sums of int8 products wrongly, by one such sum (3 ms)."""
    import numpy as np
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    [[[found]]] = InferenceSession(str(SUMS_FILE), options).run(None, {"a": np.full((1, 8), 255, np.uint8)})
    return bool(found != SUM)


def _import_fastembed() -> None:
    """Import all that is needed of fastembed, in one thread."""
    with _importing:
        _let_fastembed_count_exactly()


@cache
def _let_fastembed_count_exactly() -> None:
    """Let `count_exactly` see the options of fastembed's sessions, which it has no parameter for."""
    import_module("fastembed.rerank.cross_encoder")  # with all other modules of the package
    from fastembed.common.onnx_model import OnnxModel

    add_exposed = OnnxModel.add_extra_session_options

    def add_all(session_options: "SessionOptions", extra_options: dict[str, Any]) -> None:
        add_exposed(session_options, extra_options)
        count_exactly(session_options)

    cast("Any", OnnxModel).add_extra_session_options = staticmethod(add_all)


def _guarded(name: str, load: Callable[[], _T]) -> _T:
    """Return the result of `load`; raise its errors as ModelMissing."""
    from onnxruntime.capi import onnxruntime_pybind11_state as onnx

    failures = (onnx.Fail, onnx.InvalidProtobuf, onnx.InvalidGraph, onnx.NoSuchFile)
    try:
        return load()
    except Exception as error:
        # The tokenizers library raises plain Exception for a bad tokenizer.json.
        if not isinstance(error, (ValueError, OSError, RuntimeError, *failures)) and type(error) is not Exception:
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelMissing(_advice(name, reason)) from error


def _advice(name: str, reason: str) -> str:
    return (
        f"The model {name!r} can't be loaded ({reason}): name a folder with its files under [models]"
        " in the configuration, or leave the setting out to use the packaged one."
    )
