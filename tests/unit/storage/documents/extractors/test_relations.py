"""Relations: which way they point, and to what."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput
from storage.documents.extractors.relations import RelationsExtractor, target_path
from tests.builders import build_document
from tests.unit.storage.documents.extractors.notes import build_note


def relations(text: str, **fields: Any) -> list[tuple[Any, ...]]:
    """(source, kind, target, path of the target) in text order, but for headings."""
    found = RelationsExtractor().extract(build_note(text, **fields))
    told = [tuple(item.data[name] for name in ("source", "kind", "target", "target_document")) for item in found]
    return [item for item in told if item[1] != "part of"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [[Harbour]].", [("Ferry", "links to", "Harbour", None)]),
        ("See [[Harbour#Pier 2|the pier]].", [("Ferry", "links to", "Harbour", None)]),
        ("![[Tides#Table]]", [("Ferry", "embeds", "Tides", None)]),
        ("See [fares](fares.md#adults).", [("Ferry", "links to", "fares", "ops/fares.md")]),
        ('See [fares](<../fares%20old.md> "Old").', [("Ferry", "links to", "fares old", "fares old.md")]),
        ("See [plan](plans/pier.pdf).", [("Ferry", "links to", "pier.pdf", "ops/plans/pier.pdf")]),
        ("See [[fares]].\n\n[fares]: ../fares.md", [("Ferry", "links to", "fares", "fares.md")]),
        ("Ask @UUID[JournalEntry.abc]{Old Ben}.", [("Ferry", "links to", "Old Ben", None)]),
        ("@Embed[JournalEntry.keep inline]", [("Ferry", "embeds", "keep", None)]),
        ("Ebb\n: The falling tide.", [("Ferry", "defines", "Ebb", None)]),
        ("| Term | Meaning |\n|---|---|\n| Ebb | Falling tide |", [("Ferry", "defines", "Ebb", None)]),
        ("[[Harbour]] and [[Harbour#Fees]]", [("Ferry", "links to", "Harbour", None)]),
    ],
)
def test_what_a_note_points_at(text: str, expected: list[tuple[Any, ...]]) -> None:
    assert relations(text, path="ops/ferry.md") == expected


@pytest.mark.parametrize(
    "text",
    [
        "See https://x.example/a.md and [x](https://x.example/a.md).",
        "See [below](#fares) and [[#Fares]].",
        "`[[Harbour]]` and\n\n```\n[[Harbour]] [x](y.md)\n```",
        "![boat](boat.png)",
        "[mail](mailto:a@x.example)",
        "[[Ferry]]",
        "[up](../../secret.md)",
        "[root](/docs/a.md)",
        "@UUID[ ] and @UUID[JournalEntry.abcdefghijklmnop]",
    ],
)
def test_what_is_no_other_document_is_no_relation(text: str) -> None:
    assert relations(text, path="ops/ferry.md") == []


def test_a_heading_is_part_of_the_one_above_it() -> None:
    text = "# Ferry\n\nText.\n\n## Fares\n\nText.\n\n### Adults\n\nFour.\n\n## Times\n\nSeven.\n"
    found = list(RelationsExtractor().extract(build_note(text)))
    assert [(item.data["source"], item.data["target"]) for item in found if item.data["kind"] == "part of"] == [
        ("Fares", "Ferry"),
        ("Adults", "Fares"),
        ("Times", "Ferry"),
    ]


def test_a_page_of_a_journal_is_the_source_of_its_links() -> None:
    page = Page(id="p", document_id="d", revision="r1", number=1, title="Gate", text="See @UUID[.x]{Hall}.")
    given = ExtractorInput(document=build_document("keep.json", kind="foundry", title="Keep"), pages=(page,))
    (found,) = RelationsExtractor().extract(given)
    assert found.data["source"] == "Gate"
    assert found.span.of(page.text) == "@UUID[.x]{Hall}"


def test_the_links_of_a_journal_are_read_from_its_file_where_its_pages_show_their_names(tmp_path: Path) -> None:
    html = "<p>@UUID[.cccccccccccccccc] and @UUID[Actor.x]{Old Ben}, but not @UUID[Actor.y]{Mary}.</p>"
    pages = [
        {"_id": "b" * 16, "name": "Gate", "text": {"format": 1, "content": html}},
        {"_id": "c" * 16, "name": "Hall", "text": {"format": 1, "content": "<p>Dark.</p>"}},
    ]
    path = tmp_path / "keep.json"
    path.write_text(json.dumps({"_id": "a" * 16, "name": "Keep", "pages": pages}), encoding="utf-8")
    page = Page(
        id="p",
        document_id="d",
        revision="r1",
        number=1,
        title="Gate",
        text="The Hall and Old Ben.",
        deep_link=f"@UUID[JournalEntry.{'a' * 16}.JournalEntryPage.{'b' * 16}]",
    )
    given = ExtractorInput(document=build_document("keep.json", kind="foundry", title="Keep"), pages=(page,), path=path)
    found = list(RelationsExtractor().extract(given))
    assert [(item.data["source"], item.data["target"], item.span.of(page.text)) for item in found] == [
        ("Gate", "Hall", "Hall"),
        ("Gate", "Old Ben", "Old Ben"),
    ]
    path.unlink()
    assert list(RelationsExtractor().extract(given)) == []


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("b.md", "notes/b.md"),
        ("./c/b.md?raw=1#x", "notes/c/b.md"),
        ("../b.md", "b.md"),
        ("../../b.md", None),
        ("a.md", None),
        ("#here", None),
        ("//host/b.md", None),
        ("", None),
    ],
)
def test_a_link_is_resolved_from_where_its_document_is(link: str, path: str | None) -> None:
    assert target_path(link, "notes/a.md") == path
