"""Anchors: what texts point at by a name."""

from typing import Any

import pytest

from storage.documents.extractors.anchors import AnchorsExtractor
from tests.unit.storage.documents.extractors.notes import build_note


def anchors(text: str, **fields: Any) -> list[tuple[Any, Any, Any]]:
    found = AnchorsExtractor().extract(build_note(text, **fields))
    return [(item.data["kind"], item.data["name"], item.data["caption"]) for item in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Figure 3: The boat at dawn.", ("figure", "Figure 3", "The boat at dawn.")),
        ("**Fig. 2a.** The pier", ("figure", "Figure 2a", "The pier")),
        ("Table 4.—Fares by age", ("table", "Table 4", "Fares by age")),
        ("Table 1.2 Fares by Age", ("table", "Table 1.2", "Fares by Age")),
        ("*Table IV. Fares*", ("table", "Table IV", "Fares")),
        ("Table 2.\nFares of the ferry", ("table", "Table 2", "Fares of the ferry")),
        ("Abbildung 7: Das Boot", ("figure", "Abbildung 7", "Das Boot")),
        ("Chart 1 | Passengers", ("figure", "Chart 1", "Passengers")),
        ("Exhibit 2:\n\n| a | b |\n|---|---|\n| 1 | 2 |", ("table", "Exhibit 2", "")),
        ("![A boat at dawn](a/boat.png)", ("figure", "A boat at dawn", "A boat at dawn")),
        ("It sails at seven. ^times", ("block", "^times", "It sails at seven.")),
        ("Ebb\n: The falling tide.", ("definition", "Ebb", "The falling tide.")),
    ],
)
def test_what_can_be_pointed_at(text: str, expected: tuple[str, str, str]) -> None:
    assert anchors(f"Before it.\n\n{text}\n") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Figure 3 shows the boat.",
        "Table 2 and figure 3 differ.",
        "Tables are made of wood.",
        "table 4 is by the window",
        "![boat.png](boat.png)",
        "![](boat.png)",
        "```\nFigure 3: The boat\n```",
        "Chart your course: Mapping 3 seas",
    ],
)
def test_what_only_mentions_a_figure_is_none(text: str) -> None:
    assert anchors(f"{text}\n") == []


def test_headings_are_anchors_with_what_they_stand_under() -> None:
    assert anchors("# Ferry\n\nText.\n\n## Fares\n\nFour.\n") == [
        ("heading", "Ferry", ""),
        ("heading", "Fares", "Ferry"),
    ]


def test_an_anchor_stands_where_it_says() -> None:
    given = build_note("Some words.\n\n  Table 2. Fares\n")
    (found,) = AnchorsExtractor().extract(given)
    assert found.span.of(given.pages[0].text) == "Table 2. Fares"
