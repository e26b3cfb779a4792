"""Notes, plain texts and web pages as documents."""

from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.markup.markdown_text import MAX_PROPERTIES
from storage.documents.readers.html import HtmlReader
from storage.documents.readers.markdown_vault import MarkdownVaultReader
from storage.documents.readers.plain_text import PlainTextReader


def read_note(folder: Path, text: str, name: str = "ferry") -> ParsedDocument:
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8", newline="")
    return MarkdownVaultReader().read(path, folder)


def test_a_note_keeps_its_source_text_without_front_matter(tmp_path: Path) -> None:
    text = "---\naliases: boat\nreaders: [members]\n---\n# The ferry\r\n\r\n> [!note] It **sails**.\r\n"
    note = read_note(tmp_path, text)
    assert [page.text for page in note.pages] == ["# The ferry\n\n> [!note] It **sails**."]
    assert (note.title, note.aliases, note.url) == ("The ferry", ("boat",), None)


def test_front_matter_is_a_page_at_the_end(tmp_path: Path) -> None:
    front = (
        "title: x\nauthor: Ada  Quill\nco-authors:\nurl: https://example.org/ferry\ntopics: [boats, times]\ntags: [x]\n"
        "milestone:\n  beta: v1.5\nreviews:\n- by: Bo\n  on: 2026-03-01\n"
    )
    note = read_note(tmp_path, f"---\n{front}---\n# The ferry\n\nIt sails.")
    assert note.url == "https://example.org/ferry"
    assert [page.title for page in note.pages] == ["The ferry", "Properties"]
    assert note.pages[-1].text.split("\n") == [
        "author: Ada Quill",
        "url: https://example.org/ferry",
        "topics: boats, times",
        "milestone beta: v1.5",
        "reviews by: Bo",
        "reviews on: 2026-03-01",
    ]


def test_long_front_matter_is_cut(tmp_path: Path) -> None:
    text = "".join(f"k{number}: v\n" for number in range(MAX_PROPERTIES + 1))
    assert len(read_note(tmp_path, f"---\n{text}---\nIt sails.").pages[-1].text.split("\n")) == MAX_PROPERTIES


@pytest.mark.parametrize(
    ("text", "title"),
    [("---\ntitle: Own\n---\n# First", "Own"), ("## Two\n\n# First", "First"), ("no heading", "ferry")],
)
def test_a_notes_title_is_its_own_then_its_heading_then_its_name(text: str, title: str, tmp_path: Path) -> None:
    assert read_note(tmp_path, text).title == title


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("0102-moderation-team", "# Summary\n\n# Motivation", "0102-moderation-team"),
        ("0102-moderation-team", "# The moderation\n\n# Motivation", "The moderation"),
        ("0102-moderation-team", "# Summary", "Summary"),
        ("2025-09-30", "# Council\n\n# Links", "Council"),
        ("README", "# The boats\n\n# Licence", "The boats"),
    ],
)
def test_the_heading_of_a_section_is_no_title(name: str, text: str, title: str, tmp_path: Path) -> None:
    assert read_note(tmp_path, text, name).title == title


def test_broken_front_matter_does_not_lose_the_body(tmp_path: Path) -> None:
    note = read_note(tmp_path, '---\ntitle: "open\n---\nThe last ferry leaves at 22:10.')
    assert note.pages[0].text == "The last ferry leaves at 22:10."
    assert len(note.warnings) == 1


def test_a_note_of_front_matter_alone_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty: nothing after the front matter"):
        read_note(tmp_path, "---\ntitle: x\n---\n \n")


def test_equal_headings_stay_apart(tmp_path: Path) -> None:
    pages = read_note(tmp_path, "# Edge\n\nx\n\n## Same\none\n## Same\ntwo").pages
    assert [page.text for page in pages[1:]] == ["## Same\none", "## Same\ntwo"]


def test_an_outline_is_cut_at_the_headings_of_its_bullets(tmp_path: Path) -> None:
    block = "60a77d63-f73f-4cd4-9e65-8c4e30cbc752"
    note = read_note(
        tmp_path,
        f"alias:: Boat, [[The ferry]]\n\n- ## Times\n\t- Seven\n\t  id:: {block}\n- ## Fares\n\t- (({block}))\n",
    )
    assert note.aliases == ("Boat", "The ferry")
    assert note.links == ("The ferry", f"(({block}))")
    assert [(page.title, page.text.split("\n")[0]) for page in note.pages] == [
        ("", "alias:: Boat, [[The ferry]]"),
        ("Times", "- ## Times"),
        ("Fares", "- ## Fares"),
    ]
    times = note.pages[1]
    assert times.anchors == ((block, times.text.index("\t- Seven")),)


def test_a_page_of_a_graph_is_named_as_its_file_means(tmp_path: Path) -> None:
    (tmp_path / "logseq").mkdir()
    (tmp_path / "pages").mkdir()
    path = tmp_path / "pages" / "boats___when%3F.md"
    path.write_text("- seven", encoding="utf-8")
    assert MarkdownVaultReader().read(path, tmp_path).title == "boats/when?"
    assert MarkdownVaultReader().read(path, path.parent).title == "boats___when%3F"


def test_headings_in_bullets_of_other_notes_stay_text(tmp_path: Path) -> None:
    note = read_note(tmp_path, "Prose.\n\n- # no heading\n")
    assert note.pages[0].headings == ()


def test_a_plain_text_without_the_licence_of_project_gutenberg(tmp_path: Path) -> None:
    path = tmp_path / "ferry.txt"
    path.write_text(
        "Title: The Ferry\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\nIt rained.\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n\nLicence",
        encoding="utf-8",
    )
    document = PlainTextReader().read(path, tmp_path)
    assert document.title == "The Ferry"
    assert [page.text for page in document.pages] == ["It rained."]


def test_a_plain_text_is_one_page_or_its_chapters(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text("Title: The Ferry\n\nChapter 1\n\na\n\nChapter 2\n\nb\n\nChapter 3\n\nc\n")
    novel = PlainTextReader().read(path, tmp_path)
    assert (novel.title, [page.title for page in novel.pages]) == (
        "The Ferry",
        ["", "Chapter 1", "Chapter 2", "Chapter 3"],
    )
    path.write_text("just\n\ntext")
    assert [page.text for page in PlainTextReader().read(path, tmp_path).pages] == ["just\n\ntext"]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>Duck - Wiki</title><h1>Duck</h1>", "Duck"),
        ("<title>Ducks</title><h1>Other</h1>", "Ducks"),
        ("<h1>Duck</h1>", "Duck"),
        ("<p>text</p>", "page"),
    ],
)
def test_a_web_pages_title_leaves_out_the_sites_name(source: str, title: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(source)
    assert HtmlReader().read(path, tmp_path).title == title


def test_a_web_page_that_shows_nothing_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<script>x</script>")
    with pytest.raises(ReadError, match="empty: the page shows no text"):
        HtmlReader().read(path, tmp_path)


@pytest.mark.parametrize(("words", "expected"), [(2_000, ["Letter 1", "Letter 2"]), (20, ["Letters"])])
def test_chapters_of_a_long_web_page_may_be_of_a_lower_level(words: int, expected: list[str], tmp_path: Path) -> None:
    chapters = "".join(f"<h3>Letter {number}</h3><p>{'word word ' * words}</p><h5>P.S.</h5>x" for number in (1, 2))
    path = tmp_path / "page.html"
    path.write_text(f"<h1>Letters</h1>{chapters}", encoding="utf-8")
    pages = HtmlReader().read(path, tmp_path).pages
    assert [page.title for page in pages] == expected
    assert [heading.level for heading in pages[-1].headings][-2:] == ([2, 4] if words > 20 else [3, 5])
