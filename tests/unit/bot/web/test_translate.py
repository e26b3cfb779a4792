"""What is asked, what opens a thread, and what is left to people."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.translate import (
    WebPost,
    check_id,
    is_between_people,
    shown_name,
    thread_address,
    to_channel,
    to_incoming,
    to_name,
)
from core.domain.incoming import IncomingMessage
from core.domain.service import ChannelSettings, Listening
from core.errors import BadInput
from core.service.addressing import decide
from core.work.questions import to_command
from tests.unit.core.service.test_turns import Dock

GUEST_AUTHOR = "Guest 0123456789abcdef"


def post(text: str, thread: str = "", others: tuple[str, ...] = ()) -> WebPost:
    return WebPost(
        workspace="local", channel="general", thread=thread, author="Ada", text=text, key="k1", others=others
    )


def is_for_us(incoming: IncomingMessage) -> bool:
    """Where nothing is set."""
    return decide(incoming.circumstances, Listening.NORMAL, ChannelSettings()) is None


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("@footnote where is the key?", "where is the key?"),
        ("@Footnote, where is the key?", "where is the key?"),
        ("where is the key, @footnote?", "where is the key?"),
        ("where is the key , @footnote !", "where is the key!"),
        ("@footnote where is it, @Footnote", "where is it"),
    ],
)
def test_a_mention_in_a_channel_asks_in_a_thread_of_its_own(text: str, question: str) -> None:
    incoming = to_incoming(post(text))

    assert incoming.text == question
    assert incoming.address == thread_address("local", "general", "k1")
    assert is_for_us(incoming)


@pytest.mark.parametrize("text", ["where is it?", "mail bot@footnote.example", "@footnotes are nice", "@ben look"])
def test_outside_a_thread_every_line_is_a_question(text: str) -> None:
    incoming = to_incoming(post(text))

    assert is_for_us(incoming)
    assert (incoming.text, incoming.address.thread) == (text, "k1")


def test_a_follow_up_in_a_thread_needs_no_mention() -> None:
    incoming = to_incoming(post("and the garden?", thread="t1"))

    assert (incoming.text, incoming.address.thread, is_for_us(incoming)) == ("and the garden?", "t1", True)


@pytest.mark.parametrize(
    ("text", "others", "left_alone"),
    [
        ("@ben have you seen this?", (), True),
        ("Ben, have you seen this?", ("Ben",), True),
        ("ben: lunch?", ("Ben",), True),
        ("Ben, the shed and the key: where?", ("Cleo",), False),
        ("Benjamin built what?", ("Ben",), False),
        ("👍", (), True),
        ("!!", (), True),
        ("@ben @footnote where is the key?", ("Ben",), False),
        ("what did @ben build?", ("Ben",), False),
        ("ok?", (), False),
    ],
)
def test_what_people_say_to_each_other_in_a_thread_is_left_alone(
    text: str, others: tuple[str, ...], left_alone: bool
) -> None:
    assert is_for_us(to_incoming(post(text, thread="t1", others=others))) is not left_alone


@pytest.mark.parametrize("text", ["/search old keys", "@footnote /search old keys"])
def test_a_command_needs_no_mention_and_opens_no_thread(text: str) -> None:
    incoming = to_incoming(post(text))
    command = to_command(incoming.text)

    assert command is not None
    assert (command.name, command.argument) == ("search", "old keys")
    assert incoming.address.thread == ""
    assert is_for_us(incoming)


def test_sending_a_message_again_is_the_same_event_in_the_same_thread() -> None:
    first, second = to_incoming(post("@footnote hello there")), to_incoming(post("@footnote hello there"))

    assert first == second
    assert first.event_key == "web:local:general:k1"


@given(st.text(max_size=200), st.sampled_from(["", "t1"]), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_becomes_one_message_and_none_is_lost(text: str, thread: str, others: list[str]) -> None:
    incoming = to_incoming(post(text, thread, tuple(others)))

    assert incoming.address.thread in (thread, "k1")
    if "@footnote" not in text.lower():
        assert incoming.text == text.strip()


@given(st.text(max_size=50))
def test_an_empty_message_is_never_taken_for_talk(text: str) -> None:
    assert is_between_people(text, ()) is False or text.strip() != ""


@pytest.mark.parametrize(("text", "name"), [("  Ada   Lovelace ", "Ada Lovelace"), ("Łukasz", "Łukasz"), ("7", "7")])
def test_a_name_is_one_line(text: str, name: str) -> None:
    assert to_name(text) == name


@pytest.mark.parametrize(
    "text",
    ["", "  ", "👍", "x" * 41, "Footnote", "tools", "You", "guest", "Guest 0a1b2c3d", GUEST_AUTHOR, "a\u202eb"],
)
def test_a_name_that_others_could_not_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        to_name(text)


def test_guests_are_all_called_the_same() -> None:
    assert [shown_name(author) for author in ("Guest 0a1b2c3d", GUEST_AUTHOR, "Ada")] == [
        "Guest",
        "Guest",
        "Ada",
    ]


@pytest.mark.parametrize(("text", "name"), [("Sea Trips!", "sea-trips"), ("#general", "general"), ("Ärzte", "ärzte")])
def test_a_channel_is_named_by_its_words(text: str, name: str) -> None:
    assert to_channel(text) == name


@pytest.mark.parametrize("text", ["", "##", "x" * 61])
def test_a_channel_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        to_channel(text)


@pytest.mark.parametrize("text", ["", "../etc", "a/b", "a b", "-x", "x" * 65, "a\n"])
def test_what_cannot_be_an_id_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        check_id(text, "The thread")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [" ,", "@footnote ", "@", "?", ".\n", "@footnote?", "@ben ", "/a ", "deep: ", "a"])
def test_a_message_of_any_length_is_translated_in_linear_time(piece: str) -> None:
    """A step for each pair of its characters would take hours."""
    text = f"{piece * (500_000 // len(piece))}\0"

    assert to_incoming(post(text, thread="t1", others=("Ben",))).text.endswith("\0")


async def test_a_thread_of_the_web_is_the_bots_whatever_the_inbox_still_knows() -> None:
    dock = Dock()  # whose inbox knows of no message that opened the thread
    asked = await dock.inbox.receive(to_incoming(post("how heavy is the anchor?", thread="t1")))
    talk = await dock.inbox.receive(to_incoming(replace(post("we rowed there once", thread="t1"), key="k2")))

    assert (asked.decision.code, talk.decision.code) == ("accepted", "chatter")
