"""Front matter, headings, wikilinks and block anchors of a Markdown text."""

import pytest

from storage.documents.markup.markdown_text import read_front_matter, read_markdown, wikilinks


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[Note#Heading|label]]", ["Note#Heading"]),
        ("![[image.png|300]] and ![[Note]]", ["image.png", "Note"]),
        ("`[[in code]]` ``[[a]] ` [[b]]`` [[c]]", ["c"]),
        ("` [[unclosed code]]", ["unclosed code"]),
        (r"\[[escaped]] [[Table\|label]]", ["Table"]),
        ("[[]] [[ |empty]] [[a|b|c]] [[two\nlines]]", ["a"]),
    ],
)
def test_wikilinks_outside_of_code(text: str, targets: list[str]) -> None:
    assert list(wikilinks(text)) == targets


def test_links_are_listed_once_in_order_and_not_from_code_blocks() -> None:
    text = "[[b]] [[a]] [[b]]\n\n```\n[[fence]]\n```\n\n    [[indented]]\n\n> [[quoted]]\n"
    assert read_markdown(text).links == ("b", "a", "quoted")


def test_headings_of_both_kinds_with_their_places() -> None:
    text = "intro\n\nTitle *one*\n===\n\n## Two `code` [x](y) [[N|label]] ^id ##\n\n```\n# no\n```\n> # nor this\n\n#\n"
    found = read_markdown(text).headings
    assert [(heading.level, heading.title) for heading in found] == [(1, "Title one"), (2, "Two code x label")]
    assert [text[heading.start :][:5] for heading in found] == ["Title", "## Tw"]


def test_block_anchors_point_at_their_blocks() -> None:
    text = (
        "# Head ^h\n\nfirst line\nof it ^para\n\n- item one ^one\n- item\n\n| a |\n|---|\n\n^table\n\n"
        "`x ^no` end\n\n```\ny ^no\n```\n"
    )
    anchors = {name: text[place:].split("\n")[0] for name, place in read_markdown(text).anchors}
    assert anchors == {"h": "# Head ^h", "para": "first line", "one": "- item one ^one", "table": "| a |"}


def test_front_matter_gives_title_and_aliases() -> None:
    front = read_front_matter("---\ntitle: The  ferry\nalias: boat, the ferry,\n---\nbody")
    assert front.string("title") == "The ferry"
    assert front.strings("aliases", "alias") == ("boat", "the ferry")
    assert front.body_start == len("---\ntitle: The  ferry\nalias: boat, the ferry,\n---\n")


def test_aliases_may_be_a_list_of_anything() -> None:
    assert read_front_matter("---\naliases: [One, 2024, one, One, {a: b}]\n---\n").strings("aliases") == (
        "One",
        "2024",
        "one",
    )


@pytest.mark.parametrize("block", ['title: "unclosed', "- a\n- b", "[" * 500])
def test_broken_front_matter_is_left_out_with_a_warning(block: str) -> None:
    text = f"---\n{block}\n---\nbody"
    front = read_front_matter(text)
    assert text[front.body_start :] == "body"
    assert front.values == {}
    assert front.warnings[0].startswith("front matter left out")


@pytest.mark.parametrize("text", ["no front matter", "--- \n", "---\nnever closed", "text\n---\na: b\n---\n"])
def test_text_without_front_matter_begins_at_its_start(text: str) -> None:
    assert read_front_matter(text).body_start == 0


def test_empty_front_matter_has_no_values() -> None:
    assert read_front_matter("---\n---\nbody").values == {}
