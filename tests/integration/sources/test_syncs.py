"""Syncs: folders and files where they stand, mirrors of what is elsewhere, and what a failure leaves."""

import asyncio
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.domain.ingest_report import IngestProgress
from core.domain.jobs import JobKind, JobStatus
from core.domain.readers import MEMBERS_ONLY
from core.domain.sources import FilesOrigin, FolderOrigin, GitOrigin, SourceSpec, SyncResult
from core.errors import NotFound, SourceUnavailable
from core.knowledge.sources import add_source
from tests.integration.ingest_place import counts
from tests.integration.sources.place import FilesFetcher, SyncPlace


@pytest.fixture
def place(tmp_path: Path) -> SyncPlace:
    return SyncPlace(tmp_path)


def folder_spec(path: Path, name: str = "notes", **options: Any) -> SourceSpec:
    return replace(SourceSpec(name=name, workspace="local", origin=FolderOrigin(path=path)), **options)


def git_spec(name: str = "wiki") -> SourceSpec:
    origin = GitOrigin(url="https://git.example.org/wiki.git")
    return SourceSpec(name=name, workspace="local", origin=origin, readers=MEMBERS_ONLY)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def test_a_folder_is_read_where_it_stands_as_its_globs_say(place: SyncPlace, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    for path in ("a.txt", "sub/b.txt", "drafts/c.txt", "d.log"):
        write(root / path, f"Text of {path}.")
    place.specs = [folder_spec(root, include=("*.txt",), exclude=("drafts/**",))]

    [done] = await place.syncs.sync("local")

    assert done.is_good and done.report is not None
    assert counts(done.report) == (2, 0, 0, 0, 0)
    assert list(await place.texts("notes")) == ["a.txt", "sub/b.txt"]
    place.specs = [folder_spec(root, include=("*.txt",), exclude=("sub/",))]
    [done] = await place.syncs.sync("local")
    assert done.report is not None and counts(done.report) == (1, 0, 1, 1, 0)


async def test_a_folder_that_was_ingested_by_hand_keeps_its_documents(place: SyncPlace, tmp_path: Path) -> None:
    write(tmp_path / "notes" / "a.txt", "Words.")
    by_hand = await add_source(place.corpus, "local", tmp_path / "notes", "by hand")
    place.specs = [folder_spec(tmp_path / "notes", "configured")]
    await place.syncs.sync("local")

    assert [source.name for source in await place.corpus.list_sources("local")] == ["configured"]
    assert (await place.corpus.list_sources("local"))[0].id == by_hand.source.id


async def test_files_are_a_source_of_just_those(place: SyncPlace, tmp_path: Path) -> None:
    first, second = write(tmp_path / "x/a.txt", "One."), write(tmp_path / "y/b.txt", "Two.")
    write(tmp_path / "x/other.txt", "Not mine.")
    origin = FilesOrigin(paths=(first, second))
    both = SourceSpec(name="papers", workspace="local", origin=origin, readers=MEMBERS_ONLY)
    place.specs = [both]
    await place.syncs.sync("local")
    assert await place.texts("papers") == {"x/a.txt": "One.", "y/b.txt": "Two."}

    second.unlink()
    [done] = await place.syncs.sync("local")

    assert await place.texts("papers") == {"x/a.txt": "One."}
    assert done.state.warnings == (f"{second} is not there: put it back, or take it out of the source",)
    added = await add_source(place.corpus, "local", tmp_path / "x/other.txt")
    assert added.source.name != "papers"


async def test_what_is_elsewhere_is_fetched_into_a_mirror_and_known_by_its_links(place: SyncPlace) -> None:
    place.specs = [git_spec()]
    place.fetchers["wiki"] = fetcher = FilesFetcher({"a.txt": "One."}, {"a.txt": "https://wiki.example.org/a"})
    fetcher.warnings = ("One page answered 500.",)
    [done] = await place.syncs.sync("local")

    assert await place.texts("wiki") == {"a.txt": "One."}
    assert await place.links("wiki") == {"a.txt": "https://wiki.example.org/a"}
    assert done.state.warnings == ("One page answered 500.",)
    assert fetcher.forced == [False]


async def test_a_failing_source_keeps_its_documents_and_says_since_when(place: SyncPlace, tmp_path: Path) -> None:
    write(tmp_path / "notes/a.txt", "Words.")
    place.specs = [git_spec(), folder_spec(tmp_path / "notes")]
    place.fetchers["wiki"] = fetcher = FilesFetcher({"a.txt": "One."})
    await place.syncs.sync("local")
    good = place.clock.now()
    place.clock.advance(3600)
    since = place.clock.now()
    fetcher.error = SourceUnavailable("The server answered 503.")

    for _ in range(2):
        failed, other = await place.syncs.sync("local")
        assert (failed.is_good, other.is_good) == (False, True)
        assert (failed.state.error, failed.state.failing_since) == ("The server answered 503.", since)
        assert failed.state.good_at == good
        place.clock.advance(3600)

    assert await place.texts("wiki") == {"a.txt": "One."}
    fetcher.error = None
    mended, _ = await place.syncs.sync("local", ["wiki", "notes"])
    assert (mended.state.failing_since, mended.state.error) == (None, None)


async def test_an_emptied_folder_is_a_failure_until_it_is_forced(place: SyncPlace, tmp_path: Path) -> None:
    file = write(tmp_path / "notes/a.txt", "Words.")
    place.specs = [folder_spec(tmp_path / "notes")]
    await place.syncs.sync("local")
    file.unlink()

    [done] = await place.syncs.sync("local")
    assert "not mounted" in (done.state.error or "") and await place.texts("notes") != {}
    [done] = await place.syncs.sync("local", force=True)
    assert done.is_good and await place.texts("notes") == {}


async def test_a_missing_folder_is_a_failure(place: SyncPlace, tmp_path: Path) -> None:
    place.specs = [folder_spec(tmp_path / "nowhere")]
    [done] = await place.syncs.sync("local")

    assert done.state.result is SyncResult.FAILED and "is not a folder" in (done.state.error or "")


async def test_a_name_that_another_source_has_is_a_failure_with_the_next_step(place: SyncPlace, tmp_path: Path) -> None:
    write(tmp_path / "notes/a.txt", "Words.")
    await add_source(place.corpus, "local", tmp_path / "notes", "wiki")
    place.specs = [git_spec()]
    place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    [done] = await place.syncs.sync("local")

    assert "footnote sources remove wiki" in (done.state.error or "")


async def test_a_sync_is_a_tree_of_jobs_with_its_counts(place: SyncPlace) -> None:
    place.specs = [git_spec()]
    place.fetchers["wiki"] = FilesFetcher({"a.txt": "One.", "b.txt": "Two."})
    seen: list[IngestProgress] = []
    [done] = await place.syncs.sync("local", progress=seen.append)

    jobs = {job.name: job for job in await place.jobs.list_tree(done.state.job_id or "")}
    assert {name: job.kind for name, job in jobs.items()} == {
        "sync wiki": JobKind.SYNC,
        "fetch": JobKind.SYNC,
        "read": JobKind.INGEST,
    }
    assert jobs["sync wiki"].status is JobStatus.DONE and jobs["sync wiki"].output["added"] == 2
    assert jobs["read"].output["pages"] == 2
    assert [item.stage for item in seen if not item.is_under_way] == ["Fetching", "Fetching", "Reading", "Reading"]


async def test_one_sync_at_a_time(place: SyncPlace) -> None:
    place.specs = [git_spec("one"), git_spec("two")]
    place.fetchers = {"one": FilesFetcher({"a.txt": "One."}), "two": FilesFetcher({"b.txt": "Two."})}
    syncs = place.syncs
    await asyncio.gather(*(syncs.sync("local") for _ in range(3)))

    assert place.most_at_once == 1


async def test_what_another_process_has_just_synced_is_left_out(place: SyncPlace) -> None:
    place.specs = [git_spec()]
    place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    await place.syncs.sync("local")
    begun = place.clock.now()
    place.clock.advance(60)

    assert await place.syncs.sync("local", unless_since=begun) == []
    assert len(await place.syncs.sync("local", unless_since=begun + timedelta(seconds=30))) == 1


async def test_what_another_began_while_this_one_waited_is_told_and_not_done_again(place: SyncPlace) -> None:
    place.specs = [git_spec()]
    fetcher = place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    asked, syncs, place.before_turn = place.clock.now(), place.syncs, lambda: place.clock.advance(1)
    [first], [waited], [forced] = await asyncio.gather(
        syncs.sync("local"), syncs.sync("local"), syncs.sync("local", force=True)
    )

    assert (first.by_another, waited.by_another, forced.by_another) == (False, True, False)
    assert waited.state == first.state and first.state.started_at > asked
    assert waited.report is None and waited.is_good
    assert fetcher.forced == [False, True]


async def test_disabled_sources_are_synced_by_name_alone_and_others_by_none(place: SyncPlace) -> None:
    place.specs = [replace(git_spec(), enabled=False)]
    place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})

    assert await place.syncs.sync("local") == []
    assert len(await place.syncs.sync("local", ["wiki"])) == 1
    with pytest.raises(NotFound, match="'wiki'"):
        await place.syncs.sync("local", ["wikki"])
    assert await place.syncs.sync("elsewhere") == []


async def test_a_source_taken_out_of_the_configuration_is_told_and_stays(place: SyncPlace, tmp_path: Path) -> None:
    write(tmp_path / "notes/a.txt", "Words.")
    await add_source(place.corpus, "local", tmp_path / "notes")
    place.specs = [git_spec()]
    place.fetchers["wiki"] = FilesFetcher({"a.txt": "One."})
    await place.syncs.sync("local")
    place.specs = []

    notes, wiki = await place.syncs.overview("local")
    assert (notes.is_orphan, wiki.is_orphan) == (False, True)
    assert wiki.documents == 1
    await place.syncs.forget("local", "wiki")
    assert [status.is_orphan for status in await place.syncs.overview("local")] == [False, False]


async def test_changing_one_file_of_many_touches_that_one_alone(place: SyncPlace, tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path / f"notes/{number}.txt", f"Text {number}.")
    place.specs = [folder_spec(tmp_path / "notes")]
    await place.syncs.sync("local")
    changed = write(tmp_path / "notes/7.txt", "Other words.")
    os.utime(changed, ns=(1, 1))

    [done] = await place.syncs.sync("local")
    assert done.report is not None and counts(done.report) == (0, 1, 49, 0, 0)
