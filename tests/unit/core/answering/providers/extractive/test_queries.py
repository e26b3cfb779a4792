"""Queries from a conversation, kinds of requests, and replies to small talk."""

import time

import pytest

from core.answering.providers.extractive.conversation import (
    Query,
    about_things,
    asked_before,
    asks_more,
    asks_why,
    in_context,
    in_place_of,
    in_talk,
    part_queries,
    queries,
    statement_asked_about,
)
from core.answering.providers.extractive.parts import RequestKind, request_kind
from core.answering.providers.extractive.quotes import Quote
from core.answering.strategies.tool_use import reading_companion
from core.domain.answer import QueryType
from core.domain.chat import Capabilities, ChatMessage, ChatRole, ToolInvocation
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.text.asking import is_follow_up
from tests.unit.core.answering.providers.extractive.small_library import passages_of


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


@pytest.mark.parametrize(
    ("question", "before", "answer", "wordings"),
    [
        ("are they painted by now?", "Who paints the dog signs?", "", ["are the dog signs painted by now?"]),
        ("how long does it last", "what is tide mode", "", ["how long does tide mode last"]),
        (
            "who was it that brought it up?",
            "How did she vote on the fares?",
            "",
            ["who was it that brought the fares up?"],
        ),
        ("What is its depth?", "Where is the well?", "", ["What is the well's depth?"]),
        (
            "can she cross salt?",
            "How does it end?",
            "It ends when one thanks Anwen Rook.",
            ["can Anwen Rook cross salt?"],
        ),
        ("how heavy is it", "and then?", "Destroying the bell frees her.", ["how heavy is the bell"]),
        (
            "what scares them?",
            "What do the lamp wreckers have?",
            "The wick is wet.",
            [
                "what scares the lamp wreckers?",
                "what scares the wick?",
            ],
        ),
        ("and when?", "Who paints the signs?", "", []),
        ("is it possible to cross?", "Where is the bridge?", "", []),
        ("what was the fare, and when did it rise?", "Where is the bridge?", "", []),
    ],
)
def test_a_pronoun_is_tried_with_the_things_that_were_talked_of(
    question: str, before: str, answer: str, wordings: list[str]
) -> None:
    assert about_things(question, [user(before)], answer) == wordings


def test_what_the_last_questions_name_comes_before_what_the_answer_does() -> None:
    history = [user("Where is the inn?"), user("and the chapel?")]

    assert about_things("who built it?", history, "The bell hangs in the tower.") == [
        "who built the chapel?",
        "who built the inn?",
        "who built the bell?",
    ]


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


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        ("Who owns the on-call guide?", "and the runbook?", "Who owns the runbook?"),
        ("Who owns the on-call guide?", "sorry, I meant the fleet note", "Who owns the fleet note?"),
        (
            "How many cars does the Saint Brannoc carry?",
            "what about the Pelican?",
            "How many cars does the Pelican carry?",
        ),
        ("What was the surplus in 2025?", "And in 2024?", "What was the surplus in 2024?"),
        ("What was the surplus in 2025?", "and for amber, is there one?", None),
        ("What was the surplus in 2025?", "and who is responsible?", None),
        ("What was the surplus?", "and in 2024?", None),
        ("Who came?", "and the mate?", None),
        ("Who owns the guide?", "why?", None),
    ],
)
def test_another_thing_takes_the_place_of_the_one_asked_about(before: str, question: str, asked: str | None) -> None:
    assert in_place_of(question, before) == asked
    searched = [query.search for query in queries(question, [ChatMessage(role=ChatRole.USER, text=before)])]
    assert (searched[0] == asked) is (asked is not None)


def test_a_follow_up_is_searched_in_context_first() -> None:
    first, second = queries("Where does it grow?", [user("Which flower cures sight rot?")])
    assert first.search == first.judged == "Where does it grow (flower cures sight rot)?"
    assert second.search == "Which flower cures sight rot? Where does it grow?"
    assert second.judged == second.search


def test_what_people_said_goes_before_a_question_as_they_said_it() -> None:
    said = [user("The poison is in the cellar"), user("It was harvested at dawn")]
    _, second, talk = queries("by whom?", said)
    assert second.judged == "It was harvested at dawn. by whom?"
    assert talk.judged == "The poison is in the cellar. It was harvested at dawn. by whom?"


def test_a_mere_why_takes_its_subject_from_the_talk() -> None:
    (source,) = passages_of("moor.md", "The ferry waits because of the tide.")
    quote = Quote(source=source, sentences=source.passage.sentences, logit=1.0, score=1.0)
    assert in_talk("and why?", [quote], [user("I'll ask somebody later")], "") == []
    assert in_talk("and why?", [quote], [user("The ferry is late again")], "") == [quote]


def test_who_is_right_asks_about_both_that_were_said() -> None:
    said = [user("I think the poison is harvested at dawn"), user("I would have said at dusk")]
    assert statement_asked_about("who is right?", said) == f"{said[0].text}. {said[1].text}"
    assert statement_asked_about("is that right?", said) == said[1].text


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
    first, second, *_ = queries("Which flower cures sight rot?", [user("The wyvern poison must be harvested at dawn")])
    assert first.search == "Which flower cures sight rot?"
    assert "wyvern" in second.search


@pytest.mark.parametrize("sign", [".", "-", "#"])
def test_a_question_behind_a_row_of_signs_is_read_once(sign: str) -> None:
    question = f"{sign * 20_000} How is the dome cleaned in winter?"
    started = time.process_time()
    assert queries(question, [])[0].judged.endswith("How is the dome cleaned in winter?")
    assert time.process_time() - started < 1.0


def test_what_people_said_after_a_question_is_read_with_it_and_courtesies_are_not() -> None:
    turns = [user("How warm must the greenhouse be?"), user("it is freezing outside"), user("hm"), user("ok!")]
    assert asked_before(turns) == "it is freezing outside How warm must the greenhouse be?"


def test_a_part_is_read_by_itself_and_within_the_whole_question() -> None:
    whole = "Who chairs the guild, and where are the books kept?"
    _, second = part_queries(["Who chairs the guild?", "where are the books kept?"], whole, None)
    assert [query.search for query in second] == ["where are the books kept?", whole]
    assert {query.judged for query in second} == {"where are the books kept?"}


def test_the_first_part_of_a_follow_up_leans_on_the_question_before() -> None:
    whole = "How do I change that? Which note explains more?"
    (first,), _ = part_queries(["How do I change that?", "Which note explains more?"], whole, "Where do drafts go?")
    assert first.search.endswith("(drafts go)?")
    assert first.judged == "How do I change that (drafts go)?"


@pytest.mark.parametrize(
    "text", ["tell me more", "And more details, please", "go on!", "More?", "what else does it say?"]
)
def test_a_message_may_ask_for_more(text: str) -> None:
    assert asks_more(text)


@pytest.mark.parametrize(
    "text", ["more bees than hives?", "tell me when it rains", "next meeting?", "why is it closed?"]
)
def test_other_questions_don_t_ask_for_more(text: str) -> None:
    assert not asks_more(text) and not asks_why(text)


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("is that right?", True),
        ("hm, is that still ok??", True),
        ("does that fit?", True),
        ("who is right, Ann or Bo?", True),
        ("is that the boat?", False),
        ("is that right for cars?", False),
        ("does it fit into the van?", False),
    ],
)
def test_whether_something_is_right_asks_about_the_statement_before(question: str, is_asked: bool) -> None:
    said = "The saloon is free of dogs on Sundays"
    history = (user(said), ChatMessage(role=ChatRole.ASSISTANT, text="It is not."), user("When does it open?"))
    assert statement_asked_about(question, history) == (said if is_asked else None)
    assert statement_asked_about(question, history[2:]) is None


def test_a_statement_that_is_asked_about_is_no_context_of_itself() -> None:
    said = [user("How deep is the cellar?"), user("It floods every spring")]
    statement = statement_asked_about("is that right?", said)
    assert statement == "It floods every spring"
    found = [query.judged for query in queries(statement, said, is_statement=True)]
    assert found == [statement, f"{statement} (deep cellar)?", f"{said[0].text} {statement}"]


def test_a_question_that_leans_on_the_talk_does_not_hide_what_it_leans_on() -> None:
    said = [user("The harvest is on Sunday"), user("wasn't it put off to Monday?")]
    found = [query.judged for query in queries("was it?", said)]
    assert "The harvest is on Sunday. wasn't it put off to Monday? was it?" in found
