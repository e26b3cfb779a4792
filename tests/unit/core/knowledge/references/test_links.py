import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.references.links import MOST_LINKS, WikiLink, find_links, spoken


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
