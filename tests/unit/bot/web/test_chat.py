"""The chat over HTTP: asking, following up, several people, stopping, resuming, and what is not a question."""

import asyncio
import base64
import re

import pytest

from core.domain.corpus import PageHit, SearchQuery, SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.errors import ProviderOverloaded
from core.work.progress import SilentProgress
from tests.entering import sign_in
from tests.scripted import Turn, says
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, search

NAME = "Footnote 1, House, Keys"  # of its footnote, for screen readers


async def stocked(*script: Turn) -> ChatPlace:
    place = ChatPlace(script)
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", "# Garden\n\nThe garden has a shed.", title="House")
    return place


async def test_plain_text_opens_a_thread_with_a_proved_answer() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        sent = await ada.send("where is the key?")
        question, answer = await ada.answered(sent["thread"])
        home = await (await ada.client.get("/chat/home")).json()

    assert (sent["accepted"], question["author"], question["text"]) == (True, "Ada", "where is the key?")
    [source] = answer["sources"]
    [note] = source["notes"]
    assert (source["title"], source["place"], note["number"], note["name"]) == ("House", "Keys", 1, NAME)
    assert f'class="footnote" href="{note["href"]}"' in answer["html"]
    assert note["href"].startswith("/s/")
    assert answer["html"].count(KEY.rstrip(".")) == 1, "the same text never stands twice"
    assert [row["title"] for row in home["threads"]] == ["where is the key?"]


async def test_a_follow_up_needs_no_mention_and_a_second_person_may_ask_it() -> None:
    place = await stocked(search(), ANSWER, says("Nobody says."))
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        await ada.name("Ben")
        await ada.send("and who hung it there?", thread)
        messages = await ada.answered(thread, count=2)

    assert [item["author"] for item in messages] == ["Ada", "footnote", "Ben", "footnote"]


async def test_what_people_say_to_each_other_is_kept_and_left_alone() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        aside = await ada.send("@ben did you move it?", thread)
        state = await ada.show(thread)
        home = await (await ada.client.get("/chat/home")).json()
        listed = (await ada.send("/threads"))["result"]["html"]

    assert (aside["code"], aside["talk"]) == ("not_for_us", True)
    assert [item["title"] for item in home["threads"]] == ["where is the key?"]
    assert "#general" not in listed
    assert [item["role"] for item in state["messages"]] == ["user", "assistant", "user"]
    assert state["waiting"] == []


async def test_a_message_sent_again_is_one_message() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        first = await ada.send("@footnote where is the key?", key="same")
        second = await ada.send("@footnote where is the key?", key="same")
        messages = await ada.answered(first["thread"])
        talks = [await ada.send("@ben hello", first["thread"], key="talk") for _ in range(2)]
        later = (await ada.show(first["thread"]))["messages"]

    assert first == second
    assert len(messages) == 2
    assert talks[0]["code"] == talks[1]["code"] == "not_for_us"
    assert len(later) == 3


async def test_an_answer_streams_and_a_reader_who_comes_back_misses_nothing() -> None:
    place = await stocked(search(), ANSWER)
    place.provider.held = {1}
    async with place.open(works=False) as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        cursor = (await ada.show(thread))["cursor"]
        working = asyncio.create_task(place.worker.run())
        seen = await ada.events(thread, until="text", after=cursor)
        state = await ada.show(thread)
        place.provider.go.set()
        rest = await ada.events(thread, until="end", after=seen[-1][0])
        await ada.answered(thread)
        await place.worker.stop()
        await working

    kinds = [kind for _, kind, _ in seen]
    assert kinds.index("begin") < kinds.index("step") < kinds.index("text")
    text = state["waiting"][0]["live"]["text"]
    assert text and place.provider.said.startswith(text)
    pieces = [data for _, kind, data in seen + rest if kind == "text"]
    assert all(place.provider.said[piece["at"] :].startswith(piece["piece"]) for piece in pieces)
    assert state["waiting"][0]["text"] is None, "the question stands in the history already"
    assert not {number for number, _, _ in seen} & {number for number, _, _ in rest}


async def test_a_stopped_answer_says_so_and_only_its_asker_may_stop_it() -> None:
    place = await stocked(search(), ANSWER)
    place.provider.held = {1}
    async with place.open() as ada:
        sent = await ada.send("@footnote where is the key?")
        await ada.writing(sent["thread"])
        await ada.name("Ben")
        refused = await ada.client.post("/chat/stop", json={"key": sent["key"]})
        await ada.name("Ada")
        stopped = await ada.client.post("/chat/stop", json={"key": sent["key"]})
        messages = await ada.answered(sent["thread"])

    assert (refused.status, stopped.status) == (403, 200)
    assert messages[-1]["status"] == "stopped"


async def test_a_question_waits_in_sight_and_is_answered_after_a_restart() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open(works=False) as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        waiting = (await ada.show(thread))["waiting"]
        cursor = (await ada.show(thread))["cursor"]
    place.begin()
    async with place.open() as ada:
        again = await ada.events(thread, until="reset", after=cursor)
        messages = await ada.answered(thread)

    assert [(item["author"], item["text"], item["live"]) for item in waiting] == [("Ada", "where is the key?", None)]
    assert again[0][1] == "reset"
    assert len(messages) == 2


async def test_a_question_that_fails_for_good_ends_in_one_error_post() -> None:
    place = await stocked(*[ProviderOverloaded("The model is overloaded: try again later.")] * 20)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        messages = await ada.answered(thread)

    assert [item["role"] for item in messages] == ["user", "assistant"]
    assert messages[1]["status"] == "error"
    assert "overloaded" in messages[1]["html"]


async def test_a_thread_is_renamed_exported_and_deleted() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        path = f"/chat/threads/general/{thread}"
        renamed = await (await ada.client.patch(path, json={"title": "Keys"})).json()
        exported = await ada.client.get(f"{path}/export?format=markdown")
        text = await exported.text()
        printed = await (await ada.client.get(f"{path}/export?format=pdf")).read()
        await ada.client.delete(path)
        gone = await ada.client.get(path)

    assert renamed == {"title": "Keys"}
    assert "attachment" in exported.headers["Content-Disposition"]
    assert text.startswith("# Keys") and KEY in text
    assert printed.startswith(b"%PDF-")
    assert gone.status == 404
    assert await place.conversations.list_conversations("local") == []


@pytest.mark.parametrize("way", ["button", "command"])
async def test_deleting_a_thread_stops_its_answer_and_it_stays_deleted(way: str) -> None:
    place = await stocked(search(), ANSWER)
    place.provider.held = {1}
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.writing(thread)
        if way == "button":
            assert (await ada.client.delete(f"/chat/threads/general/{thread}")).status == 200
        else:
            assert (await ada.send("/delete", thread))["result"]["leave"] is True
        await asyncio.sleep(0.1)

    assert await place.conversations.list_conversations("local") == []


async def test_commands_answer_their_giver_alone() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        threads = await ada.send("/threads", thread)
        exported = await ada.send("/export json", thread)
        recapped = await ada.send("/recap", thread)
        opened = await ada.send("/open 1")
        unknown = await ada.post("/nonsense", thread)
        state = await ada.show(thread)

    assert "where is the key?" in threads["result"]["html"]
    assert "The key hangs under the stairs." in recapped["result"]["html"]
    assert exported["result"]["file"]["name"].endswith(".json")
    assert b"where is the key?" in base64.b64decode(exported["result"]["file"]["data"])
    assert opened["result"]["open"] == ["general", thread]
    assert (unknown.status, "/nonsense" in (await unknown.json())["error"]) == (400, True)
    assert len(state["messages"]) == 2


@pytest.mark.parametrize(
    ("platform", "what_to_do"),
    [("terminal", "footnote chat --conversation"), ("api", "its session"), ("discord", "on Discord")],
)
async def test_a_conversation_of_another_platform_is_opened_to_be_read(platform: str, what_to_do: str) -> None:
    place = await stocked(search(), ANSWER)
    address = ThreadAddress(platform=platform, workspace="local", channel="chat", thread="x")
    question = IncomingMessage(address=address, author="Ben", text="Where is the key?", event_key="e1")
    held = (await place.answers.answer(question, SilentProgress())).conversation_id
    async with place.open() as ada:
        listed = await ada.send("/threads")
        opened = (await ada.send("/open 1"))["result"]
        state = await (await ada.client.get(f"/chat/conversations/{opened['read']}")).json()
        page = await ada.client.get(f"/read/{opened['read']}")
        home = await (await ada.client.get("/chat/home")).json()

    assert platform in listed["result"]["html"]
    assert (opened["open"], opened["read"], page.status) == (None, held, 200)
    assert (state["place"], state["waiting"], state["title"]) == (None, [], "Where is the key?")
    assert what_to_do in state["note"]
    assert [item["author"] for item in state["messages"]] == ["Ben", "footnote"]
    assert state["messages"][1]["sources"][0]["notes"][0]["name"] == NAME
    assert home["threads"] == []


async def test_only_a_conversation_that_there_is_can_be_read() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        [own] = await place.conversations.list_conversations("local")
        mine = await (await ada.client.get(f"/chat/conversations/{own.id}")).json()
        statuses = [(await ada.client.get(f"/chat/conversations/{id}")).status for id in ("nope", "..%2F..%2Fetc")]

    assert mine["place"] == ["general", thread]
    assert statuses == [404, 400]


@pytest.mark.parametrize(
    ("body", "says_so"),
    [
        ({"channel": "general", "text": "x" * 100_000, "key": "k"}, None),
        ({"channel": "general", "thread": "t1", "text": "", "key": "k"}, None),
        ({"channel": "general", "text": "hello", "key": "../../etc"}, "isn't an ID"),
        ({"channel": "", "text": "hello", "key": "k"}, "channel"),
        ({"channel": "general", "thread": "a/b", "text": "hello", "key": "k"}, "isn't an ID"),
        ({"channel": "general", "key": "k"}, "'text' is missing"),
        ({"channel": "general", "text": 7, "key": "k"}, "'text' is missing"),
        (["hello"], "JSON object"),
    ],
)
async def test_what_cannot_be_a_message_gets_one_sentence(body: object, says_so: str | None) -> None:
    place = await stocked()
    async with place.open() as ada:
        response = await ada.client.post("/chat/messages", json=body)
        found = await response.json()

    assert response.status == (400 if says_so else 200)
    assert says_so is None or says_so in found["error"]
    assert says_so is not None or found["accepted"] is False


async def test_a_question_of_a_hundred_kilobytes_is_refused_with_what_to_do() -> None:
    place = await stocked()
    async with place.open() as ada:
        sent = await ada.send(f"@footnote {'why ' * 25_000}")
        too_long = await ada.post("x" * 600_000)

    assert (sent["accepted"], "put long texts into the library" in sent["sentence"]) == (False, True)
    assert (too_long.status, "too long" in (await too_long.json())["error"]) == (413, True)


@pytest.mark.parametrize("data", ["{", "[" * 100_000, "\x00"])
async def test_malformed_json_is_told_apart(data: str) -> None:
    place = await stocked()
    async with place.open() as ada:
        headers = {"Content-Type": "application/json"}
        response = await ada.client.post("/chat/messages", data=data, headers=headers)
        other = await ada.client.post("/chat/messages", data="a=1")

    assert (response.status, other.status) == (400, 400)


async def test_a_first_question_needs_no_name_and_a_later_name_keeps_what_was_asked() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        ada.client.session.cookie_jar.clear()
        await sign_in(ada.client)
        thread = (await ada.send("where is the key?"))["thread"]
        mine = (await ada.answered(thread))[0]
        asked_by = place.entries_of(thread)
        await ada.name("Ada")
        named = (await ada.show(thread))["messages"][0]
        ada.client.session.cookie_jar.clear()
        await sign_in(ada.client)
        theirs = (await ada.show(thread))["messages"][0]

    assert re.fullmatch(r"Owner [0-9a-f]{12}", (await asked_by)[0].incoming.author), "it identifies the browser"
    assert [(item["author"], item["mine"]) for item in (mine, named, theirs)] == [
        ("Guest", True),
        ("Guest", True),
        ("Guest", False),
    ]


@pytest.mark.parametrize(
    "cookie", ["footnote_person=Footnote", "footnote_guest=Ben", "footnote_person=Guest%2001234567"]
)
async def test_a_forged_identity_is_a_new_guest(cookie: str) -> None:
    place = await stocked()
    async with place.open(works=False) as ada:
        ada.client.session.cookie_jar.clear()
        await sign_in(ada.client)
        body = {"channel": "general", "text": "hello there", "key": "k"}
        sent = await ada.client.post("/chat/messages", json=body, cookies=dict([cookie.split("=")]))
        [entry] = await place.entries_of((await sent.json())["thread"])

    assert re.fullmatch(r"Owner [0-9a-f]{12}", entry.incoming.author)
    assert entry.incoming.author != "Guest 01234567"


async def test_a_question_sent_by_a_form_opens_a_page_that_can_be_read_without_javascript() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        ada.client.session.cookie_jar.clear()
        await sign_in(ada.client)
        sent = await ada.client.post("/ask", data={"text": ["", "where is the key?"]}, allow_redirects=False)
        address = sent.headers["Location"]
        await ada.answered(address.rpartition("/")[2])
        page = await (await ada.client.get(address)).text()
        command = await ada.client.post("/ask", data={"text": "/threads"})

    assert (sent.status, "footnote_guest" in sent.cookies) == (303, True)
    unscripted = page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "where is the key?" in unscripted and KEY.rstrip(".") in unscripted and 'href="/s/' in unscripted
    assert command.status == 400


async def test_a_page_for_a_thread_that_is_gone_says_so() -> None:
    place = await stocked()
    async with place.open() as ada:
        response = await ada.client.get("/c/general/gone")
        page = await response.text()

    assert (response.status, "This thread is gone" in page) == (404, True)
    assert [f'class="tile" href="{path}"' in page for path in ("/", "/library", "/#threads")] == [True] * 3


async def test_the_first_page_has_what_can_be_asked_and_the_newest_document_or_says_that_there_is_none() -> None:
    empty, place = ChatPlace(), await stocked()
    async with empty.open() as ada:
        nothing = await (await ada.client.get("/")).text()
    async with place.open() as ada:
        page = await (await ada.client.get("/")).text()

    assert "Nothing to read yet" in nothing and 'class="examples"' not in nothing
    assert "Nothing to read yet" not in page
    assert 'name="text" value="Where is the key?"' in page


async def test_without_examples_the_first_page_has_questions_of_the_library_and_never_waits_for_them() -> None:
    place = ChatPlace(examples=())
    await place.shelf.add("house.md", "# Who may enter the cellar\n\nAda.", "# Garden\n\ng", title="House")
    find, go = place.shelf.library.search, asyncio.Event()

    async def slow_search(query: SearchQuery, scope: SearchScope) -> list[PageHit]:
        await go.wait()
        return await find(query, scope)

    place.shelf.library.search = slow_search
    async with place.open() as ada:
        first = await (await ada.client.get("/")).text()
        go.set()
        async with asyncio.timeout(60):
            while "data-sought" in (page := await (await ada.client.get("/")).text()):
                pass

    assert 'class="examples"' not in first and "data-sought" in first
    assert 'name="text" value="Who may enter the cellar?"' in page


async def test_script_in_questions_names_and_answers_stays_text() -> None:
    place = await stocked(search(), says("<script>alert(1)</script> The key hangs under the stairs [1]."))
    async with place.open() as ada:
        await ada.name("<b>Ada</b>")
        thread = (await ada.send("@footnote <script>alert(2)</script> where is the key?"))["thread"]
        messages = await ada.answered(thread)
        page = await (await ada.client.get(f"/c/general/{thread}")).text()

    assert "<script>" not in messages[1]["html"]
    assert messages[0]["text"].startswith("<script>"), "as text: the page never puts it in as HTML"
    assert "<script>alert(" not in page


async def test_browsers_that_go_leave_no_reader_behind() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        for _ in range(5):
            await ada.events(thread, until="reset", after="an-old-one")
        async with asyncio.timeout(60):
            while place.hub.readers:
                place.hub.publish_all("threads", {})
                await asyncio.sleep(0.02)

    assert place.hub.readers == 0


async def test_the_page_names_only_files_of_its_own() -> None:
    place = await stocked()
    async with place.open() as ada:
        page = await ada.client.get("/c/general")
        text = await page.text()
        home = await (await ada.client.get("/chat/home")).json()

    assert page.status == 200
    assert "http" not in text
    assert home["examples"] == ["Where is the key?"]
    assert {"threads", "rename", "delete", "help"} <= {command["name"] for command in home["commands"]}


async def test_a_thumb_is_kept_for_its_person_changed_and_taken_back() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        question, answer = await ada.answered(thread)
        path = f"/chat/threads/general/{thread}/feedback"
        seen = []
        for value in ("up", "down", "none"):
            await ada.client.post(path, json={"message": answer["id"], "value": value})
            seen.append((await ada.show(thread))["messages"][1]["rated"])
        await ada.client.post(path, json={"message": answer["id"], "value": "up"})
        await ada.name("Ben")
        other = (await ada.show(thread))["messages"][1]["rated"]
        refused = [
            (await ada.client.post(path, json=body)).status
            for body in (
                {"message": question["id"], "value": "up"},
                {"message": answer["id"], "value": "five"},
                {"message": answer["id"], "value": "down", "reason": "ugly"},
                {"message": answer["id"], "value": "up", "reason": "source"},
            )
        ]

    assert seen == ["up", "down", None]
    assert other is None
    assert refused == [404, 400, 400, 400]
