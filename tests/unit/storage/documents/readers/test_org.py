"""Org files: headings are pages, what only Emacs reads is left out."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.org import OrgReader

FERRY = """#+TITLE: Ferry
#+STARTUP: overview
Intro with [[https://a.b][a link]].

* TODO Times :boats:
:PROPERTIES:
:CUSTOM_ID: times
:END:
It sails at *seven*. See [[file:fares.org][fares]].
# a comment
** Winter
#+begin_src python
# kept
x = 1
#+end_src
* Fares
| who | fare |
|-----+------|
| all | 4    |
"""


def read(text: str, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "note.org"
    path.write_text(text, encoding="utf-8", newline="")
    return OrgReader().read(path, tmp_path)


def test_headings_are_pages_without_drawers_comments_and_settings(tmp_path: Path) -> None:
    document = read(FERRY, tmp_path)
    assert document.title == "Ferry"
    assert document.links == ("fares.org",)
    assert [page.text for page in document.pages] == [
        "Intro with [a link](https://a.b).",
        "# TODO Times\n\nIt sails at *seven*. See fares.\n\n## Winter\n\n```python\n# kept\nx = 1\n```",
        "# Fares\n\n| who | fare |\n|-----+------|\n| all | 4    |",
    ]
    assert document.pages[1].anchors == (("times", 0),)


def test_a_file_of_settings_alone_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty"):
        read("#+TITLE: x\n# nothing\n", tmp_path)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.text(alphabet="* TODO[#A]:<>-\n\t#+:a1", max_size=12)
        | st.sampled_from(
            [
                "* A",
                "** B :t:",
                ":PROPERTIES:",
                ":END:",
                ":ID: x",
                "SCHEDULED: <2024-99-01>",
                "CLOCK: [2024-01-01 Mon 25:00]",
                "<2024-02-30 Fri +1w>",
                ":LOGBOOK:",
                "#+begin_src",
                "#+end_src",
                "#+TODO: A | B",
                ":Effort: 1:99",
                "#+TODO:",
                "CLOCK: [2024-01-01 Mon 10:00]--[2024-01-01 Mon 09:00] =>  1:00",
                "<2024-01-01>--<2023-01-01>",
                "[[x][y]]",
            ]
        ),
        max_size=12,
    )
)
def test_any_lines_give_a_document_or_a_reason(lines: list[str], tmp_path: Path) -> None:
    try:
        document = read("\n".join(lines), tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert all(page.text.strip() for page in document.pages)
