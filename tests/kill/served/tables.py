"""What the database holds, read with nothing of Footnote in between.

Always from a copy of its files: looking at the files themselves would repair what a kill left, before the service can.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.kill.served.counting import Said

DATABASE = "footnote.db"
LOG = "footnote.db-wal"

_RUNNING = "SELECT seq, owner FROM inbox WHERE status = 'running'"
_CUT_OFF = "SELECT id, completed_at FROM job WHERE kind = 'request' AND status = 'cancelled'"
_OPEN_ENTRIES = "SELECT count(*) FROM inbox WHERE finished_at IS NULL"
_UNORDERED = """
SELECT count(*) FROM inbox a JOIN inbox b ON a.thread = b.thread AND a.seq < b.seq AND a.finished_at > b.finished_at
"""
_HISTORY = """
SELECT c.thread, m.role, m.content, m.status, m.job_id FROM message m JOIN conversation c ON c.id = m.conversation_id
WHERE m.role <> 'tool_result' ORDER BY c.id, m.sequence
"""
_TREES = "SELECT count(*) FROM job WHERE parent_id IS NULL AND kind = 'request'"
_WHOLE_TREES = """
SELECT count(*) FROM job r JOIN job p ON p.parent_id = r.id AND p.kind = 'post' AND p.status = 'done'
WHERE r.parent_id IS NULL AND r.kind = 'request' AND r.status IN ('done', 'failed')
"""
_OPEN_JOBS = "SELECT count(*) FROM job WHERE status NOT IN ('done', 'failed', 'cancelled')"
_ASKED = "SELECT id, json_extract(input, '$.question') FROM job WHERE kind = 'request'"

_COUNTS = {
    "open_entries": _OPEN_ENTRIES,
    "unordered": _UNORDERED,
    "trees": _TREES,
    "whole_trees": _WHOLE_TREES,
    "open_jobs": _OPEN_JOBS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What was under way when a process ended: claims it died with, and answers that its clean stop broke off."""

    running: frozenset[tuple[object, ...]]
    cut_off: frozenset[tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Everything at the end."""

    threads: dict[str, list[Said]]  # what was said, by thread
    asked: dict[str, str]  # by job: the question that an answer was made for
    statuses: dict[str, int]  # how many answers, by status
    open_entries: int
    unordered: int  # pairs of inbox entries of a thread that ended in the wrong order
    trees: int  # job trees
    whole_trees: int  # those of a request that has ended, with one post under it that is done
    open_jobs: int
    is_sound: bool  # by SQLite's own check of the file

    def complaints(self, questions: int) -> list[str]:
        """What is wrong beside the threads themselves, when so many questions were accepted."""
        found = {
            "inbox entries are open": self.open_entries,
            "pairs of inbox entries ended in the wrong order": self.unordered,
            f"job trees for {questions} questions": self.trees if self.trees != questions else 0,
            "job trees are not whole": questions - self.whole_trees,
            "jobs have not ended": self.open_jobs,
            "database file is damaged": int(not self.is_sound),
        }
        return [f"{count} {what}" for what, count in found.items() if count]


def read_moment(data_dir: Path) -> Moment:
    with _copied(data_dir) as database:
        return Moment(running=frozenset(database.execute(_RUNNING)), cut_off=frozenset(database.execute(_CUT_OFF)))


def read_records(data_dir: Path) -> Records:
    with _copied(data_dir) as database:
        asked = dict(database.execute(_ASKED).fetchall())
        threads: dict[str, list[Said]] = {}
        statuses: dict[str, int] = {}
        for thread, role, content, status, job in database.execute(_HISTORY):
            told = threads.setdefault(thread, [])
            if role == "user":
                told.append(Said(content, is_answer=False))
                continue
            told.append(to_answer(told, asked.get(job)))
            statuses[status] = statuses.get(status, 0) + 1
        return Records(
            threads=threads,
            asked=asked,
            statuses=statuses,
            **{name: database.execute(query).fetchone()[0] for name, query in _COUNTS.items()},
            is_sound=database.execute("PRAGMA integrity_check").fetchall() == [("ok",)],
        )


def to_answer(told: list[Said], question: str | None) -> Said:
    """What the bot said: to the question its job names; one without a job (an error) to the question before it."""
    return Said(question or (told[-1].question if told else "nothing"), is_answer=True)


@contextmanager
def _copied(data_dir: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory() as folder:
        for name in (DATABASE, LOG):
            if (data_dir / name).exists():
                shutil.copy(data_dir / name, folder)
        with closing(sqlite3.connect(Path(folder) / DATABASE)) as database:
            yield database
