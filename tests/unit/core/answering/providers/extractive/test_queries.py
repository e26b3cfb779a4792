"""Queries from a conversation, kinds of requests, and replies to small talk."""

import time

import pytest

from core.answering.providers.extractive.cues import BYE, HELLO, THANKS
from core.answering.providers.extractive.provider import (
    Query,
    RequestKind,
    asked_before,
    in_context,
    is_follow_up,
    queries,
    reply_to,
    request_kind,
)
from core.answering.strategies.tool_use import reading_companion
from core.domain.answer import QueryType
from core.domain.chat import Capabilities, ChatMessage, ChatRole, ToolInvocation
from core.domain.incoming import IncomingMessage, ThreadAddress


def user(text: str) -> ChatMessage:
    return ChatMessage(role=ChatRole.USER, text=text)


@pytest.mark.parametrize(
    "question",
    [
        "and what does it weigh?",
        "What's his symbol?",
        "who offered to get that corrected?",
        "will that change?",
        "What is its nickname?",
        "and for Besu?",
        "Which permission does that call need?",
        "How many of those were severe?",
        "the price?",
        "What is my bonus then?",
        "How do I delete one?",
    ],
)
def test_a_question_that_leans_on_the_last_one_is_a_follow_up(question: str) -> None:
    assert is_follow_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "How long does it take to harvest wyvern poison?",
        "Is there a script for OneNote notebooks?",
        "Which flower cures sight rot?",
        "EIP-1559?",
    ],
)
def test_a_question_that_stands_alone_is_none(question: str) -> None:
    assert not is_follow_up(question)


def test_a_follow_up_takes_over_the_words_of_the_question_before_that_it_lacks() -> None:
    before = "Which flower cures sight rot?"
    assert in_context("Where does the flower grow?", before) == "Where does the flower grow (cures sight rot)?"
    assert in_context("sight rot flower cures?", before) == "sight rot flower cures?"


def test_context_words_are_bounded() -> None:
    joined = in_context("And it?", " ".join(f"word{number}" for number in range(50)))
    assert joined.count("word") == 14


def test_the_query_of_the_last_turn_stands_for_its_question() -> None:
    call = ToolInvocation(id="1", name="search", arguments={"query": "What is the nickname (cackle fever)?"})
    page = ToolInvocation(id="2", name="get_page", arguments={"page_id": "p"})
    turns = [user("What is its nickname?"), ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(page, call))]
    assert asked_before(turns) == "What is the nickname (cackle fever)?"
    assert asked_before([user("Where?")]) == "Where?"
    assert asked_before([]) is None


def test_the_first_question_is_searched_as_it_is_and_then_by_its_keywords() -> None:
    question = "Which flower cures sight rot?"
    assert queries(question, []) == [Query(question, question), Query("flower cures sight rot", question)]


def test_a_question_of_keywords_has_one_query() -> None:
    assert queries("longbow range", []) == [Query("longbow range", "longbow range")]


def test_a_follow_up_is_searched_in_context_first() -> None:
    first, second = queries("Where does it grow?", [user("Which flower cures sight rot?")])
    assert first.search == first.judged == "Where does it grow (flower cures sight rot)?"
    assert second.search == "Which flower cures sight rot? Where does it grow?"
    assert second.judged == first.judged


def test_a_standalone_question_of_a_conversation_is_searched_alone_first() -> None:
    first, second = queries("What does a galley cost?", [user("Which flower cures sight rot?")])
    assert first.search == "What does a galley cost?"
    assert second.search == "What does a galley cost (flower cures sight rot)?"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Summarise the minutes of May.", RequestKind.SUMMARY),
        ("Give me an overview of the house rules", RequestKind.SUMMARY),
        ("List all inhaled poisons.", RequestKind.LIST),
        ("Which decisions were made in meeting 77?", RequestKind.LIST),
        ("Who attended the meeting?", RequestKind.LIST),
        ("Which flower cures sight rot?", RequestKind.QUESTION),
    ],
)
def test_the_form_of_the_answer_follows_from_the_words(question: str, kind: RequestKind) -> None:
    assert request_kind(question) is kind


@pytest.mark.parametrize(
    ("asked", "kind"), [(QueryType.SUMMARY, RequestKind.SUMMARY), (QueryType.EXTRACTION, RequestKind.LIST)]
)
def test_a_form_that_the_prompt_asks_for_goes_before_the_words(asked: QueryType, kind: RequestKind) -> None:
    address = ThreadAddress(platform="terminal", workspace="local", channel="c", thread="t")
    question = IncomingMessage(address=address, author="Ann", text="Poisons?", event_key="1", query_type=asked)
    assert request_kind("Poisons?", reading_companion(Capabilities(), question)) is kind


@pytest.mark.parametrize("question", ["What does that mean?", "why?", "Is this true?"])
def test_a_question_about_a_message_is_searched_with_its_words(question: str) -> None:
    said = [user("Something else entirely"), user("The wyvern poison must be harvested at dawn")]
    first, *_ = queries(question, said)
    assert {"wyvern", "poison", "harvested", "dawn"} <= set(first.search.strip("?)").replace("(", "").split())


def test_a_question_that_says_enough_about_a_message_is_searched_alone_first() -> None:
    first, second = queries("Which flower cures sight rot?", [user("The wyvern poison must be harvested at dawn")])
    assert first.search == "Which flower cures sight rot?"
    assert "wyvern" in second.search


@pytest.mark.parametrize("sign", [".", "-", "#"])
def test_a_question_behind_a_row_of_signs_is_read_once(sign: str) -> None:
    question = f"{sign * 20_000} How is the dome cleaned in winter?"
    started = time.process_time()
    assert queries(question, [])[0].judged.endswith("How is the dome cleaned in winter?")
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("hello", HELLO),
        ("Good morning, team!", None),  # a comma makes it talk among people
        ("Hi there!", HELLO),
        ("thanks!", THANKS),
        ("Thank you so much", THANKS),
        ("ok, thanks again", THANKS),
        ("bye", BYE),
        ("thanks, and what does it cost?", None),
        ("Who says hello?", None),
        ("hello world tutorial", None),
        ("Who wrote the thank you note?", None),
    ],
)
def test_only_words_that_ask_for_nothing_are_small_talk(text: str, reply: str | None) -> None:
    assert reply_to(text) == reply
