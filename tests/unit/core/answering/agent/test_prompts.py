import pytest
from syrupy.assertion import SnapshotAssertion

from core.answering.agent.prompts import conversation_notes, empty_answer, last_turn, section_items, section_summary
from core.answering.agent.turns import build_turns
from core.answering.strategies.tool_use import reading_companion
from core.domain.answer import QueryType
from core.domain.chat import Capabilities, ChatMessage, ChatRole
from core.domain.incoming import Attachment, IncomingMessage, Talk, ThreadAddress
from tests.builders import NOON


def question(text: str = "Where is the key?", author: str = "ada", **fields: object) -> IncomingMessage:
    address = ThreadAddress(platform="terminal", workspace="local", channel="chat", thread="t")
    return IncomingMessage(address=address, author=author, text=text, event_key="e", **fields)


@pytest.mark.parametrize("citations", [True, False], ids=["native", "markers"])
def test_the_reading_companion(citations: bool, snapshot: SnapshotAssertion):
    assert reading_companion(Capabilities(citations=citations), question()) == snapshot


@pytest.mark.parametrize("query_type", [QueryType.SUMMARY, QueryType.EXTRACTION])
def test_the_reading_companion_for_a_kind_of_request(query_type: QueryType, snapshot: SnapshotAssertion):
    prompt = reading_companion(Capabilities(), question(query_type=query_type))
    assert prompt.removeprefix(reading_companion(Capabilities(), question())) == snapshot


def test_the_document_asked_about_is_named():
    prompt = reading_companion(Capabilities(), question(document="guide.md"))
    assert prompt.endswith("and the tools read no other: guide.md")
    assert reading_companion(Capabilities(), question(journal="Mine")).endswith("no other: Mine")


@pytest.mark.parametrize(
    "fields",
    [
        {"about": Talk(message_id="m", author="bob", text="It is under the mat.", said_at=NOON)},
        {
            "attachments": (
                Attachment(name="a.pdf", size_bytes=1, reference="r"),
                Attachment(name="b.md", size_bytes=1, reference="r"),
            )
        },
        {"language": "German"},
    ],
    ids=["about", "attachments", "language"],
)
def test_what_a_chat_platform_adds(fields: dict[str, object], snapshot: SnapshotAssertion):
    prompt = reading_companion(Capabilities(), question(**fields))
    assert prompt.removeprefix(reading_companion(Capabilities(), question())) == snapshot


def test_people_are_named_as_others_see_them():
    turns = build_turns([user("Hello", "ada")], question(author="4711", author_name="Bob"))
    assert [turn.speaker for turn in turns] == ["ada", "Bob"]


def test_scope_is_kept_by_code_and_never_told():
    prompt = reading_companion(Capabilities(), question(position="chapter 3")).lower()
    assert not any(word in prompt for word in ("spoiler", "position", "chapter 3", "allowed to read", "permission"))


def test_notes_on_the_way(snapshot: SnapshotAssertion):
    assert (last_turn("6 steps"), empty_answer(), conversation_notes(200)) == snapshot


def test_one_section_of_what_is_too_long(snapshot: SnapshotAssertion):
    assert (section_summary(), section_items("all people")) == snapshot


def user(text: str, speaker: str) -> ChatMessage:
    return ChatMessage(role=ChatRole.USER, text=text, speaker=speaker)


def test_the_question_is_the_last_turn():
    turns = build_turns([user("Hello", "ada"), ChatMessage(role=ChatRole.ASSISTANT, text="Hi")], question())
    assert [turn.text for turn in turns] == ["Hello", "Hi", "Where is the key?"]


def test_the_day_and_the_library_come_before_the_conversation():
    turns = build_turns([user("Hello", "ada")], question(), "Today is Tuesday.")
    assert [turn.text for turn in turns[1:]] == ["Hello", "Where is the key?"]
    assert turns[0].text.endswith("\nToday is Tuesday.") and turns[0].speaker is None


def test_a_lone_speaker_is_not_named():
    assert [turn.speaker for turn in build_turns([user("Hello", "ada")], question())] == [None, None]


def test_speakers_are_named_from_the_second_person_on():
    turns = build_turns([user("Hello", "ada")], question(author="bob"))
    assert [turn.speaker for turn in turns] == ["ada", "bob"]
