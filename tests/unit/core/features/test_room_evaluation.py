"""Scoring of conversations and everyday messages."""

import json

import pytest

from core.domain.answer import AnswerStatus
from core.errors import BadInput
from core.features.room_evaluation import (
    Heard,
    LabelledScene,
    Posted,
    plain,
    read_everyday,
    read_rooms,
    score_everyday,
    score_rooms,
)

HULL = Posted(status=AnswerStatus.ANSWERED, text="The *hull* is\noak [1].", documents=("yard.md",))
GREETING = Posted(status=AnswerStatus.ANSWERED, text="Hello!")
NOTHING = Posted(status=AnswerStatus.NOT_FOUND, text="I did not find an answer.")


def room(*messages: dict[str, object], place: str = "bot_thread") -> LabelledScene:
    lines = [{"n": number, "author": "ada", "text": "x", **item} for number, item in enumerate(messages, start=1)]
    return read_rooms([json.dumps({"id": "r", "category": "c", "place": place, "messages": lines})])[0]


def heard(*posts: tuple[Posted, ...]) -> list[Heard]:
    return [
        Heard(number=number, code="accepted", reason="", decision_ms=1.0, posts=those)
        for number, those in enumerate(posts, start=1)
    ]


OAK = {"expect": "answer", "gold": {"document": "yard.md", "contains": ["hull is oak"]}}
SILENT = {"expect": "silent"}


def test_what_is_posted_where_nothing_is_due_is_a_false_interjection() -> None:
    report = score_rooms([(room(OAK, SILENT, {"expect": "reaction"}), heard((HULL,), (HULL,), ()))])
    found = report.to_json()
    assert (found["missed_questions"], found["false_interjections"], found["wrong_content"]) == (0.0, 0.5, 0.0)
    assert [(miss.number, miss.kind) for miss in report.misses] == [(2, "interjection")]


@pytest.mark.parametrize(
    ("place", "post", "share"), [("dm", GREETING, 0.0), ("dm", HULL, 1.0), ("bot_thread", GREETING, 1.0)]
)
def test_in_private_a_short_courtesy_is_as_right_as_a_reaction(place: str, post: Posted, share: float) -> None:
    report = score_rooms([(room({"expect": "reaction"}, place=place), heard((post,)))])
    assert report.to_json()["false_interjections"] == share


def test_a_burst_needs_one_reply_wherever_it_stands() -> None:
    asked = room(SILENT, {**OAK, "soon": True}, {**SILENT, "soon": True})
    assert score_rooms([(asked, heard((), (), (HULL,)))]).misses == ()
    twice = score_rooms([(asked, heard((HULL,), (HULL,), ()))])
    assert [miss.kind for miss in twice.misses] == ["interjection"]


def test_a_greeting_before_a_question_of_the_same_burst_needs_no_reply() -> None:
    asked = room({"expect": "brief"}, {**OAK, "soon": True})
    report = score_rooms([(asked, heard((), (HULL,)))])
    assert (report.misses, report.total.missed_briefs) == ((), 0)


@pytest.mark.parametrize(
    ("label", "post", "is_wrong"),
    [
        (OAK, HULL, False),
        ({"expect": "answer", "gold": {"contains": ["hull is pine"]}}, HULL, True),
        ({**OAK, "must_not_contain": ["hull"]}, HULL, True),
        ({"expect": "answer", "gold": None}, NOTHING, False),
        ({"expect": "answer", "gold": None}, HULL, True),
        ({"expect": "brief"}, GREETING, False),
        ({"expect": "brief"}, NOTHING, True),
        ({"expect": "clarify"}, HULL, True),
    ],
)
def test_the_content_is_checked(label: dict[str, object], post: Posted, is_wrong: bool) -> None:
    assert score_rooms([(room(label), heard((post,)))]).total.wrong == is_wrong


@pytest.mark.parametrize(
    ("line", "post", "is_right"),
    [
        ({"expect": "brief", "must_not": ["quote"]}, GREETING, True),
        ({"expect": "brief", "must_not": ["quote"]}, HULL, False),
        ({"expect": "brief", "accept": ["not_found"]}, NOTHING, True),
        ({"expect": "brief", "contains_any": ["ahoy"]}, GREETING, False),
        (OAK, HULL, True),
        (OAK, NOTHING, False),
    ],
)
def test_everyday_messages_have_a_kind_of_reply(line: dict[str, object], post: Posted, is_right: bool) -> None:
    [read] = read_everyday([json.dumps({"id": "e", "category": "c", "text": "hi", "history": ["before"], **line})])
    assert score_everyday([(read, heard((), (post,)))]).total.right == is_right


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "r"}', '{"id": "r", "place": "moon", "messages": []}'])
def test_an_unusable_line_is_named(line: str) -> None:
    with pytest.raises(BadInput, match="Line 1"):
        read_rooms([line])


def test_underscores_within_a_word_are_no_markdown() -> None:
    assert plain("_The_ code __is__ `tide_lock`.") == "The code is tide_lock."
