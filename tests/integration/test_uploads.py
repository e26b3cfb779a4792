"""Files that people add by hand: accepted once they are on disk, read once, replaced, removed, and never lost."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.jobs import JobKind, JobStatus
from core.errors import BadInput, NotFound, StorageError
from core.features.uploads import DRAFTS, UPLOADS, UploadState
from tests.builders import build_scope, build_source
from tests.integration.platform_files import LIMITS
from tests.integration.upload_place import UploadPlace, in_chunks
from tests.unit.storage.documents.pdf_files import build_pdf
from tests.waiting import Waiting

PDF = build_pdf([[(50, 700, "The ferry sails at seven.")], [(50, 700, "It returns at nine.")]])


@pytest.fixture
def place(tmp_path: Path) -> UploadPlace:
    return UploadPlace(tmp_path / "uploads")


async def test_files_are_accepted_then_read_and_found(place: UploadPlace) -> None:
    accepted = [await place.add("Council/minutes.md"), await place.add("season.pdf", PDF)]
    assert [(file.path, file.state.value) for file in accepted] == [
        ("Council/minutes.md", "waiting"),
        ("season.pdf", "waiting"),
    ]

    assert await place.read() == {"Council/minutes.md": ("read", ""), "season.pdf": ("read", "")}
    assert place.runs == [["Council/minutes.md", "season.pdf"]]  # one run for both
    documents = await place.documents()
    assert {path: document.pages for path, document in documents.items()} == {"Council/minutes.md": 1, "season.pdf": 2}
    assert [file.document_id for file in accepted] == [documents[file.path].id for file in accepted]
    assert await place.find("mat") == ["Council/minutes.md"]
    [source] = await place.corpus.list_sources("local")
    assert (source.name, source.kind) == ("Uploads", UPLOADS)


async def test_reading_is_a_job_that_names_files_and_failures(place: UploadPlace) -> None:
    await place.add("a.md")
    await place.add("broken.pdf", b"%PDF-1.7 no")
    await place.read()

    [job] = await place.stores.jobs.list_roots("local")
    assert (job.kind, job.name, job.status) == (JobKind.INGEST, "uploads", JobStatus.DONE)
    assert job.input == {"files": 2, "names": ["a.md", "broken.pdf"], "by": ["Ada"]}
    assert (job.output["read"], job.output["failures"][0]["path"]) == (1, "broken.pdf")


async def test_pages_are_counted_while_a_file_is_read(place: UploadPlace) -> None:
    await place.add("season.pdf", PDF)
    seen: list[tuple[str, int, int]] = []
    show = place.uploads._show
    place.uploads._show = lambda workspace, file: (  # type: ignore[method-assign]
        seen.append((file.state.value, file.page, file.pages)),
        show(workspace, file),
    )[1]
    await place.read()

    assert list(dict.fromkeys(seen)) == [("reading", 0, 0), ("reading", 1, 2), ("read", 2, 2)]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("notes.pages", b"x", "notes.pages: Pages files can't be read. Export it as PDF or Word."),
        ("a.pdf", b"no", "a.pdf: This PDF file can't be read: not a PDF (no %PDF mark at its start)."),
        ("empty.md", b"", "empty.md: The file is empty."),
        ("big.md", b"x" * (LIMITS.file_bytes + 1), "big.md: Larger than 19 kB. Split the file."),
        ("x/.git/config", b"x", "x/.git/config: Hidden files are left out."),
    ],
)
async def test_a_refused_file_leaves_its_reason_and_nothing_on_disk(
    place: UploadPlace, name: str, data: bytes, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        await place.add(name, data)

    assert str(refused.value) == sentence
    [file] = place.uploads.files("local")
    assert (file.state, f"{file.path}: {file.reason}") == (UploadState.REFUSED, sentence)
    assert (place.on_disk(), place.uploads.waiting("local")) == ([], [])


async def test_a_refused_version_leaves_the_accepted_one_waiting(place: UploadPlace) -> None:
    await place.add("a.md")
    with pytest.raises(BadInput):
        await place.add("a.md", b"x" * (LIMITS.file_bytes + 1))

    assert [file.path for file in place.uploads.waiting("local")] == ["a.md"]
    await place.read()
    assert await place.find("mat") == ["a.md"]


async def test_an_interrupted_upload_leaves_nothing(place: UploadPlace) -> None:
    async def broken_off():
        yield b"# Half"
        raise ConnectionResetError

    with pytest.raises(BadInput, match="did not arrive"):
        await place.uploads.accept("local", "half.md", broken_off())

    assert place.on_disk() == []


async def test_the_same_name_again_is_a_new_revision(place: UploadPlace) -> None:
    first = await place.add("keys.md")
    await place.read()
    second = await place.add("keys.md", "The key hangs by the door.")
    await place.read()

    [document] = (await place.documents()).values()
    assert first.document_id == second.document_id == document.id
    assert (await place.find("by the door"), await place.find("mat")) == (["keys.md"], [])
    assert await place.index.revisions() == await place.corpus.live_revisions()


async def test_a_file_that_is_accepted_again_while_it_is_read_is_read_again(place: UploadPlace) -> None:
    await place.add("keys.md")
    place.before_run = lambda: place.add("keys.md", "The key hangs by the door.")
    await place.read()

    assert place.runs == [["keys.md"], ["keys.md"]]
    assert await place.find("by the door") == ["keys.md"]


async def test_a_failure_says_why_and_is_read_again_on_demand(place: UploadPlace) -> None:
    await place.add("broken.pdf", b"%PDF-1.7 no")
    state, reason = (await place.read())["broken.pdf"]
    assert state == "failed"
    assert reason[0].isupper()
    assert (await place.documents())["broken.pdf"].failed_reason is not None

    await place.uploads.read_again("local", ["broken.pdf", "unknown.md", "../../etc/passwd"])
    await place.read()
    assert place.runs == [["broken.pdf"]] * 2


async def test_a_removed_document_is_gone_from_disk_library_and_index(place: UploadPlace) -> None:
    await place.add("a.md")
    await place.add("b.md", "Tides turn at noon.")
    await place.read()
    scope = build_scope(*await place.corpus.list_sources("local"))
    removed = await place.library.remove_documents([(await place.documents())["a.md"].id], scope)

    assert [document.path for document in removed] == ["a.md"]
    assert (place.on_disk(), list(await place.documents())) == (["b.md"], ["b.md"])
    assert (await place.find("mat"), await place.find("tides")) == ([], ["b.md"])
    assert await place.index.revisions() == await place.corpus.live_revisions()
    assert [file.path for file in place.uploads.files("local")] == ["b.md"]
    place.begin()
    await place.uploads._find_left("local")
    assert place.uploads.waiting("local") == []


async def test_removing_the_source_removes_its_files(place: UploadPlace) -> None:
    await place.add("a.md")
    await place.read()
    await place.library.remove_source("local", "Uploads")

    assert (place.on_disk(), await place.documents()) == ([], {})


async def test_a_document_that_is_removed_while_it_is_read_stays_removed(place: UploadPlace) -> None:
    await place.add("a.md")
    await place.read()
    scope = build_scope(*await place.corpus.list_sources("local"))
    document = (await place.documents())["a.md"]
    await place.add("a.md", "Another text.")
    place.before_run = lambda: place.library.remove_documents([document.id], scope)
    await place.read()

    assert (place.on_disk(), await place.documents(), await place.index.count()) == ([], {}, 0)


async def test_what_a_killed_process_accepted_is_read_by_the_next_one(place: UploadPlace) -> None:
    await place.add("old.md", "Old words.")
    await place.read()
    await place.add("old.md", "New words.")
    await place.add("new/first.md")
    place.runs.clear()
    place.begin()
    await place.work_off()

    assert place.runs == [["new/first.md", "old.md"]]
    assert await place.find("new") == ["old.md"]
    place.runs.clear()
    place.begin()
    await place.add("later.md", "Later words.")
    await place.work_off()
    assert place.runs == [["later.md"]]  # what was read is not read again


async def test_a_file_that_arrives_during_the_start_is_kept(place: UploadPlace) -> None:
    """The start removes what an earlier process left unfinished, while this one receives a file already."""
    await place.add("left.md")
    left = place.folder.joinpath(next(place.folder.iterdir()).name, DRAFTS, "earlier", "half.md")
    left.parent.mkdir(parents=True)
    left.write_text("half a fi", encoding="utf-8")
    place.begin()
    begun = asyncio.Event()
    may_go_on = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"# Keys\n\n"
        begun.set()
        await may_go_on.wait()
        yield b"The key is under the mat."

    arriving = asyncio.create_task(place.uploads.accept("local", "new.md", slowly()))
    await begun.wait()
    await place.work_off()
    assert not left.exists()
    may_go_on.set()
    assert (await arriving).path == "new.md"
    assert await place.read() == {"left.md": ("read", ""), "new.md": ("read", "")}


async def test_a_missing_folder_removes_no_document(place: UploadPlace) -> None:
    await place.add("a.md")
    await place.read()
    shutil.rmtree(place.folder)
    place.begin()
    await place.add("b.md")
    await place.read()

    assert sorted(await place.documents()) == ["a.md", "b.md"]


async def test_files_wait_while_the_index_is_broken(place: UploadPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.features.uploads.RETRY_SECONDS", 0.01)
    place.broken = StorageError("The disk is full.")
    await place.add("a.md")
    work = asyncio.create_task(place.uploads.work(["local"]))
    assert await Waiting().until(lambda: place.uploads.waiting("local")[0].reason == "The disk is full.", 60)
    place.broken = None

    assert (await place.uploads.outcome("local", "a.md")).state is UploadState.READ
    work.cancel()
    await asyncio.wait({work})
    with pytest.raises(NotFound):
        await place.uploads.outcome("local", "unknown.md")


async def test_another_source_may_have_the_name(place: UploadPlace) -> None:
    await place.corpus.save_source(build_source("Uploads", location="/srv/Uploads"))
    await place.add("a.md")
    await place.add("b.md")

    assert [(source.name, source.kind) for source in await place.corpus.list_sources("local")] == [
        ("Uploads", "folder"),
        ("Uploads 2", UPLOADS),
    ]


async def test_a_file_in_the_way_of_a_folder_is_refused(place: UploadPlace) -> None:
    await place.add("notes.md")
    with pytest.raises(BadInput, match="can't have the same name"):
        await place.add("notes.md/inside.md")


# Readers of single files.

CREW, COOKS = frozenset({"role:crew"}), frozenset({"role:cooks"})


async def add_for(place: UploadPlace, readers: frozenset[str] | None, text: str = "The key is under the mat.") -> None:
    await place.uploads.accept("local", "key.md", in_chunks(text.encode()), readers=readers)


async def limits(place: UploadPlace) -> list[set[frozenset[str]]]:
    return [set(found) for found in (await place.corpus.narrowed("local")).values()]


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_file_is_limited_to_the_chosen_readers_before_its_text_comes_in(
    place: UploadPlace, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    seen, switch = [], place.corpus.switch_revision

    async def watched(*args: Any) -> None:
        seen.append(await limits(place))
        await switch(*args)

    monkeypatch.setattr(place.corpus, "switch_revision", watched)
    await add_for(place, CREW)
    if is_killed:
        place.begin()  # the next process knows what is on the disk
        await place.work_off()
    await place.read()

    assert (seen, await limits(place)) == ([[{CREW}]], [{CREW}])
    assert await place.uploads.readers_label("local", "key.md") == (
        "all members, without guests who are also among role:crew"
    )


async def test_another_version_keeps_the_readers_unless_others_are_chosen(place: UploadPlace) -> None:
    found = []
    for readers in (CREW, None, COOKS, frozenset[str]()):
        await add_for(place, readers, f"The key of {readers} is under the mat.")
        await place.read()
        found += await limits(place)

    assert found == [{CREW}, {CREW}, {COOKS}, {frozenset()}]


async def test_chosen_readers_and_those_that_the_file_states_both_count(place: UploadPlace) -> None:
    await add_for(place, CREW, "---\nreaders: [role:cooks]\n---\nThe key is under the mat.")
    await place.read()

    assert await limits(place) == [{CREW, COOKS}]


async def test_undo_brings_back_the_readers_of_the_file_before(place: UploadPlace) -> None:
    await add_for(place, CREW)
    await place.read()
    held = await place.uploads.hold("local", "k1", "key.md", in_chunks(b"Another key."))
    await place.uploads.accept_held("local", "k1", held, readers=COOKS)
    await place.read()
    assert await limits(place) == [{COOKS}]

    assert await place.uploads.restore("local", "k1", held)
    await place.read()
    assert await limits(place) == [{CREW}]


async def test_a_damaged_note_lets_nobody_read_and_a_removed_file_leaves_none(place: UploadPlace) -> None:
    await add_for(place, CREW)
    [note] = place.folder.rglob("*.json")
    note.write_text("{")
    await place.read()
    assert await limits(place) == [{frozenset()}]

    await place.library.remove_document("key.md", build_scope(*await place.corpus.list_sources("local")))
    assert place.on_disk() == []
