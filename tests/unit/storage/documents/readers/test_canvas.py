"""Canvases: cards in reading order, groups as headings, arrows as a list."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.canvas import CanvasReader


def card(name: str, x: int, y: int, text: str = "", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "text", "text": text or name, "x": x, "y": y, "width": 100, "height": 60} | more


def read(canvas: object, folder: Path) -> ParsedDocument:
    path = folder / "Harbour plan.canvas"
    path.write_text(json.dumps(canvas))
    return CanvasReader().read(path, folder)


def test_cards_are_read_group_by_group_and_arrows_at_the_end(tmp_path: Path) -> None:
    group = card("g", 500, 0, type="group", label="Later", width=400, height=400)
    nodes = [
        group, card("c", 520, 200, "**Dredge** the basin\n\nin autumn"), card("b", 200, 100, "# Pier 3\nNew planks."),
        card("a", 0, 100, "Ask the council"),
        card("f", 520, 100, type="file", file="notes/Fares.md", subpath="#Adults"),
        card("u", 0, 300, type="link", url="https://ferry.example/plan"),
    ]  # fmt: skip
    edges = [
        {"fromNode": "a", "toNode": "b", "label": "if they  agree"},
        {"fromNode": "b", "toNode": "c", "toEnd": "none"},
        {"fromNode": "c", "toNode": "g", "fromEnd": "arrow"},
        {"fromNode": "a", "toNode": "gone"},
    ]
    document = read({"nodes": nodes, "edges": edges}, tmp_path)
    assert document.title == "Harbour plan"
    assert document.links == ("notes/Fares.md#Adults",)
    assert [(page.title, page.text) for page in document.pages] == [
        ("", "Ask the council"),
        ("Pier 3", "# Pier 3\nNew planks.\n\nhttps://ferry.example/plan"),
        ("Later", "## Later\n\n[[notes/Fares.md#Adults]]\n\n**Dredge** the basin\n\nin autumn"),
        (
            "Connections",
            "## Connections\n\n- Ask the council → Pier 3: if they agree\n- Pier 3 – Dredge the basin\n"
            "- Dredge the basin ↔ Later",
        ),
    ]


@pytest.mark.parametrize("canvas", [{}, {"nodes": []}, {"nodes": [card("a", 0, 0, " \n")]}, {"nodes": [1, None]}])
def test_a_canvas_without_a_word_is_empty(canvas: object, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty: no card"):
        read(canvas, tmp_path)


def test_other_json_is_no_canvas(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not a canvas"):
        read([1, 2], tmp_path)


def test_places_that_are_no_numbers_are_the_origin(tmp_path: Path) -> None:
    nodes = [card("b", 0, 10), card("a", 0, 0) | {"x": "left", "y": None}, card("c", 0, 20, width=1e300)]
    assert read({"nodes": nodes}, tmp_path).pages[0].text == "a\n\nb\n\nc"
