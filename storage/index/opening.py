"""Which engine serves an index: a server where there is a URL, else Qdrant Edge, else qdrant-client's local mode.

Engines are imported when one is opened: qdrant-client alone takes half a second, which an embedded index need not pay.
"""

import importlib.util
import logging
from pathlib import Path

from storage.index.folder import FORMAT, IndexFolder, IndexMeta
from storage.index.index import Engine, QdrantIndex
from storage.models.local.embeddings import Embedder

INDEX_FOLDER = "index"  # in the data directory

_log = logging.getLogger(__name__)


def embedded_index(data_dir: Path, embedder: Embedder) -> QdrantIndex:
    """The index in the data directory; opened, and made, at its first use."""
    return QdrantIndex(lambda: _open_folder(data_dir / INDEX_FOLDER, index_meta(embedder)), embedder)


def server_index(url: str, collection: str, embedder: Embedder, api_key: str | None = None) -> QdrantIndex:
    """The index on a Qdrant server or cluster; connected to at its first use."""

    def connect() -> Engine:
        from storage.index.server import open_server

        return open_server(url, collection, index_meta(embedder), api_key)

    return QdrantIndex(connect, embedder)


def clear_folder(path: Path) -> None:
    """Delete what an embedded index holds. StorageError while somebody has it open."""
    IndexFolder(path).clear()


def index_meta(embedder: Embedder) -> IndexMeta:
    return IndexMeta(format=FORMAT, model=embedder.name, dimensions=embedder.dimensions)


def _open_folder(path: Path, meta: IndexMeta) -> Engine:
    if importlib.util.find_spec("qdrant_edge") is not None:
        from storage.index.edge import open_edge

        return open_edge(path, meta)
    from storage.index.server import open_local

    _log.warning(
        "Qdrant Edge has no build for this platform: searching through qdrant-client's local mode, "
        "which gets slow beyond about 1,000 passages. Set [index] url to use a Qdrant server instead."
    )
    return open_local(path, meta)
