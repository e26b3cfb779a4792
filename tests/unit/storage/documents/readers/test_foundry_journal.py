"""Foundry journals: shapes of exports, links, embeds, and the text of a module's own pages."""

import itertools
import json
from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.foundry_journal import FoundryJournalReader

KEEP, GATE, HALL = "keep000000000000", "gate000000000000", "hall000000000000"
TOWN, WELL = "town000000000000", "well000000000000"


def page(text: str = "", *, id: str = GATE, name: str = "Gate", **fields: object) -> dict[str, object]:
    return {"_id": id, "name": name, "type": "text", "text": {"format": 1, "content": text}, **fields}


def journal(*pages: dict[str, object], id: str = KEEP, name: str = "The Keep", **fields: object) -> dict[str, object]:
    return {"_id": id, "name": name, "pages": list(pages), **fields}


def read(root: Path, value: object, *, name: str = "keep.json") -> ParsedDocument:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return FoundryJournalReader().read(path, root)


def text_of(root: Path, source: str, *more: dict[str, object]) -> str:
    return read(root, journal(page(source), *more)).pages[0].text


def test_a_page_is_a_page_in_sort_order_with_its_link_and_name(tmp_path: Path) -> None:
    document = read(tmp_path, journal(page("<p>b</p>", sort=2), page("<h1>A</h1>a", id=HALL, name="Hall", sort=1)))
    assert document.title == "The Keep"
    assert [(item.title, item.text, item.heading_path) for item in document.pages] == [
        ("Hall", "A\n\na", ()),
        ("Gate", "b", ()),
    ]
    assert document.pages[0].deep_link == f"@UUID[JournalEntry.{KEEP}.JournalEntryPage.{HALL}]"
    assert [heading.title for heading in document.pages[0].headings] == ["A"]


def test_ids_may_stand_in_keys(tmp_path: Path) -> None:
    text = "name: Keep\npages:\n  - name: Gate\n    sort: x\n    text: {content: hi}\n"
    text += f"    _key: '!journal.pages!{KEEP}.{GATE}'\n"
    assert (
        read(tmp_path, text, name="keep.yml").pages[0].deep_link
        == f"@UUID[JournalEntry.{KEEP}.JournalEntryPage.{GATE}]"
    )


@pytest.mark.parametrize(
    "wrap", [lambda entry: [entry, entry], lambda entry: {"name": "Pack", "journal": [entry, entry]}]
)
def test_lists_and_folders_of_journals_name_each(wrap, tmp_path: Path) -> None:
    document = read(tmp_path, wrap(journal(page("x"))))
    assert document.title == "keep"
    assert [item.heading_path for item in document.pages] == [("The Keep",)] * 2


def test_an_entry_of_the_time_before_pages_is_one_page(tmp_path: Path) -> None:
    document = read(tmp_path, {"name": "Old", "_id": KEEP, "content": "<p>text</p>", "permission": {}})
    assert [(item.text, item.deep_link) for item in document.pages] == [("text", f"@UUID[JournalEntry.{KEEP}]")]


def test_categories_lead_the_heading_path(tmp_path: Path) -> None:
    entry = journal(page("x", category="c1"), categories=[{"_id": "c1", "name": "Outside"}])
    assert read(tmp_path, entry).pages[0].heading_path == ("Outside",)


def test_markdown_pages_are_kept_as_markdown(tmp_path: Path) -> None:
    entry = journal(
        {"name": "Gate", "text": {"format": 2, "markdown": f"# Gate\n\nSee @UUID[.{GATE}]{{it}}", "content": "x"}}
    )
    found = read(tmp_path, entry).pages[0]
    assert found.text == "# Gate\n\nSee it"
    assert [heading.title for heading in found.headings] == ["Gate"]


HALL_PAGE = page("<p>A long hall, see @Embed[.gate000000000000].</p>", id=HALL, name="Hall & Stair")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"@UUID[.{HALL}]{{the hall}}", "the hall"),
        (f"@UUID[.{HALL}]", "Hall & Stair"),
        (f"@UUID[JournalEntry.{KEEP}.JournalEntryPage.{HALL}#stairs]", "Hall & Stair"),
        (f"@UUID[Compendium.my.pack.JournalEntry.{KEEP}.JournalEntryPage.{HALL}]", "Hall & Stair"),
        (f"@UUID[Compendium.my.pack.{KEEP}]", "The Keep"),
        (f"@JournalEntry[{KEEP}] @JournalEntryPage[{HALL}]", "The Keep Hall & Stair"),
        ("@UUID[Compendium.x.y.Actor.abcdefghij012345]{Ape}", "Ape"),
        ("a @UUID[Compendium.x.y.Actor.abcdefghij012345] b", "a b"),
        ("@Actor[Goblin King] @UUID[]", "Goblin King"),
        ("@Embed[Compendium.x.y.RollTable.abcdefghij012345]{the table}", "the table"),
        ("[[/r 2d6]] [[/gmr 1d4 # secret]] [[/r 1d8[fire]]]{some fire} [[3d6+2]]", "2d6 1d4 some fire 3d6+2"),
        ("[[a note]] &amp;Reference[condition=prone apply=false] &Reference[dim light]{dim}", "[[a note]] prone dim"),
        ("ann@example[at].org", "ann@example[at].org"),
    ],
)
def test_commands_become_what_a_reader_sees(source: str, text: str, tmp_path: Path) -> None:
    assert text_of(tmp_path, f"<p>{source}</p>", HALL_PAGE) == text


def test_an_embed_is_the_targets_text_and_a_cycle_ends_in_a_name(tmp_path: Path) -> None:
    assert (
        text_of(tmp_path, f"<p>Look:</p><p>@Embed[.{HALL} inline]</p>", HALL_PAGE) == "Look:\n\nA long hall, see Gate."
    )


def test_embeds_are_followed_five_levels_deep(tmp_path: Path) -> None:
    ids = [f"{place:016}" for place in range(9)]
    pages = [page(f"{place} @Embed[.{ids[place + 1]}]", id=ids[place], name=f"n{place}") for place in range(8)]
    text = read(tmp_path, journal(*pages)).pages[0].text
    assert text == "0 1 2 3 4 5 n6"


def test_embeds_that_multiply_stop_at_a_bound(tmp_path: Path) -> None:
    long = page("x" * 300_000, id=HALL, name="Hall")
    assert text_of(tmp_path, f"@Embed[.{HALL}] " * 9, long).count("Hall") == 6


def test_other_files_of_the_source_are_searched_and_remembered(tmp_path: Path) -> None:
    town = journal(page("<p>Deep water.</p>", id=WELL, name="Well"), id=TOWN, name="Town")
    read(tmp_path, town, name="far/town.json")
    (tmp_path / "broken.json").write_text('{"pages": [')
    (tmp_path / "api.json").write_text("{}")
    link = f"JournalEntry.{TOWN}.JournalEntryPage.{WELL}"
    document = read(
        tmp_path, journal(page(f"@UUID[{link}]: @Embed[{link}] @UUID[JournalEntry.{TOWN}]")), name="near/k.json"
    )
    assert document.pages[0].text.split("\n\n") == ["Well:", "Deep water.", "Town"]
    assert document.depends_on == ("far/town.json",)
    assert document.links == (link, f"JournalEntry.{TOWN}")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    reader = FoundryJournalReader()
    keep, town = tmp_path / "keep.json", tmp_path / "town.json"
    keep.write_text(json.dumps(journal(page(f"@Embed[JournalEntry.{TOWN}]"))))
    for text in ("Deep water.", "No water at all."):
        town.write_text(json.dumps(journal(page(text, id=WELL), id=TOWN)))
        assert reader.read(keep, tmp_path).pages[0].text == text


def test_an_embed_of_a_whole_journal_holds_its_pages(tmp_path: Path) -> None:
    other = journal(
        page("one", id=WELL),
        {"name": "b", "text": {"markdown": "# two <x>"}},
        {"name": "c", "system": {"t": "three & more"}},
    )
    read(tmp_path, {**other, "_id": TOWN}, name="town.json")
    assert text_of(tmp_path, f"@Embed[JournalEntry.{TOWN}]").split("\n\n") == ["one", "# two <x>", "three & more"]


def test_what_is_not_found_and_what_is_empty_is_in_the_warnings(tmp_path: Path) -> None:
    pages = [page("@Embed[.nobody0000000000] x"), *(page("", id=f"{n}" * 16, name=f"p{n}") for n in range(6))]
    document = read(tmp_path, journal(*pages))
    assert document.warnings == (
        "pages without text left out: 'p0', 'p1', 'p2', 'p3', 'p4' and 1 more",
        "1 embed left out: the target is not in this source",
    )


def test_text_of_a_modules_own_fields_is_read_with_its_labels(tmp_path: Path) -> None:
    system = {
        "intro": "A keep by the river.",
        "threads": [
            {"label": "The Hag", "text": "<p>She <b>hungers</b>.</p>", "_id": "abc def"},
            {"label": "", "n": 4},
        ],
        "choices": {
            "name": "Loot",
            "items": [{"text": "Staff", "checked": False}, {"text": "Orb of Fire"}],
            "deep": {},
        },
        "img": "some/where nice.png",
        "icon2": "icons/some thing.webp",
        "template": "systems/x/y.hbs",
        "slot": "storyKit",
        "uid": "abcdefghij012345",
        "fields": ["intro"],
        "twist": "It is cursed. See @UUID[.gate000000000000]",
        "empty": {"label": "Nothing here"},
        "again": "A keep by the river.",
    }
    found = read(tmp_path, journal(page("", system=system))).pages[0]
    assert found.text == (
        "A keep by the river.\nIt is cursed. See Gate\nA keep by the river.\n\n"
        "The Hag\nShe hungers.\n\nLoot\nStaff\nOrb of Fire\nNothing here"
    )
    assert [(heading.title, found.text[heading.start :].split("\n")[0]) for heading in found.headings] == [
        ("The Hag", "The Hag"),
        ("Loot", "Loot"),
    ]


def test_what_the_page_already_says_is_not_said_again(tmp_path: Path) -> None:
    entry = journal(
        page("<p>The gate is shut.</p>", system={"tooltip": "<p>The gate is <i>shut</i>.</p>", "note": "Ask Ann."})
    )
    assert read(tmp_path, entry).pages[0].text == "The gate is shut.\nAsk Ann."


def test_an_images_caption_is_text(tmp_path: Path) -> None:
    assert (
        read(tmp_path, journal({"name": "Map", "type": "image", "image": {"caption": "The river"}})).pages[0].text
        == "The river"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"pages": [', "broken JSON"),
        ('{"pages": [{"a": 1}]}', "not a Foundry journal"),
        ('{"pages": [{"name": "a", "type": "text"}]}', "empty: no page of the journal has text"),
        ('{"pages": ' * 5_000 + "1" + "}" * 5_000, "nested too deeply"),
        ("[]", "not a Foundry journal"),
    ],
)
def test_what_is_no_journal_gets_its_reason(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(tmp_path, text)


def test_extract_text_with_section_markers(tmp_path: Path) -> None:
    """Headings become sections of the page, in order, and none of their markup stays."""
    html = "<h1>Chapter 2</h1><p>Salt.</p><h2>Inside</h2><p>A <b>key</b>.</p><h3>Below</h3><ul><li>Rats</li></ul>"
    [found] = read(tmp_path, journal(page(html))).pages
    assert [(heading.level, heading.title) for heading in found.headings] == [
        (1, "Chapter 2"),
        (2, "Inside"),
        (3, "Below"),
    ]
    starts = [*(heading.start for heading in found.headings), len(found.text)]
    parts = [found.text[start:end].split() for start, end in itertools.pairwise(starts)]
    assert parts == [["Chapter", "2", "Salt."], ["Inside", "A", "key."], ["Below", "Rats"]]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ((KEEP, GATE), f"@UUID[JournalEntry.{KEEP}.JournalEntryPage.{GATE}]"),
        ((KEEP, None), f"@UUID[JournalEntry.{KEEP}]"),
        ((None, GATE), None),
    ],
)
def test_build_foundry_link(ids: tuple[str | None, str | None], expected: str | None, tmp_path: Path) -> None:
    """A page is named through its journal: Foundry finds none by its own id alone."""
    journal_id, page_id = ids
    value = {"_id": journal_id, "name": "Keep", "pages": [{"_id": page_id, "name": "Gate", "text": {"content": "x"}}]}
    assert read(tmp_path, value).pages[0].deep_link == expected


def test_a_page_in_a_file_of_its_own_is_read_with_its_journals_link(tmp_path: Path) -> None:
    document = read(tmp_path, page("<p>Shut.</p>", _key=f"!journal.pages!{KEEP}.{GATE}"))
    assert document.title == "Gate"
    assert [(item.title, item.text, item.deep_link) for item in document.pages] == [
        ("Gate", "Shut.", f"@UUID[JournalEntry.{KEEP}.JournalEntryPage.{GATE}]")
    ]


def test_the_journal_of_such_pages_says_that_it_has_no_text_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="the journal's pages stand in files of their own"):
        read(tmp_path, {"_id": KEEP, "_key": f"!journal!{KEEP}", "name": "The Keep", "pages": [GATE]})
