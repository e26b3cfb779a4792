"""API tokens of people: how far each scope reaches, and that nobody reaches another person's sessions."""

import re

import pytest

from bot.web.audiences import WebAudiences
from core.access.identity import TOKEN_PREFIX, ApiAudiences, parse_token_readers
from core.domain.identity import TokenScope
from core.domain.readers import Audience
from core.errors import BadInput
from tests.unit.bot.web.api.conftest import QUESTION, QUOTE, TOKEN, WORKSPACE, Office, OpenClient, error_of

REACHING = {
    TokenScope.METRICS: (TokenScope.METRICS, TokenScope.ADMIN),
    TokenScope.READ: (TokenScope.READ, TokenScope.ASK, TokenScope.ADMIN),
    TokenScope.ASK: (TokenScope.ASK, TokenScope.ADMIN),
    TokenScope.ADMIN: (TokenScope.ADMIN,),
}
CHAT, SESSIONS = f"{WORKSPACE}/chat", f"{WORKSPACE}/chat/sessions"


async def bearer(office: Office, person: str = "ada", scope: TokenScope = TokenScope.ASK) -> dict[str, str]:
    _, secret = await office.tokens.add(person, scope, frozenset() if scope is TokenScope.METRICS else None)
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/metrics", TokenScope.METRICS),
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

    if scope in REACHING[needed]:
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
    token, secret = await office.tokens.add("  ada   lovelace ", TokenScope.READ, None)
    headers = {"Authorization": f"Bearer {secret}"}
    before = (await client.get(f"{WORKSPACE}/documents", headers=headers)).status
    [stored] = await office.shelf.stores.identity.list_tokens()
    await office.shelf.stores.identity.remove_token(token.id)
    after = await client.get(f"{WORKSPACE}/documents", headers=headers)

    assert re.fullmatch(rf"{TOKEN_PREFIX}[\w-]{{43}}", secret)
    assert (stored.person, stored.used_at, secret in repr(stored)) == ("ada lovelace", office.clock.now(), False)
    assert before == 200
    assert "revoked" in (await error_of(after, 401))[1]


@pytest.mark.parametrize("person", ["", " ", "x" * 81, "a\u202eb", "api"])
async def test_a_token_is_for_somebody_who_can_be_named(office: Office, person: str) -> None:
    with pytest.raises(BadInput, match="A token is for a person"):
        await office.tokens.add(person, TokenScope.READ, None)


MARK = 16 * "a"


def with_audiences(office: Office) -> None:
    access, stores = office.shelf.access, office.shelf.stores
    access.audiences["web"] = WebAudiences(stores.conversations, stores.identity, has_visitors=False)
    access.audiences["api"] = ApiAudiences(stores.conversations, stores.identity, access.audiences)


async def reads(office: Office, client: object, *, words: frozenset[str] | None) -> tuple[bool, bool]:
    """Return whether a new token of these readers lists the document, and whether an answer quotes it."""
    _, secret = await office.tokens.add(f"ada {words}", TokenScope.ASK, words)
    headers = {"Authorization": f"Bearer {secret}"}
    listed = await (await client.get(f"{WORKSPACE}/documents", headers=headers)).text()  # type: ignore[attr-defined]
    asked = await client.post(CHAT, json={"message": QUESTION}, headers=headers)  # type: ignore[attr-defined]
    return "house" in listed, QUOTE in await asked.text()


@pytest.mark.parametrize(
    ("readers", "words", "is_open"),
    [
        ({"members"}, None, True),
        ({"members"}, {"members"}, True),
        ({"everyone"}, {"role:gm"}, True),
        ({"members"}, {"role:gm"}, False),
        ({"role:gm"}, {"members"}, False),
        ({"role:gm"}, {"members", "role:gm"}, True),
        (set(), {"members"}, False),
        ({f"person:{MARK}"}, {f"web:{MARK}"}, True),
        ({"group:/teams/docs"}, {f"web:{MARK}"}, True),
        ({"group:/teams/other"}, {f"web:{MARK}"}, False),
        ({"members"}, {"slack:U1"}, False),  # Slack isn't connected
    ],
)
async def test_a_token_reads_what_its_person_may_read(
    office: Office, connect: OpenClient, readers: set[str], words: set[str] | None, is_open: bool
) -> None:
    with_audiences(office)
    await office.shelf.stores.identity.meet(64 * "a", f"Ada {MARK}", "Ada", frozenset({"/teams/docs"}))
    client = await connect(role=None)
    await office.shelf.corpus.set_readers(office.shelf.source.id, frozenset(readers))

    found = await reads(office, client, words=None if words is None else frozenset(words))
    assert found == (is_open, is_open)


async def test_an_answer_is_taken_back_from_a_token_whose_person_may_no_longer_read_it(
    office: Office, connect: OpenClient
) -> None:
    with_audiences(office)
    client = await connect(role=None)
    _, secret = await office.tokens.add("ada", TokenScope.ASK, frozenset({"members"}))
    headers = {"Authorization": f"Bearer {secret}"}
    asked = await client.post(CHAT, json={"message": QUESTION}, headers={**headers, "Idempotency-Key": "k1"})
    session = (await asked.json())["session_id"]
    paths = [f"{CHAT}/messages/k1", f"{SESSIONS}/{session}", f"{SESSIONS}/{session}/export?format=json"]
    before = [await (await client.get(path, headers=headers)).text() for path in paths]
    await office.shelf.corpus.set_readers(office.shelf.source.id, frozenset({"role:gm"}))
    after = [await (await client.get(path, headers=headers)).text() for path in paths]

    assert all(QUOTE in text for text in before)
    assert not any("stairs" in text for text in after)


async def test_several_tokens_of_a_person_read_together_what_each_may_read(office: Office) -> None:
    with_audiences(office)
    for words in ({"members", "role:gm"}, {"members"}, None):
        await office.tokens.add("ada", TokenScope.ASK, None if words is None else frozenset(words))
    await office.tokens.add("ada", TokenScope.METRICS, frozenset())  # which takes nothing away
    audience = await office.shelf.access.audiences["api"].of_person("local", "ada", frozenset())

    assert audience.may_read(frozenset({"members"}))
    assert not audience.may_read(frozenset({"role:gm"}))
    assert await office.shelf.access.audiences["api"].of_person("local", "nobody", frozenset()) == Audience()


@pytest.mark.parametrize("words", [[], ["members", "ann"], ["irc:1"], ["web:xyz"]])
def test_a_token_needs_readers_that_exist(words: list[str]) -> None:
    with pytest.raises(BadInput, match="members, everyone"):
        parse_token_readers(words)


async def test_a_token_of_an_admin_reads_all(office: Office) -> None:
    with pytest.raises(BadInput, match="leave --as out"):
        await office.tokens.add("ada", TokenScope.ADMIN, frozenset({"members"}))


@pytest.mark.parametrize("readers", [None, frozenset({"members"})])
async def test_a_token_for_metrics_reads_no_documents(office: Office, readers: frozenset[str] | None) -> None:
    with pytest.raises(BadInput, match="leave --as and --everything out"):
        await office.tokens.add("prometheus", TokenScope.METRICS, readers)
