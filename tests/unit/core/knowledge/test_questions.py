"""Links and reading asides in questions."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.asides import without_reading
from core.knowledge.links import MOST_LINKS, WikiLink, find_links, spoken


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("", []),
        ("No links [here] or [[]] or [[ ]].", []),
        ("[[House]]", [WikiLink("House")]),
        ("See [[House]] and ![[Barn]].", [WikiLink("House"), WikiLink("Barn")]),
        ("[[ the  House ]]", [WikiLink("the House")]),
        ("[[House#Keys]]", [WikiLink("House", "Keys")]),
        ("[[House#Keys#Spare|the spare]]", [WikiLink("House", "Keys#Spare", "the spare")]),
        ("[[House#^k1]]", [WikiLink("House", "^k1")]),
        ("[[notes/House.md|there]]", [WikiLink("notes/House.md", label="there")]),
        (r"[[House\|there]]", [WikiLink("House", label="there")]),
        ("[[#Keys]]", []),
        (r"\[[House]]", []),
        ("`[[House]]` and ```\n[[Barn]]\n```", []),
        ("Roll [[/r 2d6]] for [[House]]", [WikiLink("House")]),
        ("[[a\nb]]", []),
        ("[[" + "x" * 301 + "]]", []),
    ],
)
def test_links_are_read_as_they_are_written(text: str, links: list[WikiLink]) -> None:
    assert find_links(text) == links


def test_multiple_references_to_same_document_are_one() -> None:
    assert find_links("[[House]] [[house]] [[House|it]]", "[[HOUSE]] [[House#Keys]]") == [
        WikiLink("House"),
        WikiLink("House", "Keys"),
    ]


def test_large_numbers_of_references_are_bounded() -> None:
    text = " ".join(f"[[Note {number}]]" for number in range(3 * MOST_LINKS))

    assert [link.target for link in find_links(text)] == [f"Note {number}" for number in range(MOST_LINKS)]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where is the key?", "Where is the key?"),
        ("Where is the key of [[House]]?", "Where is the key of House?"),
        ("What does [[notes/house.md#Keys|the house note]] say?", "What does the house note say?"),
        ("[[House#Keys]]: where?", "House Keys: where?"),
        ("[[House]]", "What is House about?"),
        ("[[House]], [[Barn]] and", "House, Barn and"),
        ("[[House]] ?! [[Barn]] [[House]]", "What is House and Barn about?"),
        ("`[[House]]`", "`[[House]]`"),
        ("Who has one? [[House#Spare]]", "Who has one?"),
        ("Who has one? [[House]], [[Barn]]", "Who has one?"),
        ("Who has [[House]]? [[Barn]]", "Who has House?"),
        ("Compare [[House]], [[Barn]]", "Compare House, Barn"),
    ],
)
def test_messages_with_only_wikilinks_ask_what_they_are_about(question: str, said: str) -> None:
    assert spoken(question) == said


@given(st.text(st.sampled_from("ab[]#|`\\\n !"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    links = find_links(text)

    assert all(link.target and "]" not in link.target for link in links)
    assert links or "[[" not in spoken(text) or "[[" in text


ASKED = "Who upset the boat?"


@pytest.mark.parametrize(
    "question",
    [
        "Who upset the boat? (reader has finished the book)",
        "Who upset the boat (I'm at chapter 9)?",
        "Who upset the boat? (We are in the middle of chapter IV.)",
        "Who upset the boat [no spoilers past chapter 3, please]?",
        "Who upset the boat? (I’ve read the whole book; no spoilers)",
        "Reader is at chapter 9: Who upset the boat?",
        "I'm on page 12, Who upset the boat?",
        "I've finished chapter 5 of the book. Who upset the boat?",
        "We have read up to chapter 3 - Who upset the boat?",
        "The reader has just finished the book; so Who upset the boat?",
        "No spoilers: Who upset the boat?",
        "Who upset the boat? I'm only at chapter 9.",
        "Who upset the boat? I have finished the book",
        "I'm at chapter 9: Who upset the boat?",
    ],
)
def test_what_tells_how_far_somebody_is_is_no_part_of_what_is_asked(question: str) -> None:
    assert without_reading(question) == ASKED


def test_there_is_no_place_where_something_is() -> None:
    assert without_reading("Is there a boat? (I'm at chapter 9)") == "Is there a boat?"


@pytest.mark.parametrize(
    "question",
    [
        ASKED,
        "What happens in chapter 9?",
        "In chapter 9, who rows?",
        "After the storm, where does Tapio live?",
        "Who is at chapter 9?",
        "How far is the reader at chapter 9?",
        "I am at the end of my patience: how do I reset a password?",
        "We're through: what did the council decide?",
        "The reader has to be configured: how is it set?",
        "I read 5 reports, which of them names the cost?",
        "Who sold the boat (the one in chapter 9)?",
        "I've finished chapter 5 of the book.",
        "I'm in chapter 3: who is introduced in this chapter?",
        "I'm on page 12. What does that page say about fees?",
        "I have read chapter 5, what happens there?",
        "I've finished chapter 5. Summarise it.",
        "no spoilers please",
        "",
    ],
)
def test_everything_else_stays_as_it_was_written(question: str) -> None:
    assert without_reading(question) == question


@pytest.fixture
def compiled() -> None:
    """The patterns are compiled: reading is timed, and not their compilation."""
    without_reading("")


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "piece",
    [" ", "(", "reader ", "I am ", "(I am at ", "I am just ", "? ", "no spoilers please ", "I am at the whole "],
)
def test_a_long_text_takes_no_long_time(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    started = time.process_time()
    without_reading(text)
    assert time.process_time() - started < 1.0


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("said", ["I am ", "(Reader is ", "Who upset the boat? I have "])
@pytest.mark.parametrize(
    "words", ["read through ", "in the middle of ", "to the end of ", "finished reading ", "reading "]
)
def test_words_that_say_how_far_are_read_in_one_way_however_many_there_are(said: str, words: str) -> None:
    text = (said + words * 2_000)[:20_000]
    started = time.process_time()
    without_reading(text)
    assert time.process_time() - started < 1.0


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "said", ["I am in chapter 1", "Why? I am in the book", "(I am in chapter 1", "(I am in", "No spoilers"]
)
def test_white_space_is_read_once(said: str) -> None:
    text = said + " " * 20_000 + "x"
    started = time.process_time()
    without_reading(text)
    assert time.process_time() - started < 1.0


@given(st.text(max_size=100))
def test_words_are_only_ever_left_out(text: str) -> None:
    rest = without_reading(text)
    kept = iter(text)
    assert all(character in kept for character in rest)
