"""Mirrors: what is written once, what is remembered, and names that stay inside."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import SourceUnavailable
from storage.sources.mirror import LONGEST_NAME_BYTES, Kept, Mirror, safe_part, safe_path
from storage.sources.web_pages import to_path


def test_equal_content_leaves_the_file_its_time(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    mirror.write("a/b.md", b"text", Kept(key="1"))
    before = (mirror.root / "a/b.md").stat().st_mtime_ns
    mirror.write("a/b.md", b"text", Kept(key="1", etag="x"))

    assert (mirror.changed, (mirror.root / "a/b.md").stat().st_mtime_ns) == (1, before)


def test_what_was_saved_is_remembered_as_far_as_the_files_are_there(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    for name in ("a.md", "b.md"):
        mirror.write(name, b"text", Kept(key=name, link=f"https://example.org/{name}"))
    mirror.memory.cursors["issues"] = "7"
    mirror.save()
    (mirror.root / "b.md").unlink()

    again = Mirror(tmp_path)
    assert again.by_key() == {"a.md": "a.md"}
    assert again.fetched().links == {"a.md": "https://example.org/a.md"}
    assert again.memory.cursors["issues"] == "7"


@pytest.mark.parametrize("changed", [{"force": True}, {"of": "another repository"}])
def test_nothing_is_up_to_date_when_that_is_wished_or_it_is_a_mirror_of_something_else(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    mirror = Mirror(tmp_path)
    mirror.write("a.md", b"text", Kept(key="1", revision="7", etag="x", link="https://example.org/a"))
    mirror.memory.cursors["issues"] = "7"
    mirror.save()
    again = Mirror(tmp_path, **changed)

    assert again.memory.files == {"a.md": Kept(key="1", link="https://example.org/a")}
    assert "issues" not in again.memory.cursors


def test_only_the_files_of_one_folder_may_be_cleared(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    for path in ("a/1.md", "a/2.md", "b/1.md"):
        mirror.write(path, b"text", Kept(key=path))
    (mirror.root / "a" / "stray.md").write_text("of nobody")
    mirror.keep_only(["a/2.md"], "a")
    mirror.keep_only((), "none")

    assert sorted(item.relative_to(mirror.root).as_posix() for item in mirror.root.rglob("*.md")) == [
        "a/2.md",
        "b/1.md",
    ]
    assert mirror.removed == 2


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 0}', '{"version": 1, "files": {"a": {"x": 1}}, "cursors": {}}']
)
def test_a_memory_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.json").write_text(text)
    assert Mirror(tmp_path).by_key() == {}


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceUnavailable, match="can't be written"):
        Mirror(tmp_path / "file")


@given(st.text())
def test_a_part_of_a_path_is_one_whatever_it_is_made_of(text: str) -> None:
    part = safe_part(text)
    assert PurePosixPath(part).parts == (part,)
    assert (
        part not in (".", "..")
        and not part.startswith(".")
        and len(part.encode("utf-8", "replace")) <= LONGEST_NAME_BYTES
    )


@given(st.text())
def test_a_path_of_a_source_never_leads_out(path: str) -> None:
    safe = safe_path(path)
    assert safe is None or (".." not in safe.split("/") and not safe.startswith("/"))


@pytest.mark.parametrize(
    ("path", "safe"), [("a/b.md", "a/b.md"), ("../a", None), ("/a", None), (".git/x", None), ("", None)]
)
def test_paths_that_lead_out_or_are_hidden_are_none(path: str, safe: str | None) -> None:
    assert safe_path(path) == safe


_paths = st.lists(st.sampled_from(["a", "A", "b.html", "c.md", "index", "", "%61", "x y"]), max_size=4).map("/".join)
_urls = st.builds(
    lambda scheme, path, query: f"{scheme}://docs.example.org/{path}{query}",
    st.sampled_from(["http", "https"]),
    _paths,
    st.sampled_from(["", "?a=1", "?a=2"]),
)


@given(_urls, _urls)
def test_addresses_that_differ_have_files_that_differ_even_where_case_does_not_count(one: str, other: str) -> None:
    first, second = to_path(one, "text/html"), to_path(other, "text/html")
    assert first is not None and second is not None
    assert (first.lower() == second.lower()) is (one == other)


def test_a_file_that_became_a_folder_and_a_folder_that_became_a_file(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    mirror.write("a", b"file", Kept(key="1"))
    mirror.write("a/b/c.md", b"text", Kept(key="2"))
    assert (mirror.root / "a/b/c.md").read_bytes() == b"text"
    mirror.write("a/b", b"file", Kept(key="3"))

    assert (mirror.root / "a/b").read_bytes() == b"file"
