"""What became of messages that this process did not answer, or that got no answer."""

import asyncio
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestClient

from bot.web.api.auth import AUTHOR
from bot.web.api.platform import PLATFORM, api_address
from core.domain.incoming import IncomingMessage, event_key
from core.domain.service import ACCEPTED, Decision, InboxStatus
from tests.unit.bot.web.api.conftest import QUESTION, WORKSPACE, Office

REFUSED = Decision(code="over_limit", sentence="Too many questions at once.", accepted=False)


async def message_of(client: TestClient) -> tuple[str | None, str, str]:
    body = await (await client.get(f"{WORKSPACE}/chat/messages/k1")).json()
    return body["session_id"], body["message"]["status"], body["message"]["content"]


async def store(office: Office, decision: Decision = ACCEPTED) -> int:
    """A message of some earlier process; its entry's number, claimed if it was accepted."""
    address = api_address("local", "t")
    key = event_key(address, "k1")
    incoming = IncomingMessage(
        address=address, author=AUTHOR, text="Where?", event_key=key, message_key=key, conversation_id="c1"
    )
    entry, _ = await office.store.accept(incoming, decision)
    await office.store.claim(1, [PLATFORM])
    return entry.seq


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (InboxStatus.FAILED, "The key was refused.", ("c1", "error", "The key was refused.")),
        (InboxStatus.CANCELLED, None, ("c1", "stopped", "Stopped.")),
    ],
)
async def test_a_message_that_ended_without_an_answer_says_how(
    office: Office, client: TestClient, status: InboxStatus, error: str | None, expected: tuple[str, str, str]
) -> None:
    await office.store.finish(await store(office), status, error=error)

    assert await message_of(client) == expected


async def test_an_answer_whose_session_lost_it_is_an_error_and_no_crash(office: Office, client: TestClient) -> None:
    from tests.builders import build_conversation

    await office.conversation_store.add(build_conversation("c1"))
    await office.store.finish(await store(office), InboxStatus.DONE, post_ref="c1/gone")

    assert (await message_of(client))[:2] == ("c1", "error")


async def test_a_refused_message_says_why(office: Office, client: TestClient) -> None:
    await store(office, REFUSED)

    assert await message_of(client) == ("c1", "refused", "Too many questions at once.")


async def test_an_answer_read_back_has_all_that_was_stored_with_it(office: Office, client: TestClient) -> None:
    asked = {"message": QUESTION}
    first = await (await client.post(f"{WORKSPACE}/chat", json=asked, headers={"Idempotency-Key": "k1"})).json()
    again = await (await client.get(f"{WORKSPACE}/chat/messages/k1")).json()

    for name in ("suggestions", "usage", "references", "citations", "grounded", "unsupported"):
        assert again["message"][name] == first["message"][name], name
    trees = [{job["id"]: job["status"] for job in body["message"]["jobs"]} for body in (first, again)]
    assert trees[0] == trees[1] != {}
    assert (again["session_id"], again["message"]["id"]) == (first["session_id"], first["message"]["id"])


async def test_a_message_that_was_asked_again_shows_its_newest_answer(office: Office, client: TestClient) -> None:
    await office.store.finish(await store(office), InboxStatus.FAILED, error="The model is away.")
    entry = await office.store.find(event_key(api_address("local", "t"), "k1"))
    assert entry is not None
    again = replace(entry.incoming, event_key=f"{entry.event_key}@again-1", conversation_id=None)
    await office.inbox.receive(again)
    async with asyncio.timeout(60):
        while await office.open_entries():  # noqa: ASYNC110 - the worker tells nobody else
            await asyncio.sleep(0.01)

    assert (await message_of(client))[1] == "answered"
