"""Containers of foreign files are read within bounds."""

import io
import zipfile
from pathlib import Path

import pytest

from core.errors import ReadError
from storage.documents import archives
from storage.documents.archives import open_archive


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def test_parts_are_read_by_name(tmp_path: Path) -> None:
    with open_archive(zipped(tmp_path / "a.zip", {"x/y.txt": b"hello"}), "book") as archive:
        assert archive.names == ("x/y.txt",)
        assert archive.read("x/y.txt") == b"hello"


def test_a_part_is_found_however_its_path_is_written(tmp_path: Path) -> None:
    with open_archive(zipped(tmp_path / "a.zip", {"OEBPS/Text/one.xhtml": b"1"}), "book") as archive:
        assert archive.find("OEBPS/css/../text/One.xhtml") == "OEBPS/Text/one.xhtml"
        assert archive.find("two.xhtml") is None


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    with (
        open_archive(zipped(tmp_path / "a.zip", {"x": b""}), "book") as archive,
        pytest.raises(ReadError, match="the book lacks its part 'y'"),
    ):
        archive.read("y")


def test_a_part_that_expands_too_far_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_PART", 1024)
    with (
        open_archive(zipped(tmp_path / "a.zip", {"x": b"\0" * 4096}), "book") as archive,
        pytest.raises(ReadError, match="too large: unpacked, the book"),
    ):
        archive.read("x")


def test_parts_that_together_expand_too_far_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_EXPANDED", 1024)
    with open_archive(zipped(tmp_path / "a.zip", {"x": b"\0" * 1000, "y": b"\0" * 1000}), "book") as archive:
        assert len(archive.read("x")) == 1000
        with pytest.raises(ReadError, match="too large"):
            archive.read("y")


def test_too_many_parts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_PARTS", 1)
    path = zipped(tmp_path / "a.zip", {"x": b"", "y": b""})
    with pytest.raises(ReadError, match="more than 1 parts"), open_archive(path, "book"):
        raise AssertionError


@pytest.mark.parametrize("damage", ["cut", "empty", "middle"])
def test_a_damaged_container_is_refused_in_one_sentence(damage: str, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", {"x": b"some text that is long enough to be packed " * 20}).read_bytes()
    data = {"cut": whole[: len(whole) // 2], "empty": b"", "middle": whole[:40] + b"\xff" * 8 + whole[48:]}[damage]
    path = tmp_path / "b.zip"
    path.write_bytes(data)
    with pytest.raises(ReadError, match="corrupt: not a readable book"), open_archive(path, "book") as archive:
        archive.read("x")


def test_an_encrypted_part_says_what_to_do(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("x", b"secret")
    data = bytearray(buffer.getvalue())
    data[6] |= 1  # the flag of encryption, in the local header and in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "a.zip"
    path.write_bytes(bytes(data))
    with open_archive(path, "book") as archive, pytest.raises(ReadError, match="encrypted: the book needs a password"):
        archive.read("x")
