"""The contract of ConversationRepository, on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.answer import Reference, ReferenceType
from core.domain.chat import ToolInvocation
from core.domain.conversation import Focus, Outcome, Role, ToolCallRecord
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.passages import Span
from core.domain.replies import Usage
from core.errors import InvalidState, NotFound
from core.ports import ConversationRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from tests.builders import NOON, build_citation, build_conversation, build_message

FOCUS = Focus(document_id="d1", document="guide.md", title="Guide", sections=("p2", "p1"), touched_at=NOON)


@pytest.fixture
def conversations(database: Database) -> ConversationRepository:
    return SqlConversationRepository(database)


async def test_a_conversation_comes_back_as_it_went_in(conversations):
    conversation = build_conversation(title="Keys", focus=FOCUS, pinned_document_id="d2")
    await conversations.add(conversation)
    assert await conversations.get("c1", "local") == conversation
    assert await conversations.find_by_address(conversation.address) == conversation


async def test_a_conversation_begins_without_messages(conversations):
    await conversations.add(build_conversation(message_count=7))
    assert (await conversations.get("c1", "local")).message_count == 0
    assert await conversations.list_messages("c1") == []


async def test_unknown_conversations_and_those_of_other_workspaces_are_not_found(conversations):
    await conversations.add(build_conversation())
    for conversation_id, workspace in [("c2", "local"), ("c1", "elsewhere")]:
        with pytest.raises(NotFound, match=conversation_id):
            await conversations.get(conversation_id, workspace)
    address = ThreadAddress(platform="slack", workspace="local", channel="chat", thread="c1")
    assert await conversations.find_by_address(address) is None


async def test_an_id_or_a_thread_is_taken_once(conversations):
    await conversations.add(build_conversation())
    with pytest.raises(InvalidState, match="already"):
        await conversations.add(build_conversation("c1", thread="another"))
    with pytest.raises(InvalidState, match="already"):
        await conversations.add(build_conversation("c2", thread="c1"))
    assert [found.id for found in await conversations.list_conversations("local")] == ["c1"]


async def test_a_conversation_may_begin_with_its_first_messages_or_not_at_all(conversations):
    first = build_message(created_at=NOON + timedelta(minutes=3))
    await conversations.add(build_conversation(), [first])
    stored, messages = await conversations.read("c1", "local")
    assert (stored.message_count, stored.last_message_at, messages) == (1, NOON + timedelta(minutes=3), [first])
    with pytest.raises(InvalidState, match="already"):
        await conversations.add(build_conversation("c2"), [first])
    assert [found.id for found in await conversations.list_conversations("local")] == ["c1"]


async def test_a_conversation_is_read_with_its_messages_by_id_and_by_thread(conversations):
    conversation = build_conversation()
    await conversations.add(conversation)
    assert await conversations.read_thread(conversation.address) == (conversation, [])
    messages = [build_message(id) for id in ("m1", "m2")]
    await conversations.append("c1", messages)
    stored, found = await conversations.read("c1", "local")
    assert (stored.message_count, found) == (2, messages)
    assert await conversations.read_thread(conversation.address) == (stored, messages)
    assert await conversations.read_thread(replace(conversation.address, thread="other")) is None
    with pytest.raises(NotFound, match="c1"):
        await conversations.read("c1", "elsewhere")


async def test_the_focus_moves_with_the_messages_it_comes_from(conversations):
    await conversations.add(build_conversation())
    await conversations.append("c1", [build_message("m1")], focus=FOCUS)
    await conversations.append("c1", [build_message("m2")])
    assert (await conversations.get("c1", "local")).focus == FOCUS
    with pytest.raises(InvalidState, match="already"):
        await conversations.append("c1", [build_message("m1")], focus=replace(FOCUS, title="Another"))
    assert (await conversations.get("c1", "local")).focus == FOCUS


async def test_a_list_may_be_of_an_owner_and_of_a_channel(conversations):
    here = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
    places = {
        "a": (here, "ada"),
        "b": (replace(here, thread="t2"), "ben"),
        "c": (replace(here, channel="cellar"), "ada"),
        "d": (replace(here, platform="api"), "ada"),
        "e": (replace(here, workspace="elsewhere"), "ada"),
    }
    for id, (address, owner) in places.items():
        await conversations.add(build_conversation(id, address=address, owner=owner))

    async def listed(**filters):
        return {item.id for item in await conversations.list_conversations("local", **filters)}

    channel = ChannelAddress.of(here)
    assert await listed(owner="ada") == {"a", "c", "d"}
    assert await listed(channel=channel) == {"a", "b"}
    assert await listed(channel=channel, owner="ada") == {"a"}
    assert await listed(channel=replace(channel, workspace="elsewhere")) == set()
    assert await listed(owner="nobody") == set()


async def test_the_most_recently_used_conversation_comes_first(conversations):
    for number, id in enumerate(["old", "new", "middle"]):
        await conversations.add(build_conversation(id, last_message_at=NOON + timedelta(minutes=number % 3)))
    await conversations.append("new", [build_message(created_at=NOON + timedelta(hours=1))])
    elsewhere = ThreadAddress(platform="terminal", workspace="elsewhere", channel="chat", thread="x")
    await conversations.add(build_conversation("foreign", address=elsewhere))
    assert [found.id for found in await conversations.list_conversations("local")] == ["new", "middle", "old"]


async def test_conversations_used_at_the_same_moment_are_listed_by_id(conversations):
    for id in ["b", "c", "a"]:
        await conversations.add(build_conversation(id))
    assert [found.id for found in await conversations.list_conversations("local")] == ["a", "b", "c"]


async def test_a_conversation_is_renamed(conversations):
    await conversations.add(build_conversation())
    await conversations.rename("c1", "Über Schlüssel")
    assert (await conversations.get("c1", "local")).title == "Über Schlüssel"
    with pytest.raises(NotFound):
        await conversations.rename("c2", "x")


async def test_messages_come_back_whole_in_the_order_they_went_in(conversations):
    await conversations.add(build_conversation())
    call = ToolCallRecord(
        invocation=ToolInvocation(id="t1", name="search", arguments={"query": "key", "limit": 3, "kind": None}),
        text="2 passages",
        passage_ids=("a", "b"),
        is_error=True,
    )
    reference = Reference(type=ReferenceType.DIRECT, label="[[note]]", document=None, broken=True)
    messages = [
        build_message("z"),
        build_message("y", "", role=Role.TOOL_RESULT, tool_calls=(call,)),
        build_message(
            "x",
            "Under the mat [1].",
            role=Role.ASSISTANT,
            author="footnote",
            references=(reference,),
            citations=(build_citation(url="https://x", deep_link="obsidian://y"), build_citation(number=2)),
            job_id="j1",
            status="answered",
        ),
    ]
    await conversations.append("c1", messages[:1])
    await conversations.append("c1", messages[1:])
    assert await conversations.list_messages("c1") == messages
    assert (await conversations.get("c1", "local")).message_count == 2  # results of tools are nobody's message
    await conversations.remove_messages("c1", ["y"])
    assert (await conversations.get("c1", "local")).message_count == 2


async def test_appending_never_moves_the_last_use_back(conversations):
    await conversations.add(build_conversation())
    later = NOON + timedelta(minutes=5)
    await conversations.append("c1", [build_message("m1", created_at=later), build_message("m2", created_at=NOON)])
    assert (await conversations.get("c1", "local")).last_message_at == later
    await conversations.append("c1", [])
    assert (await conversations.get("c1", "local")).last_message_at == later


async def test_messages_are_not_appended_to_an_unknown_conversation(conversations):
    with pytest.raises(NotFound, match="'c1'"):
        await conversations.append("c1", [build_message()])
    assert await conversations.list_messages("c1") == []


async def test_a_message_id_is_taken_once_and_the_whole_batch_is_refused(conversations):
    await conversations.add(build_conversation())
    await conversations.add(build_conversation("c2"))
    await conversations.append("c1", [build_message("m1")])
    with pytest.raises(InvalidState, match="already"):
        await conversations.append("c2", [build_message("m2"), build_message("m1")])
    assert await conversations.list_messages("c2") == []
    assert (await conversations.get("c2", "local")).message_count == 0


async def test_a_message_belongs_to_the_conversation_it_was_appended_to(conversations):
    await conversations.add(build_conversation("c2"))
    await conversations.append("c2", [build_message(conversation_id="c1")])
    assert [message.conversation_id for message in await conversations.list_messages("c2")] == ["c2"]


async def test_deleting_a_conversation_deletes_its_messages_and_frees_its_thread(conversations):
    conversation = build_conversation()
    await conversations.add(conversation)
    await conversations.append("c1", [build_message(citations=(build_citation(),))])
    await conversations.delete("c1")
    await conversations.delete("c1")
    assert await conversations.list_messages("c1") == []
    await conversations.add(conversation)
    assert await conversations.list_messages("c1") == []
    assert await conversations.list_conversations("local", "d1") == []


async def fill(conversations: ConversationRepository) -> None:
    """One conversation pinned to d1, one focused on it, one citing it, one about d2."""
    await conversations.add(build_conversation("pinned", pinned_document_id="d1"))
    await conversations.add(build_conversation("focused", focus=FOCUS))
    await conversations.add(build_conversation("citing"))
    citing = build_message("m2", role=Role.ASSISTANT, citations=(build_citation("d1"), build_citation("d2", number=2)))
    await conversations.append("citing", [build_message("m1"), citing])
    await conversations.add(build_conversation("other", pinned_document_id="d2"))


async def test_conversations_of_a_document_are_those_pinned_to_it_focused_on_it_or_citing_it(conversations):
    await fill(conversations)
    found = await conversations.list_conversations("local", "d1")
    assert sorted(conversation.id for conversation in found) == ["citing", "focused", "pinned"]
    assert [found.id for found in await conversations.list_conversations("local", "d2")] == ["citing", "other"]
    assert await conversations.list_conversations("elsewhere", "d1") == []


async def test_what_no_database_can_keep_becomes_a_replacement_character(conversations):
    await conversations.add(build_conversation(title="a\x00b"))
    call = ToolCallRecord(
        invocation=ToolInvocation(id="t", name="search", arguments={"que\x00ry": ["\ud800", {"x": "\\u0000"}]}),
        text="\x00",
    )
    await conversations.append("c1", [build_message("m1", "\udc00!", tool_calls=(call,))])
    (message,) = await conversations.list_messages("c1")
    assert (await conversations.get("c1", "local")).title == "a\ufffdb"
    assert message.content == "\ufffd!"
    assert message.tool_calls == (
        replace(
            call,
            invocation=replace(call.invocation, arguments={"que\ufffdry": ["\ufffd", {"x": "\\u0000"}]}),
            text="\ufffd",
        ),
    )


async def test_a_thread_with_an_odd_name_is_found_again(conversations):
    address = ThreadAddress(platform="api", workspace="local", channel="\x00", thread="\ud800")
    await conversations.add(build_conversation(address=address))
    found = await conversations.find_by_address(address)
    assert found is not None
    assert found.id == "c1"


async def test_a_message_is_found_by_its_id_with_what_its_answer_was(conversations):
    await conversations.add(build_conversation())
    outcome = Outcome(
        partial=True,
        grounded=True,
        unsupported=(Span(1, 4),),
        choices=("a", "b"),
        suggestions=("c?",),
        usage=Usage(input_tokens=3, cache_read_tokens=1),
        model="m",
    )
    message = build_message("m1", role=Role.ASSISTANT, status="answered", outcome=outcome)
    await conversations.append("c1", [message])
    assert await conversations.find_message("m1") == message
    assert await conversations.find_message("m2") is None
    assert await conversations.find_by_message("m1") == await conversations.get("c1", "local")
    assert await conversations.find_by_message("m2") is None


async def test_removed_messages_are_gone_and_later_ones_still_come_last(conversations):
    await conversations.add(build_conversation())
    await conversations.append("c1", [build_message(id, citations=(build_citation(),)) for id in ("m1", "m2", "m3")])
    await conversations.remove_messages("c1", {"m1", "m3", "unknown"})
    assert (await conversations.get("c1", "local")).message_count == 1
    await conversations.append("c1", [build_message("m4"), build_message("m1")])
    assert [message.id for message in await conversations.list_messages("c1")] == ["m2", "m4", "m1"]
    assert (await conversations.get("c1", "local")).message_count == 3
    assert await conversations.find_message("m3") is None


async def test_only_messages_of_the_conversation_named_are_removed(conversations):
    await conversations.add(build_conversation())
    await conversations.add(build_conversation("c2"))
    await conversations.append("c1", [build_message("m1")])
    await conversations.remove_messages("c2", ["m1"])
    await conversations.remove_messages("unknown", ["m1"])
    await conversations.remove_messages("c1", [])
    assert [message.id for message in await conversations.list_messages("c1")] == ["m1"]
