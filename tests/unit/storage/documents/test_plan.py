from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.corpus import Document
from core.domain.ingest_report import Failure
from storage.documents.files import Listing, SourceFile, stamp_of
from storage.documents.pipeline import Plan, build_plan, is_under
from tests.builders import build_document

ROOT = Path("/nowhere")
FILE = SourceFile(path="a.md", size=4, modified_ns=1000)
STORED = build_document("a.md", stamp=stamp_of(FILE, ROOT, ()))


def plan(
    *files: SourceFile, stored: tuple[Document, ...] = (), unlisted: tuple[str, ...] = (), **options: object
) -> Plan:
    listing = Listing(files=list(files), unlisted=list(unlisted))
    return build_plan(listing, stored, ROOT, **{"only": None, "force": False, **options})


def test_a_new_file_is_read() -> None:
    assert plan(FILE).to_read == [(FILE, None)]


def test_a_file_with_its_stored_stamp_is_not_read() -> None:
    made = plan(FILE, stored=(STORED,))

    assert (made.unchanged, made.to_read, made.has_work) == (1, [], False)


@pytest.mark.parametrize("change", [{"size": 5}, {"modified_ns": 999}])
def test_a_file_whose_size_or_time_changed_is_read(change: dict[str, int]) -> None:
    changed = replace(FILE, **change)

    assert plan(changed, stored=(STORED,)).to_read == [(changed, STORED)]


def test_a_document_whose_stamp_is_open_is_read() -> None:
    unfinished = replace(STORED, stamp=None)

    assert plan(FILE, stored=(unfinished,)).to_read == [(FILE, unfinished)]


def test_force_reads_unchanged_files() -> None:
    assert plan(FILE, stored=(STORED,), force=True).to_read == [(FILE, STORED)]


def test_a_failure_is_reported_again_and_not_tried_again_while_the_file_is_unchanged() -> None:
    failed = replace(STORED, failed_reason="it is broken")

    made = plan(FILE, stored=(failed,))

    assert made.still_failed == [Failure(path="a.md", reason="it is broken")]
    assert not made.has_work
    assert made.unchanged == 0


def test_a_failure_for_a_reason_that_is_gone_is_tried_again() -> None:
    refused = replace(STORED, revision=None, failed_reason="scanned")

    assert plan(FILE, stored=(refused,), retried={"scanned"}).to_read == [(FILE, refused)]
    assert plan(FILE, stored=(refused,), retried={"encrypted"}).to_read == []


def test_vanished_files_are_forgotten_only_where_was_looked() -> None:
    gone, elsewhere = build_document("sub/gone.md"), build_document("other/x.md")
    hidden = build_document("sub/locked/y.md")

    made = plan(stored=(gone, elsewhere, hidden), only=["sub"], unlisted=("sub/locked",))

    assert made.vanished == [gone]


def test_nothing_is_forgotten_when_the_root_could_not_be_opened() -> None:
    assert plan(stored=(STORED,), unlisted=("",)).vanished == []


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [("a/b.md", "a", True), ("a", "a", True), ("ab/c.md", "a", False), ("x", "", True), ("x", "x/y", False)],
)
def test_being_under_a_folder_goes_by_whole_names(path: str, folder: str, expected: bool) -> None:
    assert is_under(path, [folder]) is expected


def test_a_forced_kind_reads_again_what_failed_or_was_read_as_another() -> None:
    failed = replace(STORED, failed_reason="no reader for .log")

    assert plan(FILE, stored=(STORED,), kind=STORED.kind).unchanged == 1
    assert plan(FILE, stored=(STORED,), kind="pdf").to_read == [(FILE, STORED)]
    assert plan(FILE, stored=(failed,), kind=STORED.kind).to_read == [(FILE, failed)]
