"""Backups of a data directory, and what is refused as one."""

import json
import sqlite3
import stat
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import InvalidState, StorageError
from storage.database.backups import MANIFEST, restore_backup, write_backup

BESIDE = ("web.key", "kept")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A data directory: a database with a row, a key, a kept answer, and what follows from others."""
    folder = tmp_path / "data"
    (folder / "kept" / "local").mkdir(parents=True)
    (folder / "index").mkdir()
    (folder / "kept" / "local" / "Kept answers.md").write_text("# Kept\n")
    (folder / "web.key").write_text("secret")
    (folder / "index" / "lock").write_text("")
    with closing(sqlite3.connect(folder / "footnote.db")) as made:
        made.execute("CREATE TABLE note (text)")
        made.execute("INSERT INTO note VALUES ('one')")
        made.commit()
    return folder / "footnote.db"


def notes(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as opened:
        return [text for (text,) in opened.execute("SELECT text FROM note")]


def test_what_is_backed_up_comes_back_for_its_owner_alone(database: Path, tmp_path: Path) -> None:
    target, new = tmp_path / "backup.zip", tmp_path / "new" / "footnote.db"
    size = write_backup(database, BESIDE, target)
    names = restore_backup(target, new, BESIDE)

    assert size == target.stat().st_size
    assert sorted(names) == ["footnote.db", "kept/local/Kept answers.md", "web.key"]
    assert notes(new) == ["one"]
    assert (new.parent / "web.key").read_text() == "secret"
    assert (new.parent / "kept" / "local" / "Kept answers.md").read_text() == "# Kept\n"
    assert sorted(path.name for path in new.parent.iterdir()) == ["footnote.db", "kept", "web.key"]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (target, new, new.parent / "web.key")}
    assert modes == {0o600}


def test_uploads_are_in_a_backup_without_unfinished_ones(database: Path, tmp_path: Path) -> None:
    folder = database.parent / "uploads" / "a"
    (folder / ".incoming" / "1").mkdir(parents=True)
    (folder / "notes.md").write_text("# Notes")
    (folder / ".incoming" / "1" / "half.md").write_text("# Ha")
    write_backup(database, ("uploads",), tmp_path / "backup.zip")
    names = restore_backup(tmp_path / "backup.zip", tmp_path / "new" / "footnote.db", ("uploads",))

    assert sorted(names) == ["footnote.db", "uploads/a/notes.md"]


def test_a_backup_is_of_one_moment_while_others_write(database: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO note VALUES ('two')")
        writer.commit()
        writer.execute("INSERT INTO note VALUES ('not committed')")
        write_backup(database, BESIDE, tmp_path / "backup.zip")
        writer.rollback()
    restore_backup(tmp_path / "backup.zip", tmp_path / "new" / "footnote.db", BESIDE)

    assert notes(tmp_path / "new" / "footnote.db") == ["one", "two"]


def test_nothing_is_overwritten(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.zip"
    write_backup(database, BESIDE, target)
    before = target.read_bytes()

    with pytest.raises(InvalidState, match="exists already"):
        write_backup(database, BESIDE, target)
    with pytest.raises(InvalidState, match="is there already"):
        restore_backup(target, database, BESIDE)

    assert target.read_bytes() == before
    assert notes(database) == ["one"]


@pytest.mark.parametrize("cut", [0, 1, 100, -30])
def test_a_cut_backup_is_refused_whole(database: Path, tmp_path: Path, cut: int) -> None:
    target, new = tmp_path / "backup.zip", tmp_path / "new"
    write_backup(database, BESIDE, target)
    target.write_bytes(target.read_bytes()[:cut])

    with pytest.raises(StorageError, match="not a complete backup"):
        restore_backup(target, new / "footnote.db", BESIDE)

    assert not new.exists() or list(new.iterdir()) == []


def test_a_changed_byte_is_noticed_before_anything_is_there(database: Path, tmp_path: Path) -> None:
    target, new = tmp_path / "backup.zip", tmp_path / "new"
    write_backup(database, BESIDE, target)
    changed = bytearray(target.read_bytes())
    with zipfile.ZipFile(target) as archive:
        packed = archive.getinfo("footnote.db")
    changed[packed.header_offset + 30 + len(packed.filename) + packed.compress_size // 2] ^= 0xFF
    target.write_bytes(bytes(changed))

    with pytest.raises(StorageError, match="not a complete backup"):
        restore_backup(target, new / "footnote.db", BESIDE)

    assert not (new / "footnote.db").exists()


@pytest.mark.parametrize(
    "name", ["../evil", "kept/../../evil", "/etc/evil", "kept\\..\\evil", "index/lock", "config.toml", "kept"]
)
def test_names_that_no_backup_has_are_refused(database: Path, tmp_path: Path, name: str) -> None:
    target, new = tmp_path / "backup.zip", tmp_path / "new"
    write_backup(database, BESIDE, target)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(name if name != "kept" else "kept/", "evil")

    with pytest.raises(StorageError, match="which no backup does"):
        restore_backup(target, new / "footnote.db", BESIDE)

    assert not new.exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "is not a Footnote backup"),
        ("[]", "is not a Footnote backup"),
        (json.dumps({"format": 2}), "made by a newer Footnote"),
        ("{", "not a complete backup"),
    ],
)
def test_other_archives_are_refused(tmp_path: Path, manifest: str | None, words: str) -> None:
    target = tmp_path / "other.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("footnote.db", "")
        if manifest is not None:
            archive.writestr(MANIFEST, manifest)

    with pytest.raises(StorageError, match=words):
        restore_backup(target, tmp_path / "new" / "footnote.db", BESIDE)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        restore_backup(tmp_path / "none.zip", tmp_path / "new" / "footnote.db", BESIDE)
