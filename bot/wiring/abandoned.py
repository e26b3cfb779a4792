"""The composition root's part for runs that a killed process left: the places that runs of each kind are alone in."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from core.domain.jobs import JobKind
from core.ports import Clock
from core.ports.service import JobRepository
from core.work.orphaned_jobs import AbandonedRuns, Runs

# Places of storage.database.process_lock, one process at a time in each.
SYNC_PLACE = "sync"
EXTRACTION_PLACE = "extraction"
MODEL_EXTRACTION_PLACE = "extraction-by-model"

IfFree = Callable[[str], AbstractAsyncContextManager[bool]]


def build_abandoned(jobs: JobRepository, clock: Clock, if_free: IfFree) -> AbandonedRuns:
    """`if_free` enters a place where nobody is in it."""

    def runs() -> Sequence[Runs]:
        from storage.documents.extraction.by_model import JOB_NAME as BY_MODEL
        from storage.documents.extraction.by_rules import JOB_NAME as BY_RULES

        return (
            Runs(kind=JobKind.SYNC, place_if_free=lambda: if_free(SYNC_PLACE)),
            Runs(kind=JobKind.EXTRACTION, name=BY_RULES, place_if_free=lambda: if_free(EXTRACTION_PLACE)),
            Runs(kind=JobKind.EXTRACTION, name=BY_MODEL, place_if_free=lambda: if_free(MODEL_EXTRACTION_PLACE)),
        )

    return AbandonedRuns(jobs, clock, runs)
