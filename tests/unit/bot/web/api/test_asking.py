"""POST chat and what became of a message."""

import asyncio
from urllib.parse import quote

import pytest
from aiohttp.test_utils import TestClient

from core.domain.incoming import IncomingMessage
from core.domain.service import Decision
from core.service.inbox import STANDARD_GATES, Gate, Inbox
from tests.unit.bot.web.api.conftest import MODEL, QUESTION, QUOTE, WORKSPACE, Office, OpenClient, error_of


async def ask(client: TestClient, message: str = QUESTION, key: str | None = None, **fields: object):
    headers = {"Idempotency-Key": key} if key else {}
    return await client.post(f"{WORKSPACE}/chat", json={"message": message, **fields}, headers=headers)


async def final(client: TestClient, address: str):
    """What a message's address says when it has stopped saying 202."""
    for _ in range(6000):
        if (response := await client.get(address)).status != 202:
            return response
        await asyncio.sleep(0.01)
    raise AssertionError(f"{address} says 202 for ever")


async def test_a_question_is_answered_with_proved_citations_in_a_new_session(client: TestClient) -> None:
    response = await ask(client)
    body = await response.json()

    assert response.status == 200
    assert set(body) == {"session_id", "message"}
    assert body["message"]["content"] == body["message"]["answer"] == f"{QUOTE[:-1]}[1]."
    assert [(c["document"], c["quote"], c["proved"]) for c in body["message"]["citations"]] == [
        ("house.md", QUOTE, True)
    ]
    assert body["message"]["conversation_id"] == body["session_id"]


async def test_a_follow_up_goes_on_in_its_session(client: TestClient) -> None:
    first = await (await ask(client)).json()
    second = await (await ask(client, "And where does it hang?", session_id=first["session_id"])).json()
    session = await (await client.get(f"{WORKSPACE}/chat/sessions/{first['session_id']}")).json()

    assert second["session_id"] == first["session_id"]
    assert [m["content"] for m in session["messages"] if m["role"] == "user"] == [QUESTION, "And where does it hang?"]


async def test_an_answer_that_takes_long_is_stored_and_found_where_the_202_says(
    office: Office, connect: OpenClient
) -> None:
    client = await connect(wait_seconds=0.05)
    office.provider.hold.clear()
    response = await ask(client)
    pending = await response.json()
    look = response.headers["Location"]
    waiting = await client.get(look)
    office.provider.hold.set()
    found = await final(client, look)

    assert (response.status, waiting.status, found.status) == (202, 202, 200)
    assert pending["session_id"] is None  # it begins with this message
    assert pending["look"] == look
    assert (await found.json())["message"]["citations"][0]["quote"] == QUOTE


async def test_the_same_key_asks_nothing_twice(office: Office, client: TestClient) -> None:
    answers = await asyncio.gather(*(ask(client, key="k1") for _ in range(5)))
    bodies = [await response.json() for response in answers]

    assert {response.status for response in answers} == {200}
    assert len({body["message"]["id"] for body in bodies}) == 1
    assert office.provider.asked == 1


async def test_a_key_of_another_message_is_a_conflict(client: TestClient) -> None:
    await ask(client, key="k1")

    assert (await error_of(await ask(client, "Is there a shed?", key="k1"), 409))[0] == "key_reused"


async def test_the_answer_to_a_message_is_that_of_its_session(office: Office, client: TestClient) -> None:
    first = await (await ask(client, key="k1")).json()
    again = await (await client.get(f"{WORKSPACE}/chat/messages/k1")).json()

    assert again["session_id"] == first["session_id"]
    for name in ("id", "status", "content", "citations"):
        assert again["message"][name] == first["message"][name]


@pytest.mark.parametrize("removed", ["conversation", "document", "source"])
async def test_a_removed_answer_is_in_no_reply_from_the_same_moment_on(
    office: Office, client: TestClient, removed: str
) -> None:
    first = await (await ask(client, key="k1")).json()
    await office.worker.stop()  # nothing takes posts back
    if removed == "conversation":
        await office.conversations.delete(first["session_id"], "local", by="somebody")
    elif removed == "document":
        await office.shelf.corpus.remove_documents(
            [item.id for item in await office.shelf.corpus.list_documents("local")]
        )
    else:
        await office.shelf.corpus.remove_source(office.shelf.source.id)
    found = await client.get(f"{WORKSPACE}/chat/messages/k1")
    said = await found.text()

    assert (await found.json())["message"]["status"] in ("error", "refused")
    assert [part for part in (QUOTE, "under the stairs", "House", "house.md") if part in said] == []


async def test_an_answer_can_be_stopped(office: Office, connect: OpenClient) -> None:
    client = await connect(wait_seconds=0.05)
    office.provider.hold.clear()
    await ask(client, key="k1")
    stopped = await client.post(f"{WORKSPACE}/chat/messages/k1/stop")
    found = await final(client, f"{WORKSPACE}/chat/messages/k1")

    assert stopped.status == 202
    assert (await found.json())["message"]["status"] == "stopped"
    assert (await error_of(await client.post(f"{WORKSPACE}/chat/messages/k1/stop"), 409))[0] == "invalid_state"


async def test_nothing_indexed_is_said_before_anything_is_asked(office: Office, client: TestClient) -> None:
    await office.shelf.corpus.remove_source(office.shelf.source.id)

    step = "Add some with `footnote ingest PATH`, or in the web app under Library."
    said = f"The workspace 'local' has no documents yet. {step}"
    assert await error_of(await ask(client), 400) == ("nothing_indexed", said)
    assert await office.store.recent("local") == []


async def test_a_library_that_was_emptied_is_noticed_within_a_while(office: Office, client: TestClient) -> None:
    await ask(client)
    await office.shelf.corpus.remove_source(office.shelf.source.id)
    meanwhile = await (await ask(client)).json()
    office.clock.advance(31)

    assert meanwhile["message"]["status"] == "not_found"
    assert (await error_of(await ask(client), 400))[0] == "nothing_indexed"


@pytest.mark.parametrize(("full", "status", "code"), [(True, 429, "over_limit"), (False, 200, "")])
async def test_what_a_gate_refuses_is_said_with_its_sentence(
    office: Office, connect: OpenClient, full: bool, status: int, code: str
) -> None:
    async def check(incoming: IncomingMessage) -> Decision | None:
        return Decision(code="over_limit", sentence="Too many.", accepted=False) if full else None

    gates = [*STANDARD_GATES, Gate(name="rate", check=check)]
    client = await connect(inbox=Inbox(office.store, gates, office.clock, office.worker.wake))
    response = await ask(client)

    assert response.status == status
    if code:
        assert (await error_of(response, status))[0] == code
        assert response.headers["Retry-After"] == "60"


@pytest.mark.parametrize(
    ("fields", "status", "part"),
    [
        ({"message": ""}, 422, "empty"),
        ({"message": " \n\t"}, 422, "empty"),
        ({"message": "?" * 10}, 422, "empty"),
        ({"message": "why " * 25_000}, 422, "100,000 characters"),  # 100 KB
        ({"message": "/threads"}, 422, "begins with /"),
        ({"message": 5}, 422, "'message'"),
        ({"message": QUESTION, "colour": "red"}, 422, "'colour': unknown field"),
        ({"message": QUESTION, "session_id": "nowhere"}, 404, "nowhere"),
        ({"message": QUESTION, "session_id": "../../etc/passwd"}, 404, "passwd"),
        ({"message": QUESTION, "session_id": "x" * 300}, 422, "'session_id'"),
        ({"message": QUESTION, "document": "atlantis.pdf"}, 404, "atlantis.pdf"),
        ({"message": QUESTION, "document": "../../etc/passwd"}, 404, "passwd"),
        ({"message": QUESTION, "position": "chapter 99"}, 422, "chapter 99"),
        ({"message": QUESTION, "position": "house.md="}, 422, "names no place"),
        ({"message": "why " * 80_000}, 413, "256 KiB"),
    ],
)
async def test_a_bad_question_is_refused_with_a_sentence_and_stored_nowhere(
    office: Office, client: TestClient, fields: dict[str, object], status: int, part: str
) -> None:
    response = await client.post(f"{WORKSPACE}/chat", json=fields)

    assert part in (await error_of(response, status))[1]
    assert await office.conversations.list_conversations("local") == []
    assert await office.open_entries() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"message": "why",}',
        b'{"message": NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"message": ' + b"9" * 5_000 + b"}",
        b'{"message": "a\x00b"}',
    ],
)
async def test_malformed_json_is_named_as_such(client: TestClient, body: bytes) -> None:
    response = await client.post(f"{WORKSPACE}/chat", data=body, headers={"Content-Type": "application/json"})

    assert (await error_of(response, 400))[0] == "malformed_json"


@pytest.mark.parametrize("body", ["[]", '"why"', "null", "5"])
async def test_json_that_is_no_object_is_refused(client: TestClient, body: str) -> None:
    assert "JSON object" in (await error_of(await client.post(f"{WORKSPACE}/chat", data=body), 422))[1]


async def test_a_body_in_pieces_is_stopped_at_the_limit(client: TestClient) -> None:
    async def pieces():
        for _ in range(100):
            yield b" " * 10_000

    assert (await error_of(await client.post(f"{WORKSPACE}/chat", data=pieces()), 413))[0] == "too_large"


@pytest.mark.parametrize("key", ["", "a b", "x" * 101, "a/b", "ä", "..", "a:b"])
async def test_a_key_that_could_be_no_address_is_refused(client: TestClient, key: str) -> None:
    response = await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION}, headers={"Idempotency-Key": key})

    assert "Idempotency-Key" in (await error_of(response, 422))[1]


@pytest.mark.parametrize("message_id", ["unknown", "../k1", "..%2f..%2fetc", "x" * 3000, "%00"])
async def test_an_unknown_message_is_not_found(client: TestClient, message_id: str) -> None:
    address = f"{WORKSPACE}/chat/messages/{quote(message_id, safe='')}"

    assert (await error_of(await client.get(address), 404))[0] == "not_found"
    assert (await error_of(await client.post(f"{address}/stop"), 404))[0] == "not_found"


async def test_html_in_a_question_is_text_and_nothing_else(client: TestClient) -> None:
    text = "<script>alert(1)</script> Where is the key?"
    session_id = (await (await ask(client, text)).json())["session_id"]
    response = await client.get(f"{WORKSPACE}/chat/sessions/{session_id}")

    assert response.content_type == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert (await response.json())["messages"][0]["content"] == text


async def test_a_provider_that_fails_is_an_answer_of_status_error(office: Office, client: TestClient) -> None:
    async def fail(request, on_text=None):
        from core.errors import ProviderAuthError

        raise ProviderAuthError("The key was refused: set a new one.")

    office.provider.complete = fail
    body = await (await ask(client)).json()

    assert (body["message"]["status"], body["message"]["content"]) == ("error", "The key was refused: set a new one.")


async def test_half_a_character_and_a_nul_do_no_harm(client: TestClient) -> None:
    response = await ask(client, "\ud800 Where is \x00 the key?")
    session = await (await client.get(f"{WORKSPACE}/chat/sessions/{(await response.json())['session_id']}")).json()

    assert response.status == 200
    assert session["messages"][0]["content"] == "\ufffd Where is \ufffd the key?"


async def test_many_questions_at_once_are_all_answered(client: TestClient) -> None:
    answers = await asyncio.gather(*(ask(client) for _ in range(50)))

    assert {response.status for response in answers} == {200}
    assert len({(await response.json())["session_id"] for response in answers}) == 50


@pytest.mark.parametrize(
    ("fields", "kind", "part"),
    [({"strategy": "guess"}, "unsupported", "guess"), ({"model": "claude-nope"}, "bad_input", "claude-nope")],
)
async def test_a_strategy_or_a_model_that_there_is_not_is_refused_and_not_stored(
    client: TestClient, office: Office, fields: dict[str, str], kind: str, part: str
) -> None:
    response = await ask(client, **fields)
    code, message = await error_of(response, 422)
    assert (code, part in message) == (kind, True)
    assert await office.store.recent("local", limit=1) == []


async def test_a_strategy_and_a_model_that_there_are_answer(client: TestClient) -> None:
    assert (await ask(client, strategy="tool_use", model=MODEL)).status == 200
