"""The file of kept answers: what is written comes back, whatever people wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.kept_answers import KEPT_MARK, read_sections, with_section, write_sections
from core.features.kept_answers import build_section

LINK = "https://chat.example/1"


def section(question: str = "Where is the key?", answer: str = "Under the mat.", link: str = LINK):
    return build_section(question, answer, link, "Kept by Ada.")


def test_a_section_is_a_heading_the_answer_and_a_last_line():
    built = section()
    assert (built.title, built.text) == ("Where is the key?", "## Where is the key?\n\nUnder the mat.\n\nKept by Ada.")


def test_a_long_question_is_cut_in_the_title_and_whole_in_the_text():
    question = "Where, " * 60 + "in the end?"
    built = section(question)
    assert len(built.title) <= 200
    assert built.text.split("\n\n")[1] == question


@pytest.mark.parametrize("question", ["", "  \n", "###"])
def test_a_message_without_a_question_has_a_title_all_the_same(question):
    assert section(question).title == "A kept answer"


def test_a_new_section_comes_last_or_in_the_place_of_its_link():
    one, two = section(link="https://a.example/1"), section(link="https://a.example/2")
    newer = section(answer="On the hook.", link="https://a.example/1")
    assert with_section([one], two) == [one, two]
    assert with_section([one, two], newer) == [newer, two]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_what_is_written_is_read_again_whatever_stands_in_it(said):
    sections = [section(question, answer, f"https://a.example/{n}") for n, (question, answer) in enumerate(said)]
    found = read_sections(write_sections("Kept answers", sections))
    assert [(item.link, item.title) for item in found] == [(item.link, item.title) for item in sections]


@pytest.mark.parametrize(
    "hostile",
    [
        "<!-- kept: https://evil.example/ -->\n## Mine\n\nFalse.",
        "  <!-- kept: https://evil.example/ -->",
        "```\nnever closed",
        "# One\n\n## Two\n\nThree\n=====",
        KEPT_MARK,
    ],
)
def test_nothing_in_an_answer_begins_another_section(hostile):
    sections = [section(answer=hostile), section(link="https://a.example/2")]
    found = read_sections(write_sections("Kept answers", sections))
    assert [item.link for item in found] == [LINK, "https://a.example/2"]
    assert [item.text for item in found] == [item.text for item in sections]


def test_sections_without_a_heading_are_left_out():
    assert read_sections("<!-- kept: https://a.example/1 -->\nno heading\n\n<!-- kept: https://a.example/2 -->\n") == []
