"""reStructuredText: sections are pages, nothing outside of the file is read, nothing in it is run."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.rst import RstReader


def read(text: str, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "ferry.rst"
    path.write_text(text, encoding="utf-8")
    return RstReader().read(path, tmp_path)


def text_of(source: str, tmp_path: Path) -> str:
    return "\n\n".join(page.text for page in read(source, tmp_path).pages)


def test_sections_are_pages_with_their_labels(tmp_path: Path) -> None:
    document = read(
        "Ferry\n=====\n\nIt sails.\n\n.. _fares:\n\nFares\n-----\n\nFour.\n\nChildren\n~~~~~~~~\n\nTwo.\n", tmp_path
    )
    assert document.title == "Ferry"
    assert [(page.title, page.text) for page in document.pages] == [
        ("Ferry", "# Ferry\n\nIt sails."),
        ("Fares", "## Fares\n\nFour.\n\n### Children\n\nTwo."),
    ]
    assert ("fares", 0) in document.pages[1].anchors


def test_a_header_of_names_and_values_stays_line_by_line(tmp_path: Path) -> None:
    document = read(
        "PEP: 7\nTitle: Ferries of\n       the north\nAuthor: Ann <a@b.c>\n\nAbstract\n====\n\nX.\n", tmp_path
    )
    assert document.title == "Ferries of the north"
    assert document.pages[0].text == "PEP: 7\nTitle: Ferries of the north\nAuthor: Ann <a@b.c>"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- one\n- two\n\n  - inner\n", "- one\n- two\n  - inner"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("pier\n   Where boats stop.", "**pier**\nWhere boats stop."),
        ("It *really* **sails** at ``7``.", "It *really* **sails** at `7`."),
        ("See `the plan <https://a.b>`_.", "See [the plan](https://a.b)."),
        ("Rain [1]_.\n\n.. [1] Much.", "Rain [1].\n\n[1] Much."),
        (".. note:: Mind the gap.", "**Note:** Mind the gap."),
        ("Like this::\n\n   x = 1", "Like this:\n\n```\nx = 1\n```"),
        (".. code-block:: python\n   :linenos:\n\n   x = 1", "```python\nx = 1\n```"),
        (".. versionadded:: 3.2\n   *All* boats.", "New in version 3.2: *All* boats."),
        (".. py:function:: sail(boat)\n\n   Leaves.", "sail(boat)\n\nLeaves."),
        ("Use :py:func:`~os.path.join` or :ref:`that one <x>`.", "Use join or that one."),
        ("| a\n| b", "a\nb"),
        ("   quoted", "> quoted"),
        (".. a comment\n\nText.", "Text."),
        (".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nText.", "Text."),
        (".. image:: x.png\n   :alt: A boat", "[A boat]"),
    ],
)
def test_markup_becomes_markdown(source: str, expected: str, tmp_path: Path) -> None:
    assert text_of(source, tmp_path) == expected


def test_tables_are_tables_and_merged_cells_are_told_in_each_row(tmp_path: Path) -> None:
    rule = "+------+------+\n"
    source = f"{rule}| who  | fare |\n+======+======+\n| all  | 4    |\n+      +------+\n|      | 2    |\n{rule}"
    assert text_of(source, tmp_path) == "| who | fare |\n| --- | --- |\n| all | 4 |\n| all | 2 |"


def test_csv_and_list_tables_that_stand_in_the_file_are_read(tmp_path: Path) -> None:
    source = ".. csv-table:: Fares\n   :header: who, fare\n\n   adult, 4\n"
    assert text_of(source, tmp_path) == "Fares\n\n| who | fare |\n| --- | --- |\n| adult | 4 |"


@pytest.mark.parametrize(
    "source",
    [
        ".. include:: secret.txt",
        ".. literalinclude:: secret.txt",
        ".. raw:: html\n   :file: secret.txt",
        ".. csv-table::\n   :file: secret.txt",
        ".. |x| date::\n\n|x|",
        ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`secret`",
    ],
)
def test_nothing_is_read_run_or_told_from_outside_of_the_file(source: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    text = text_of(f"Boats.\n\n{source}\n", tmp_path)
    assert text.startswith("Boats.")
    assert not any(word in text for word in ("secret\n", "20"))


def test_what_one_file_defines_is_unknown_to_the_next(tmp_path: Path) -> None:
    source = ":loud:`Boats`."
    alone = text_of(source, tmp_path)
    read(f".. role:: loud(strong)\n\n{source}", tmp_path)
    assert text_of(source, tmp_path) == alone == "Boats."


def test_a_file_of_comments_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty"):
        read(".. only a comment\n", tmp_path)


@pytest.mark.parametrize("source", ["- " * 2_000 + "x", "\n".join(" " * n + "x" for n in range(600)), "*" * 50_000])
def test_hostile_nesting_ends_in_a_document_or_a_sentence(source: str, tmp_path: Path) -> None:
    try:
        assert read(source, tmp_path).pages
    except ReadError as error:
        assert str(error).startswith(("nested too deeply", "empty"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.sampled_from(
            "a|\n|\n\n|  |=====|-----|.. |:: |note|table|figure|list-table|code|image|:x:|`|``|*|**|_|__|[1]|[#]"
            "|[#a]_|| |+--+|csv-table|container|parsed-literal|topic|sidebar|class|role|replace|unicode|math|epigraph"
            "|line-block|> |- |1. |footer|:width: 3|:widths: 1 2|:name: x|<b>|>>> |::|...|\\|:pep:`8`"
            "|:class:|meta|only".split("|")
        ),
        max_size=30,
    )
)
def test_any_markup_gives_a_document_or_a_reason(parts: list[str], tmp_path: Path) -> None:
    try:
        document = read("x " + "".join(parts), tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert all(page.text.strip() for page in document.pages)
