"""The composition root's part for ingestion: a pipeline with the configured limits. Only bot/wiring.py uses it."""

from typing import TYPE_CHECKING

from bot.config import IngestConfig
from core.ingestion.limits import MEBIBYTE, ReadLimits
from core.ports import Clock, ConversationRepository, CorpusRepository, SearchIndex

if TYPE_CHECKING:
    from core.ingestion.pipeline import Ingestor


def build_ingestor(
    settings: IngestConfig,
    *,
    corpus: CorpusRepository,
    index: SearchIndex,
    conversations: ConversationRepository,
    clock: Clock,
) -> "Ingestor":
    """One for each run: its child process is not for concurrent use."""
    from core.ingestion.pipeline import Ingestor
    from core.ingestion.sandbox import Sandbox

    limits = to_read_limits(settings)
    return Ingestor(
        corpus=corpus,
        index=index,
        conversations=conversations,
        clock=clock,
        sandbox=Sandbox(limits),
        limits=limits,
    )


def to_read_limits(settings: IngestConfig) -> ReadLimits:
    """The configured limits on reading one file."""
    return ReadLimits(
        seconds=settings.parse_seconds,
        memory_bytes=settings.parse_memory_mb * MEBIBYTE,
        file_bytes=settings.max_file_mb * MEBIBYTE,
        pages=settings.max_pages,
    )
