"""`--kind`: one reader for every file, whatever its suffix, with the readers there are and a real child process."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.domain.corpus import SearchQuery
from tests.integration.ingest_place import Place, counts, reasons

READERS = "storage.documents.base:build_readers"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, readers=READERS)
    place.write("page.md", "<h1>Tides</h1><p>The tide turns at noon.</p>")
    place.write("pump.log", "The pump failed at dawn.")
    return place


async def kinds(place: Place) -> dict[str, str]:
    return {path: document.kind for path, document in (await place.documents()).items()}


async def test_every_file_is_read_as_the_kind_that_was_named(place: Place) -> None:
    assert reasons(await place.ingest()) == {"pump.log": "no reader for .log"}

    assert counts(await place.ingest(kind="html")) == (1, 1, 0, 0, 0)

    assert await kinds(place) == {"page.md": "html", "pump.log": "html"}
    assert await place.texts() == {
        "page.md": "Tides\n\nThe tide turns at noon.",
        "pump.log": "The pump failed at dawn.",
    }
    hits = await place.index.search(SearchQuery(text="tide noon", kind="html"), place.scope)
    assert hits
    assert await place.index.revisions() == await place.corpus.live_revisions()


async def test_text_that_comes_out_the_same_still_changes_its_kind(place: Place) -> None:
    place.write("page.md", "Plain words.")
    await place.ingest(kind="text")

    assert counts(await place.ingest(kind="markdown")) == (0, 2, 0, 0, 0)
    assert await kinds(place) == {"page.md": "markdown", "pump.log": "markdown"}


async def test_the_same_kind_again_reads_nothing(place: Place) -> None:
    await place.ingest(kind="text")

    assert counts(await place.ingest(kind="text")) == (0, 0, 2, 0, 0)
    assert place.read_paths == []


async def test_a_changed_file_keeps_its_kind_where_no_reader_has_its_suffix(place: Place) -> None:
    await place.ingest(kind="text")
    place.write("pump.log", "The pump runs again.")

    assert counts(await place.ingest()) == (0, 1, 1, 0, 0)
    assert (await place.texts())["pump.log"] == "The pump runs again."


async def test_a_kind_that_did_not_fit_is_forgotten_and_the_good_revision_stays(place: Place) -> None:
    place.write("page.md", "# Tides")
    await place.ingest(only="page.md")

    report = await place.ingest(kind="pdf")

    assert set(reasons(report).values()) == {"not a PDF (no %PDF mark at its start)"}
    assert (await place.texts())["page.md"] == "# Tides"
    after = await place.ingest()
    assert reasons(after) == {"pump.log": "no reader for .log"}
    assert (await place.documents())["page.md"].failed_reason is None


def test_listing_the_readers_imports_no_parser() -> None:
    code = (
        "import sys; import storage.documents.base;"
        "print(sorted({'lxml', 'pypdfium2', 'yaml', 'puremagic', 'charset_normalizer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
