"""The composition root's part for models, and for the index that embeds with them: each is loaded at its first use."""

import asyncio
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from bot.wiring.stores import StoreParts
from core.errors import InvalidState

if TYPE_CHECKING:
    from bot.wiring.providers import Providers
    from core.ports import ChatProvider, SearchIndex
    from storage.database.repositories.extracts import SqlReadingRepository
    from storage.models.local.cross_encoder import CrossEncoderJudge
    from storage.models.local.embeddings import LocalEmbedder
    from storage.models.local.ranking import VectorSentenceRanker

CAPABILITIES_FILE = "capabilities.json"  # what was found out about models
MODELS = "models"  # what fastembed downloads, where a configured model is not packaged


class ModelParts(StoreParts):
    """What is opened closes with `_stack`."""

    _stack: AsyncExitStack

    @cached_property
    def readings(self) -> "SqlReadingRepository":
        """What models said of documents when they were read, and what that cost."""
        from storage.database.repositories.extracts import SqlReadingRepository

        return SqlReadingRepository(self.database)

    @cached_property
    def embedder(self) -> "LocalEmbedder":
        """Loads its model when it first embeds. Raises ModelMissing."""
        from storage.models.local.embeddings import LocalEmbedder
        from storage.models.local.files import find_embedding_model

        embedder = LocalEmbedder(find_embedding_model(self.config.models.embedding), self.config.data_path / MODELS)
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def judge(self) -> "CrossEncoderJudge":
        """Loads its model when it first judges. Raises ModelMissing."""
        from storage.models.local.cross_encoder import CrossEncoderJudge
        from storage.models.local.files import find_reranker

        judge = CrossEncoderJudge(find_reranker(self.config.models.reranker), self.config.data_path / MODELS)
        self._stack.push_async_callback(judge.close)
        return judge

    @cached_property
    def index(self) -> "SearchIndex":
        """Embedded in the data directory, or a Qdrant server where there is a URL; opens at its first use."""
        from storage.index.index import Reranker
        from storage.index.opening import embedded_index, server_index

        settings, key = self.config.index, self.config.index_key()
        reranker = Reranker(self.corpus, self.judge) if settings.rerank else None
        if settings.url:
            secret = key.get_secret_value() if key else None
            index = server_index(settings.url, settings.collection, self.embedder, secret, reranker)
        else:
            index = embedded_index(self.config.data_path, self.embedder, reranker)
        self._stack.push_async_callback(index.close)
        return index

    async def clear_index(self) -> None:
        """Throw the embedded index away, whatever model it was made with; before it is opened.

        Raises InvalidState for a Qdrant server's, StorageError while another process has it.
        """
        from storage.index.opening import INDEX_FOLDER, clear_folder

        if self.config.index.url:
            raise InvalidState(
                "The search index is on a Qdrant server, where others may use it: name a new [index] collection, and "
                "build that one with `footnote db reindex`."
            )
        await asyncio.to_thread(clear_folder, self.config.data_path / INDEX_FOLDER)

    @cached_property
    def ranker(self) -> "VectorSentenceRanker":
        from storage.models.local.ranking import VectorSentenceRanker

        return VectorSentenceRanker(self.embedder)

    @cached_property
    def providers(self) -> "Providers":
        from bot.wiring.providers import Providers
        from storage.models.capabilities import CapabilityFile

        memory = CapabilityFile(self.config.data_path / CAPABILITIES_FILE, self.clock)
        return Providers(self.config, memory, self.clock, self._stack, lambda: self.ranker, lambda: self.judge)

    @cached_property
    def provider(self) -> "ChatProvider":
        """Who answers in the configured workspace."""
        return self.providers.of(self.config.workspace)

    def provider_for(self, workspace: str, model: str | None) -> "ChatProvider":
        """Who answers a question of a workspace that may ask for a model. Raises UnsupportedFeature."""
        asked = self.providers.of(workspace, model)
        return self.provider if asked is self.providers.of(self.config.workspace) else asked
