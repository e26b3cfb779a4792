"""Globs: which files of a folder belong to a source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.selection import EVERYTHING, Selection, check_glob
from core.errors import BadInput


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.md", "a.md", True),
        ("*.md", "deep/er/a.md", True),  # without a slash: at any depth
        ("*.md", "a.mdx", False),
        ("/x", "x", False),
        ("notes/*.md", "notes/a.md", True),
        ("notes/*.md", "notes/sub/a.md", False),
        ("notes/*.md", "other/notes/a.md", False),
        ("notes/**", "notes/sub/a.md", True),
        ("notes/", "notes/sub/a.md", True),
        ("notes/", "notes", False),
        ("**/drafts/*", "drafts/a.txt", True),
        ("**/drafts/*", "a/b/drafts/a.txt", True),
        ("a/**/z.txt", "a/z.txt", True),
        ("a/**/z.txt", "a/b/c/z.txt", True),
        ("?.txt", "a.txt", True),
        ("?.txt", "ab.txt", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("[!ab].txt", "c.txt", True),
        ("a.b", "axb", False),  # a dot is a dot
        ("./a.md", "a.md", True),
        ("(a|b).md", "a.md", False),
        ("line\nbreak*", "line\nbreaks", True),
    ],
)
def test_a_glob_fits_as_gitignore_has_taught_people(glob: str, path: str, fits: bool) -> None:
    assert Selection(include=(glob,)).takes(path) is fits


def test_what_is_excluded_is_out_whatever_includes_it() -> None:
    selection = Selection(include=("*.md", "*.txt"), exclude=("drafts/**", "secret*"))

    taken = [path for path in ("a.md", "a.pdf", "drafts/a.md", "b/secret.txt", "b/c.txt") if selection.takes(path)]

    assert taken == ["a.md", "b/c.txt"]


@given(st.text(min_size=1))
def test_without_globs_everything_is_in(path: str) -> None:
    assert EVERYTHING.takes(path)


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
def test_no_glob_that_passes_the_check_breaks(glob: str, path: str) -> None:
    try:
        checked = check_glob(glob)
    except BadInput:
        return
    assert Selection(include=(checked,)).takes(path) in (True, False)


@pytest.mark.parametrize("glob", ["", "  ", "/etc/*", "../x", "a\\b"])
def test_a_glob_that_leaves_the_folder_is_refused(glob: str) -> None:
    with pytest.raises(BadInput, match="glob"):
        check_glob(glob)
