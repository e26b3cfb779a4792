import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import NotFound
from storage.documents.files import Listing, list_files, stamp_of


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")


def paths(listing: Listing) -> list[str]:
    return [file.path for file in listing.files]


def problems(listing: Listing) -> dict[str, str]:
    return {problem.path: problem.reason for problem in listing.problems}


def test_files_are_listed_by_path_without_hidden_ones(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.md", ".obsidian/app.json", "a/.git/config", ".hidden.md")

    assert paths(list_files(tmp_path)) == ["a/b/c.md", "a/z.md", "b.md"]


def test_a_hidden_root_is_listed(tmp_path: Path) -> None:
    write(tmp_path, ".notes/a.md")

    assert paths(list_files(tmp_path / ".notes")) == ["a.md"]


def test_odd_names_are_names_like_others(tmp_path: Path) -> None:
    names = ["-rf.md", "a b.md", "new\nline.md", "q?#%.md", 'it\'s "x".md', "📄.md", "ü.md"]
    write(tmp_path, *names)

    assert paths(list_files(tmp_path)) == sorted(names)


def test_sizes_and_times_come_without_reading(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.utime(tmp_path / "a.md", ns=(5, 7))

    (file,) = list_files(tmp_path).files

    assert (file.size, file.modified_ns) == (4, 7)


def test_only_a_part_of_the_root_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "a/1.md", "ab/2.md", "b/3.md", "c.md")

    assert paths(list_files(tmp_path, ["a", "c.md", "missing"])) == ["a/1.md", "c.md"]


def test_a_root_that_is_no_folder_is_an_error_and_not_an_empty_source(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="not mounted"):
        list_files(tmp_path / "gone")


def test_links_are_read_only_for_what_is_not_listed_itself(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    write(outside, "secret.md")
    write(root, "real.md", "folder/a.md", ".data/mounted.md")
    links = {
        "again.md": root / "real.md",
        "mounted.md": root / ".data" / "mounted.md",
        "hidden-folder": root / ".data",
        "escape.md": outside / "secret.md",
        "escape-folder": outside,
        "dangling.md": root / "nothing.md",
        "dangling-outside.md": tmp_path / "nothing.md",
        "circle": root / "circle",
        "folder/up": root,
        "other-folder": root / "folder",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)

    listing = list_files(root)

    assert paths(listing) == ["folder/a.md", "mounted.md", "real.md"]
    assert problems(listing) == {
        "hidden-folder": "a link to a hidden folder",
        "escape.md": "a link that leads out of the source's folder; ingest what it leads to by itself",
        "escape-folder": "a link that leads out of the source's folder; ingest what it leads to by itself",
        "dangling.md": f"a link to {str(root / 'nothing.md')!r}, which does not exist; fix or remove it",
        "dangling-outside.md": f"a link to {str(tmp_path / 'nothing.md')!r}, which does not exist; fix or remove it",
    }


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A socket's path may have 108 bytes at most."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_pipes_and_sockets_are_reported_and_not_opened(short_folder: Path) -> None:
    os.mkfifo(short_folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short_folder / "socket.md"))

        listing = list_files(short_folder)

    assert problems(listing) == {
        "pipe.md": "a named pipe, not a file",
        "socket.md": "a socket, not a file",
    }


def test_names_that_are_not_utf8_are_reported_in_printable_form(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/f\xe4"
    os.mkdir(folder)
    for name in (folder + b"/in.md", os.fsencode(tmp_path) + b"/caf\xe9.md"):
        os.close(os.open(name, os.O_CREAT))

    listing = list_files(tmp_path)

    assert listing.files == []
    assert problems(listing) == {
        "caf\\xe9.md": "a name that is not valid UTF-8; rename it",
        "f\\xe4/in.md": "a name that is not valid UTF-8; rename it",
    }


def test_a_folder_that_can_not_be_opened_is_reported_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "locked/a.md", "open.md")
    real_scandir = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    listing = list_files(tmp_path)

    assert paths(listing) == ["open.md"]
    assert problems(listing) == {"locked": "a folder that can't be opened: permission denied; check its permissions"}
    assert listing.unlisted == ["locked"]


def test_a_file_that_can_not_be_looked_at_is_reported_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "bad.md", "gone.md", "good.md")
    real_stat = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path.name == "bad.md" and options.get("follow_symlinks", True):
            raise OSError(5, "Input/output error")
        if path.name == "gone.md" and options.get("follow_symlinks", True):
            raise FileNotFoundError(2, "No such file")
        return real_stat(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    listing = list_files(tmp_path)

    assert paths(listing) == ["good.md"]
    assert problems(listing) == {"bad.md": "can't be opened: input/output error"}
    assert listing.unlisted == ["bad.md"]


def test_a_stamp_changes_with_the_file_and_with_each_file_embedded_in_it(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    (file,) = list_files(tmp_path, ["a.md"]).files
    alone, with_b = stamp_of(file, tmp_path, ()), stamp_of(file, tmp_path, ("b.md",))

    os.utime(tmp_path / "b.md", ns=(1, 1))
    later = stamp_of(file, tmp_path, ("b.md",))
    (tmp_path / "b.md").unlink()

    assert alone == stamp_of(file, tmp_path, ())
    assert with_b != later != stamp_of(file, tmp_path, ("b.md",))
    assert stamp_of(file, tmp_path, ("bad\0name",)) == alone


def test_a_better_reader_changes_every_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md")
    (file,) = list_files(tmp_path).files
    before = stamp_of(file, tmp_path, ())

    monkeypatch.setattr("storage.documents.files.READING_VERSION", 99)

    assert stamp_of(file, tmp_path, ()) != before


def test_lists_of_a_slack_export_in_which_nothing_is_said_are_left_out(tmp_path: Path) -> None:
    for name in (
        "users.json",
        "channels.json",
        "dms.json",
        "integration_logs.json",
        "notes/dms.json",
        "ferry/day.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    listed = [file.path for file in list_files(tmp_path).files]

    assert listed == ["channels.json", "ferry/day.json", "notes/dms.json", "users.json"]
    (tmp_path / "users.json").unlink()
    assert "dms.json" in [file.path for file in list_files(tmp_path).files]  # of anything else
