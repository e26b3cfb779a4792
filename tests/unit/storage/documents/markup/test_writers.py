"""Blocks become one text whose headings stand where they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Heading
from storage.documents.markup.writers import TextWriter, to_lines, to_title

texts = st.text(alphabet="ab \n\t\x0b\x07#|é", max_size=12)
blocks = st.lists(st.tuples(st.sampled_from(["paragraph", "heading", "item", "table"]), texts), max_size=8)


def test_blocks_are_parted_by_a_blank_line_and_items_by_none() -> None:
    writer = TextWriter()
    writer.add_heading(1, " Ferry\n")
    writer.add_paragraph("It sails.\nAt seven. ")
    writer.add_item("a boat")
    writer.add_item("two\nlines", level=1, mark="2.")
    writer.add_table([["who", "fare"], ["adult", "4"]])
    assert writer.text == (
        "Ferry\n\nIt sails.\nAt seven.\n\n"
        "- a boat\n  2. two\n     lines\n\n| who | fare |\n| --- | --- |\n| adult | 4 |"
    )
    assert writer.headings == [Heading(level=1, title="Ferry", start=0)]


def test_a_table_of_one_column_is_paragraphs() -> None:
    writer = TextWriter()
    writer.add_table([["one"], ["two", ""]])
    assert writer.text == "one\n\ntwo"


@given(blocks)
def test_headings_stand_at_their_places(written: list[tuple[str, str]]) -> None:
    writer = TextWriter()
    for kind, text in written:
        if kind == "heading":
            writer.add_heading(9, text)
        elif kind == "item":
            writer.add_item(text, level=2)
        elif kind == "table":
            writer.add_table([[text, text], ["x", text]])
        else:
            writer.add_paragraph(text)
    text, headings = writer.text, writer.headings
    assert text == text.strip("\n")
    assert not {"\x07", "\x0b", "\t"} & set(text)
    assert all(text[heading.start :].startswith(heading.title) and heading.level == 6 for heading in headings)
    assert len(headings) == sum(1 for kind, said in written if kind == "heading" and to_lines(said).strip())


@pytest.mark.parametrize(
    "title", ["Word Document", "PowerPoint Presentation", "untitled1", "minutes.docx", "Microsoft Word - x", ""]
)
def test_a_title_that_a_program_filled_in_is_none(title: str) -> None:
    assert to_title(title) == ""


@pytest.mark.parametrize("title", ["Word of the day", "The title of things", "Documents of 2024"])
def test_a_title_that_a_person_wrote_stays(title: str) -> None:
    assert to_title(f" {title}\n") == title
