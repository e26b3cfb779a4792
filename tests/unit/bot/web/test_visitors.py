"""People who see only their own threads: members, and visitors where the pages are open to the network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp.test_utils import TestClient

from bot.web.audiences import WebAudiences
from core.domain.identity import Role
from core.domain.incoming import ThreadAddress
from tests.builders import build_conversation, build_message
from tests.entering import SAME_SITE, sign_in
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, Visitor, search

SECRET = "The safe is behind the picture."
DM = ThreadAddress(platform="slack", workspace="local", channel="D0123ABCD", thread="1.2")
ROLES = [None, Role.MEMBER, Role.ADMIN]


@asynccontextmanager
async def another(ada: Visitor, role: Role | None) -> AsyncIterator[Visitor]:
    """Another browser on Ada's service: of a visitor, or of a person who signed in."""
    async with TestClient(ada.client.server, headers=SAME_SITE) as client:
        if role is not None:
            await sign_in(client, role, f"Ben {16 * '0'}", "Ben")
        yield Visitor(client, sent=100)


async def stocked() -> ChatPlace:
    place = ChatPlace(script=(search(), ANSWER, search("t2"), ANSWER))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    await place.conversation_store.add(build_conversation("dm", address=DM, owner="U1", title=SECRET))
    await place.conversation_store.append("dm", [build_message("m1", conversation_id="dm", content=SECRET)])
    return place


@pytest.mark.parametrize("role", ROLES)
async def test_a_direct_message_on_slack_is_neither_read_nor_deleted_here(role: Role | None) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, role) as ben:
        replies = [await ben.client.get(path) for path in ("/chat/conversations/dm", "/read/dm")]
        said = [await ben.post(f"/threads {line}") for line in ("all", "export dm", "open dm", "delete dm", "here")]
        home = await (await ben.client.get("/chat/home")).text()
        texts = [await reply.text() for reply in (*replies, *said)]
        seen = await (await ada.client.get("/chat/conversations/dm")).text()

    assert [reply.status for reply in replies] == [404, 404]
    assert not any(SECRET in text for text in (*texts, home))
    assert SECRET in seen, "its owner sees all"
    assert len(await place.conversations.list_conversations("local")) == 1


@pytest.mark.parametrize("role", ROLES)
async def test_threads_of_others_are_not_there(role: Role | None) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, role) as ben:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        _, answer = await ada.answered(thread)
        here = f"/chat/threads/general/{thread}"
        conversation = (await place.conversations.find(place.address_of(thread))).id
        replies = [
            await ben.client.get(here),
            await ben.client.get(f"/c/general/{thread}"),
            await ben.client.get(f"{here}/events"),
            await ben.client.get(f"{here}/export?format=json"),
            await ben.client.get(f"/chat/conversations/{conversation}"),
            await ben.client.patch(here, json={"title": "Mine"}),
            await ben.client.delete(here),
            await ben.client.post(f"{here}/feedback", json={"message": answer["id"], "value": "up"}),
            await ben.client.post(f"{here}/again", json={"message": answer["id"]}),
            await ben.post("and where exactly?", thread),
        ]
        listed = await ben.send("/threads here")
        home = await (await ben.client.get("/chat/home")).json()
        kept = await ada.show(thread)

    assert [reply.status for reply in replies] == [404] * len(replies)
    assert "where is the key" not in str(listed)
    assert (home["threads"], home["channels"]) == ([], ["general"])
    assert len(kept["messages"]) == 2


@pytest.mark.parametrize("role", ROLES)
async def test_one_s_own_threads_are_listed_read_and_deleted(role: Role | None) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, role) as ben, another(ada, None) as eve:
        thread = (await ben.send("@footnote where is the key?"))["thread"]
        mine = (await ben.answered(thread))[0]
        home = await (await ben.client.get("/chat/home")).json()
        unseen = await eve.client.get(f"/chat/threads/general/{thread}")
        deleted = await ben.client.delete(f"/chat/threads/general/{thread}")

    assert mine["mine"] and [item["thread"] for item in home["threads"]] == [thread]
    assert (unseen.status, deleted.status) == (404, 200)


async def test_a_question_on_its_way_is_not_shown_to_others() -> None:
    place = await stocked()
    async with place.open(works=False, open_to_network=True) as ada, another(ada, None) as ben:
        thread = (await ada.send("@footnote where is the key?"))["thread"]

        assert (await ben.client.get(f"/chat/threads/general/{thread}")).status == 404
        assert (await ben.client.get(f"/c/general/{thread}")).status == 404


@pytest.mark.parametrize("cookie", ["footnote_person=Ada", "footnote_guest=Guest%200123456789abcdef"])
async def test_a_name_in_a_cookie_makes_nobody_somebody_else(cookie: str) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, None) as ben:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        cookies = dict([cookie.split("=")])
        forged = await ben.client.get(f"/chat/threads/general/{thread}", cookies=cookies)
        home = await (await ben.client.get("/chat/home", cookies=cookies)).json()

    assert forged.status == 404
    assert (home["person"], home["threads"]) == (None, [])


async def test_only_the_owner_chooses_a_name_and_others_have_that_of_their_sign_in() -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, Role.MEMBER) as ben, another(ada, None) as eve:
        refused = [await one.client.post("/chat/person", json={"name": "Ada"}) for one in (ben, eve)]
        homes = [await (await one.client.get("/chat/home")).json() for one in (ada, ben, eve)]

    assert [reply.status for reply in refused] == [403, 403]
    assert [home["person"] for home in homes] == ["Ada", "Ben", None]


@pytest.mark.parametrize("role", ROLES)
async def test_the_activity_of_others_is_neither_seen_nor_stopped(role: Role | None) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada, another(ada, role) as ben:
        await ada.answered((await ada.send("@footnote where is the key?"))["thread"])
        mine = (await ben.send("@footnote and where exactly?"))["thread"]
        _, answer = await ben.answered(mine)
        [[theirs, *_]] = [
            tree for tree in await place.jobs_of() if tree[0].input.get("question") == "where is the key?"
        ]
        listed = await (await ben.client.get("/jobs")).text()
        tree = await ben.client.get(f"/jobs/{theirs.id}")
        stopped = await ben.client.post(f"/jobs/{theirs.id}/cancel")
        again = await ben.client.post(f"/jobs/{theirs.id}/retry")
        own = await ben.client.get(f"/jobs/{answer['job']}")
        everything = await (await ada.client.get("/jobs")).text()

    assert [reply.status for reply in (tree, stopped, again, own)] == [404, 404, 404, 200]
    assert "and where exactly?" in listed and "where is the key?" not in listed
    assert "where is the key?" in everything and "and where exactly?" in everything


CLOSED = "Nothing may be read here yet: no documents are open to everyone who can read this place."
OF_BEN = f"person:{16 * '0'}"


@pytest.mark.parametrize(
    ("role", "readers", "is_open"),
    [
        (None, {"members"}, False),
        (None, {"everyone"}, True),
        (Role.MEMBER, {"role:1"}, False),
        (Role.ADMIN, set(), False),
        (Role.MEMBER, {"members"}, True),
        (Role.MEMBER, {OF_BEN}, True),
    ],
)
async def test_a_source_is_shown_to_its_readers_alone_and_to_the_owner(
    role: Role | None, readers: set[str], is_open: bool
) -> None:
    place = await stocked()
    place.shelf.access.audiences["web"] = WebAudiences(
        place.conversation_store, place.shelf.stores.identity, has_visitors=True
    )
    await place.shelf.corpus.set_readers(place.shelf.source.id, frozenset(readers))
    async with place.open(open_to_network=True) as ada, another(ada, role) as ben:
        pages = ("/library", "/library?q=key", "/chat/home", "/library/documents/local%2Fhandbook%2Fhouse.md")
        texts = [await (await ben.client.get(path)).text() for path in pages]
        texts += [await (await ben.post(line)).text() for line in ("/search key", "/sources", "/page House 1")]
        thread = (await ben.send("@footnote where is the key?"))["thread"]
        _, answer = await ben.answered(thread)
        seen = await (await ada.client.get("/library")).text()

    assert any(KEY in text or ">House<" in text for text in texts) == is_open
    assert (KEY in str(answer), CLOSED in str(answer)) == (is_open, not is_open)
    assert "House" in seen


async def test_a_thread_of_a_guest_shows_no_more_when_the_owner_asks_in_it() -> None:
    place = await stocked()
    place.shelf.access.audiences["web"] = WebAudiences(
        place.conversation_store, place.shelf.stores.identity, has_visitors=True
    )
    await place.shelf.corpus.set_readers(place.shelf.source.id, frozenset({"members"}))
    async with place.open(open_to_network=True) as ada, another(ada, None) as ben:
        thread = (await ben.send("@footnote where is the key?"))["thread"]
        await ben.answered(thread)
        await ada.send("@footnote where is the key?", thread=thread)
        answer = (await ben.answered(thread, count=2))[-1]

    assert KEY not in str(answer)


async def test_the_owner_is_no_visitor_before_they_have_a_name() -> None:
    place = await stocked()
    place.shelf.access.audiences["web"] = WebAudiences(
        place.conversation_store, place.shelf.stores.identity, has_visitors=True
    )
    await place.shelf.corpus.set_readers(place.shelf.source.id, frozenset({"members"}))
    async with place.open(open_to_network=True) as ada, another(ada, Role.OWNER) as nameless:
        nameless.client.session.cookie_jar.clear()
        await sign_in(nameless.client)
        thread = (await nameless.send("@footnote where is the key?"))["thread"]
        _, answer = await nameless.answered(thread)

    assert KEY in str(answer)
