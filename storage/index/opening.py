"""The choice of engine: a server if a URL is configured, else Qdrant Edge, else the local mode of qdrant-client.

An engine is imported when it is opened: an embedded index doesn't need qdrant-client, which takes half a second.
"""

import importlib.util
import logging
from pathlib import Path

from storage.index.engine import Engine
from storage.index.folder import FORMAT, IndexFolder, IndexMeta
from storage.index.index import QdrantIndex
from storage.index.reranking import Reranker
from storage.models.local.encoders import Embedder

INDEX_FOLDER = "index"  # in the data directory

_log = logging.getLogger(__name__)


def embedded_index(data_dir: Path, embedder: Embedder, reranker: Reranker | None = None) -> QdrantIndex:
    """Return the index in the data directory; its first use opens or creates it."""
    return QdrantIndex(lambda: _open_folder(data_dir / INDEX_FOLDER, index_meta(embedder)), embedder, reranker)


def server_index(
    url: str, collection: str, embedder: Embedder, api_key: str | None = None, reranker: Reranker | None = None
) -> QdrantIndex:
    """Return the index on a Qdrant server or cluster; its first use connects."""

    def connect() -> Engine:
        from storage.index.server import open_server

        return open_server(url, collection, index_meta(embedder), api_key)

    return QdrantIndex(connect, embedder, reranker)


def clear_folder(path: Path) -> None:
    """Delete the contents of an embedded index. Raises StorageError while it is in use."""
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
