"""Copies of data directories: the same bytes, and no more of the disk."""

from pathlib import Path

import pytest

from tests.copying import copy_folder

HOLE = 4 * 1024 * 1024  # bytes: far more than a block of any file system


@pytest.mark.parametrize(
    "places", [[], [0], [HOLE], [0, HOLE, 3 * HOLE]], ids=["a hole alone", "at the start", "in the middle", "several"]
)
def test_a_copy_holds_the_same_bytes_and_takes_no_more_of_the_disk(tmp_path: Path, places: list[int]) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    (source / "index").mkdir(parents=True)
    path = source / "index" / "page.dat"
    with path.open("wb") as file:
        for place in places:
            file.seek(place)
            file.write(b"found" * 1000)
        file.truncate(5 * HOLE)
    copied = copy_folder(source, target) / "index" / "page.dat"

    assert copied.read_bytes() == path.read_bytes()
    assert copied.stat().st_blocks <= path.stat().st_blocks
    assert copied.stat().st_mtime_ns == path.stat().st_mtime_ns


def test_an_empty_file_and_a_folder_that_is_there_are_copied_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "empty").touch()
    (tmp_path / "data" / "note.md").write_text("# Kites", encoding="utf-8")
    for _ in range(2):
        copy_folder(tmp_path / "data", tmp_path / "copy")

    found = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "copy").iterdir()}
    assert found == {"empty": "", "note.md": "# Kites"}
