"""Answers that people keep: pages of the workspace's own document, citable by later questions."""

from dataclasses import dataclass
from pathlib import Path

from core.attachments import Ingest
from core.domain.corpus import Document
from core.ports import Clock, CorpusRepository

KEPT_SOURCE = "kept answers"  # the source of a workspace that holds them
KEPT_TITLE = "Kept answers"  # its one document


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where an answer is kept now."""

    document: Document
    title: str  # of its page: the question
    replaced: bool  # the message had been kept before


class KeptAnswers:
    """The kept answers of all workspaces, a folder each under `folder`."""

    def __init__(self, *, corpus: CorpusRepository, ingest: Ingest, folder: Path, clock: Clock) -> None:
        self._corpus = corpus
        self._ingest = ingest
        self._folder = folder
        self._clock = clock

    async def keep(self, workspace: str, *, question: str, answer: str, link: str, by: str) -> Kept:
        """Keep an answer; `link` is the web address of its message, `by` the name of who keeps it.

        The same link again replaces what was kept. It can be cited when this returns. Raises BadInput where there is
        nothing to keep, or the link is no web address; ReadError, StorageError and ModelMissing when it can't be read.
        """
        raise NotImplementedError
