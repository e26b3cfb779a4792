"""API tokens of people: how far each scope reaches, and that nobody reaches another person's sessions."""

import re

import pytest

from core.access.identity import TOKEN_PREFIX
from core.domain.identity import TokenScope
from core.errors import BadInput
from tests.unit.bot.web.api.conftest import QUESTION, TOKEN, WORKSPACE, Office, OpenClient, error_of

CHAT, SESSIONS = f"{WORKSPACE}/chat", f"{WORKSPACE}/chat/sessions"


async def bearer(office: Office, person: str = "ada", scope: TokenScope = TokenScope.ASK) -> dict[str, str]:
    _, secret = await office.tokens.add(person, scope)
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/metrics", TokenScope.READ),
        ("GET", f"{WORKSPACE}/documents", TokenScope.READ),
        ("GET", f"{WORKSPACE}/search?query=key", TokenScope.READ),
        ("GET", SESSIONS, TokenScope.ASK),
        ("POST", CHAT, TokenScope.ASK),
        ("GET", f"{WORKSPACE}/jobs", TokenScope.ADMIN),
        ("GET", f"{WORKSPACE}/jobs/x", TokenScope.ADMIN),
    ],
)
@pytest.mark.parametrize("scope", TokenScope)
async def test_each_scope_reaches_so_far(
    office: Office, connect: OpenClient, method: str, path: str, needed: TokenScope, scope: TokenScope
) -> None:
    client = await connect(role=None)
    reply = await client.request(method, path, json={"message": QUESTION}, headers=await bearer(office, scope=scope))

    if [*TokenScope].index(scope) >= [*TokenScope].index(needed):
        assert reply.status in (200, 404)
    else:
        code, message = await error_of(reply, 403)
        assert code == "access_denied" and f"footnote tokens add ada --scope {needed.value}" in message


async def test_a_person_sees_continues_and_deletes_only_their_own_sessions(office: Office, connect: OpenClient) -> None:
    client = await connect(role=None, token=TOKEN)
    ada, ben = await bearer(office), await bearer(office, "ben")
    asked = await client.post(CHAT, json={"message": QUESTION}, headers={**ada, "Idempotency-Key": "k1"})
    session = (await asked.json())["session_id"]
    theirs = [
        await client.get(f"{SESSIONS}/{session}", headers=ben),
        await client.get(f"{SESSIONS}/{session}/export?format=json", headers=ben),
        await client.patch(f"{SESSIONS}/{session}", json={"title": "Mine"}, headers=ben),
        await client.delete(f"{SESSIONS}/{session}", headers=ben),
        await client.post(CHAT, json={"message": QUESTION, "session_id": session}, headers=ben),
        await client.get(f"{CHAT}/messages/k1", headers=ben),
        await client.post(f"{CHAT}/messages/k1/stop", headers=ben),
    ]
    reused = await client.post(CHAT, json={"message": QUESTION}, headers={**ben, "Idempotency-Key": "k1"})
    listed = [(await (await client.get(SESSIONS, headers=one)).json())["sessions"] for one in (ada, ben)]
    everything = await client.get(SESSIONS, headers={"Authorization": f"Bearer {TOKEN}"})
    own = await client.get(f"{CHAT}/messages/k1", headers=ada)
    deleted = await client.delete(f"{SESSIONS}/{session}", headers=ada)

    assert [reply.status for reply in theirs] == [404] * len(theirs)
    assert (await error_of(reused, 409))[0] == "key_reused"
    assert [len(found) for found in listed] == [1, 0]
    assert len((await everything.json())["sessions"]) == 1
    assert (own.status, deleted.status) == (200, 204)


async def test_a_revoked_token_is_refused_at_once_and_only_a_hash_is_stored(
    office: Office, connect: OpenClient
) -> None:
    client = await connect(role=None)
    token, secret = await office.tokens.add("  ada   lovelace ", TokenScope.READ)
    headers = {"Authorization": f"Bearer {secret}"}
    before = (await client.get(f"{WORKSPACE}/documents", headers=headers)).status
    [stored] = await office.shelf.stores.identity.list_tokens()
    await office.shelf.stores.identity.remove_token(token.id)
    after = await client.get(f"{WORKSPACE}/documents", headers=headers)

    assert re.fullmatch(rf"{TOKEN_PREFIX}[\w-]{{43}}", secret)
    assert (stored.person, stored.used_at, secret in repr(stored)) == ("ada lovelace", office.clock.now(), False)
    assert before == 200
    assert "revoked" in (await error_of(after, 401))[1]


@pytest.mark.parametrize("person", ["", " ", "x" * 81, "a\u202eb"])
async def test_a_token_is_for_somebody_who_can_be_named(office: Office, person: str) -> None:
    with pytest.raises(BadInput, match="A token is for a person"):
        await office.tokens.add(person, TokenScope.READ)
