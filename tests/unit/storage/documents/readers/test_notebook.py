"""Jupyter notebooks: notes, code and what it printed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.notebook import MAX_OUTPUT, NotebookReader


def note(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": [f"{line}\n" for line in lines]}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def read(cells: object, tmp_path: Path, **metadata: object) -> ParsedDocument:
    path = tmp_path / "ferry.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells}), encoding="utf-8")
    return NotebookReader().read(path, tmp_path)


def test_headings_make_pages_and_code_is_fenced_in_its_language(tmp_path: Path) -> None:
    cells = [note("# Ferry", "", "Times of [[boats]]."), code("x = 7\n"), note("## Fares"), note("    4 francs")]
    document = read(cells, tmp_path, language_info={"name": "python"})
    assert document.title == "Ferry"
    assert document.links == ("boats",)
    assert [(page.title, page.text) for page in document.pages] == [
        ("Ferry", "# Ferry\n\nTimes of [[boats]].\n\n```python\nx = 7\n```"),
        ("Fares", "## Fares\n\n    4 francs"),
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"output_type": "stream", "name": "stdout", "text": ["7\n", "8\n"]}, "7\n8"),
        ({"output_type": "execute_result", "data": {"text/plain": ["'seven'"]}}, "'seven'"),
        ({"output_type": "display_data", "data": {"image/png": "aGk="}}, ""),
        (
            {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["\x1b[31mlong"]},
            "KeyError: 'x'",
        ),
        ({"output_type": "stream", "text": "\x1b[31mred\x1b[0m"}, "red"),
        ({"data": {"text/html": "<table><tr><td>a<td>4</table>", "text/plain": "   a  4"}}, "a\t4"),
        ({"output_type": "pyout", "text": ["old"]}, "old"),
    ],
)
def test_what_a_cell_printed_stands_below_it(output: dict[str, Any], expected: str, tmp_path: Path) -> None:
    text = read([code("x", output)], tmp_path).pages[0].text
    assert text == "```\nx\n```" + (f"\n\n```\n{expected}\n```" if expected else "")


def test_code_with_a_fence_of_its_own_stays_in_one_block(tmp_path: Path) -> None:
    text = read([code('"""\n```\n# no heading\n```\n"""'), note("# Yes")], tmp_path)
    assert [page.title for page in text.pages] == ["", "Yes"]
    assert text.pages[0].text.startswith("````\n")


def test_a_long_output_is_cut_and_said_so(tmp_path: Path) -> None:
    document = read([code("x", {"text": "y" * (MAX_OUTPUT + 1)})], tmp_path)
    assert len(document.pages[0].text) < MAX_OUTPUT + 100
    assert document.warnings == ("1 long output cut after 10,000 characters",)


def test_pictures_inside_of_notes_are_left_out(tmp_path: Path) -> None:
    assert read([note("A ![boat](data:image/png;base64,AAAA) here")], tmp_path).pages[0].text == "A boat here"


def test_notebooks_of_version_3_are_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "Fares"}, {"cell_type": "code", "input": ["x = 7"]}]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}), encoding="utf-8")
    assert NotebookReader().read(path, tmp_path).pages[0].text == "## Fares\n\n```\nx = 7\n```"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "not a Jupyter notebook"),
        ("[]", "not a Jupyter"),
        ('{"cells": []}', "empty"),
        ('{"cells": [', "broken JSON"),
    ],
)
def test_what_is_no_notebook_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReadError, match=reason):
        NotebookReader().read(path, tmp_path)


values = st.recursive(
    st.none() | st.integers() | st.text("#`a\n ", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cell_type", "source", "outputs", "data", "text/plain", "text/html", "text", "level"]),
            inner | st.sampled_from(["code", "markdown", "heading"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(values, max_size=4))
def test_any_cells_give_a_notebook_or_a_reason(cells: list[object], tmp_path: Path) -> None:
    try:
        document = read(cells, tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        for page in document.pages:
            assert page.text.strip()
            for item in page.headings:
                assert page.text[item.start :].lstrip("# ").startswith(item.title.lstrip("# ")[:1])
