"""Names of uploads: whatever a browser or a chat sends, a file stays in its folder."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.ingest_report import failure_words
from core.errors import BadInput
from core.features.upload_files import DRAFTS, LONGEST_PATH, clean_path, size_words

NAMES = st.text(st.one_of(st.characters(), st.sampled_from("/\\.:~ \0")), max_size=60) | st.lists(
    st.sampled_from(["..", ".", "a", "C:", "~", "", " ", DRAFTS, "a.md", "é" * 200]), max_size=12
).map("/".join)


@given(NAMES)
def test_a_name_never_leads_out_of_the_folder(name: str) -> None:
    try:
        path = clean_path(name)
    except BadInput:
        return
    parts = PurePosixPath(path).parts
    assert parts
    assert not path.startswith("/")
    assert "/".join(parts) == path
    assert len(path.encode()) <= LONGEST_PATH
    assert not any(part in ("", "..") or part.startswith(".") or set(part) & set('\\\0:"<>|?*') for part in parts)


@given(NAMES)
def test_a_clean_name_stays_as_it_is(name: str) -> None:
    try:
        path = clean_path(name)
    except BadInput:
        return
    assert clean_path(path) == path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("minutes.md", "minutes.md"),
        ("Council/2026/minutes.md", "Council/2026/minutes.md"),
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\notes\\a.md", "C_/notes/a.md"),
        ("a//./b.md", "a/b.md"),
        ("what?.pdf", "what_.pdf"),
    ],
)
def test_folders_are_kept_and_ways_out_are_not(name: str, path: str) -> None:
    assert clean_path(name) == path


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it needs a name"),
        ("../..", "it needs a name"),
        (".env", "hidden files are left out"),
        ("project/.git/config", "hidden files are left out"),
        (f"{DRAFTS}/a.md", "hidden files are left out"),
        ("/".join(["long" * 40] * 10), "its folders have too long names; shorten them"),
    ],
)
def test_a_name_that_can_not_be_kept_is_refused(name: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        clean_path(name)


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        (
            "notes.pages",
            "no reader for .pages: save it as PDF or Word and ingest it again",
            "Pages files can't be read. Export it as PDF or Word.",
        ),
        ("a.zip", "no reader for .zip", ".zip files can't be read."),
        ("LICENCE", "no reader for files without a suffix", "Files without an ending such as .pdf can't be read."),
        (
            "a.pdf",
            "no reader for this PDF file: not a PDF (no %PDF mark at its start)",
            "This PDF file can't be read: not a PDF (no %PDF mark at its start).",
        ),
        ("a.md", "empty: the file has no bytes", "Empty: the file has no bytes."),
    ],
)
def test_a_reason_is_a_sentence(name: str, reason: str, words: str) -> None:
    assert failure_words(name, reason) == words


@pytest.mark.parametrize(("size", "words"), [(100 * 1024 * 1024, "100 MB"), (20_000, "19 kB"), (10, "1 kB")])
def test_sizes_are_in_words(size: int, words: str) -> None:
    assert size_words(size) == words
