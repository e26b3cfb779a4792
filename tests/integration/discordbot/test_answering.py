"""Answers on Discord: the first sign, the draft, the proved text, and its several messages."""

import asyncio
import time

import pytest

from bot.discordbot.delivery.destinations import ChannelDestination
from bot.discordbot.rendering.components import PartView
from core.domain.chat import ToolInvocation
from core.domain.incoming import ChannelAddress
from core.errors import ProviderOverloaded
from tests.integration.discordbot.house import House, buttons, is_final, sent, texts, told, until
from tests.integration.discordbot.place import ANSWER, KEY, DiscordPlace, search
from tests.librarian import DEEP, KEY_IN_HOUSE
from tests.scripted import calls, says

LONG = says("\n\n".join(["The key hangs under the stairs [1]."] * 250))
TABLE = says("\n".join(["| Boat | Fare |", "|---|---|", *(f"| Boat {row} | 2 € [1] |" for row in range(500))]))
HOSTILE = says("@everyone <@&123456789012345678> <@223456789012345678> the key hangs under the stairs [1].")


async def test_a_typing_sign_and_a_placeholder_come_before_the_answer(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {0}
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        assert _typed_in(house) == [house.channel.id]
        await until(lambda: house.posts())
        [draft] = house.posts()
        assert house.thread.id == asked.id
        assert set(buttons(draft)) == {"Stop", "Show steps"}
        place.provider.go.set()
        [answer] = await house.answered()
        assert answer.id == draft.id


async def test_the_first_words_are_shown_at_once_and_the_proved_text_at_the_end(place: DiscordPlace) -> None:
    place.pause = lambda seconds: asyncio.Event().wait()  # the next edit may never come
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        draft = await house.drafts("I have looked at the keys of the house.")
        assert "https://" not in texts(draft)
        place.provider.go.set()
        [answer] = await house.answered()
        assert "I have looked" not in texts(answer)
        assert len(sent(house.env, "PATCH", f"/messages/{answer.id}")) <= 3  # a step, the first words, the answer


async def test_an_answer_carries_links_sources_and_named_buttons(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [answer] = house.posts()
        assert "[[1]](https://footnote.example.org/s/1)" in texts(answer)
        assert "House" in texts(answer).partition("stairs")[2]
        assert list(buttons(answer)) == ["Show sources", "👍", "👎", "⋯"]
        assert answer.embeds == [] and answer.content == ""


async def test_a_long_answer_is_several_messages_in_order_with_the_buttons_below_the_last(
    place: DiscordPlace,
) -> None:
    place.says(search(), LONG)
    async with place.open() as house:
        await house.ask()
        parts = house.posts()
        assert len(parts) > 2
        assert [is_final(part) for part in parts] == [False] * (len(parts) - 1) + [True]
        assert sum(texts(part).count("under the stairs") for part in parts) >= 250
        assert all("[[1]](https://footnote.example.org/s/1)" in texts(part) for part in parts)


@pytest.mark.parametrize(("first", "second"), [(LONG, ANSWER), (ANSWER, LONG)])
async def test_an_edited_question_whose_answer_is_shorter_or_longer_fits_its_messages_to_it(
    place: DiscordPlace, first, second
) -> None:
    place.says(search(), first, search("t2"), second)
    async with place.open() as house:
        asked = await house.ask()
        before = [item.id for item in house.posts()]
        await house.ada.edit(asked, f"{house.bot} where on earth is the key?")
        await until(lambda: len(house.posts()) != len(before))
        await house.env.settle()
        await until(lambda: is_final(house.posts()[-1]))
        after = [item.id for item in house.posts()]
        shared = min(len(before), len(after))
        assert before[:shared] == after[:shared]
        assert (len(before) == 1) != (len(after) == 1)


async def test_a_long_table_is_a_file_below_the_answer_until_it_is_edited_away(place: DiscordPlace) -> None:
    place.says(search(), TABLE, search("t2"), ANSWER)
    async with place.open() as house:
        asked = await house.ask()
        [post] = house.posts()
        [file] = post.attachments
        assert (file.filename, (await file.read()).count(b"\n")) == ("table-1.csv", 501)
        assert "all 500 rows and 2 columns" in texts(post)
        await house.ada.edit(asked, f"{house.bot} where on earth is the key?")
        await until(lambda: not house.posts()[0].attachments)
        assert [one.id for one in house.posts()] == [post.id]


async def test_where_files_are_refused_the_table_is_in_messages(place: DiscordPlace) -> None:
    place.says(search(), TABLE)
    place.pause = lambda seconds: asyncio.Event().wait()
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.drafts("I have looked at the keys of the house.")
        house.env.inject_error("PATCH", "/channels/*/messages/*", status=403, code=50013)
        place.provider.go.set()
        await house.answered()
        assert "Boat 499" in "".join(map(texts, house.posts()))
        assert [post.attachments for post in house.posts()] == [[]] * len(house.posts())


async def test_nobody_is_pinged_and_every_new_post_has_a_nonce(place: DiscordPlace) -> None:
    place.says(search(), HOSTILE)
    async with place.open() as house:
        await house.ask()
        posts = sent(house.env, "POST", f"/channels/{house.thread.id}/messages")
        edits = sent(house.env, "PATCH", f"/messages/{house.posts()[0].id}")
        assert posts and edits
        assert all(body["allowed_mentions"]["parse"] == [] for body in (*posts, *edits))
        assert all(len(body["nonce"]) <= 25 and body["enforce_nonce"] for body in posts)
        assert house.posts()[-1].mentions == [] and not house.posts()[-1].mention_everyone


async def test_a_post_that_was_not_confirmed_is_repeated_with_the_same_nonce(place: DiscordPlace) -> None:
    async with place.open() as house:
        house.env.inject_error("POST", "/channels/*/messages", status=500)
        await house.ask()
        nonces = {body["nonce"] for body in sent(house.env, "POST", f"/channels/{house.thread.id}/messages")}
        assert len(house.posts()) == len(nonces) == 1
        assert len(sent(house.env, "POST", f"/channels/{house.thread.id}/messages")) == 2


async def test_a_process_that_starts_again_finishes_in_the_same_message(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        draft = await house.drafts("I have looked")
        await place.restart()
        [answer] = await house.answered()
        assert answer.id == draft.id


async def test_a_failing_provider_is_one_clear_post_whose_steps_can_be_seen(place: DiscordPlace) -> None:
    place.says(*[ProviderOverloaded("The model provider is overloaded: try again in a minute.")] * 8)
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        post = await house.shows("overloaded")
        assert len(house.posts()) == 1
        shown = await house.choose(house.ben, post, "How this was answered")
        assert "**Steps**" in texts(shown.response.message)
        assert shown.response.ephemeral


def _typed_in(house: House) -> list[int]:
    paths = [log.path for log in house.env.http_requests if log.method == "POST" and log.path.endswith("/typing")]
    return [int(path.split("/")[2]) for path in paths]


async def test_a_stop_waits_for_no_draft_that_discord_does_not_take(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, ever = asyncio.Event(), asyncio.Event()

    async def hang(self: ChannelDestination, message_id: int, part: PartView) -> bool:
        taken.set()
        await ever.wait()
        return True

    async with place.open() as house:
        place.provider.held = {1}
        monkeypatch.setattr(ChannelDestination, "edit", hang)
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        async with asyncio.timeout(60):
            await taken.wait()
            began = time.perf_counter()
            await place.client.platform.close()
        assert time.perf_counter() - began < 30
        ever.set()
        place.provider.go.set()
        monkeypatch.undo()
        assert await house.answered()


async def test_a_deep_question_shows_its_planned_steps_and_answers_in_its_form(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    place.provider.held = {1}
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} deep: where is the key, and who hung it there?")
        await house.drafts("✓ Searching for “where is the key”")
        running = texts(await house.drafts("✓ Searching for “who hung the key”"))
        assert "✓ Choosing what to read" in running
        place.provider.go.set()
        [answer] = await house.answered()
        assert KEY_IN_HOUSE in texts(answer) and "Asked and not found: who hung it" in texts(answer)
        assert "https://footnote.example.org/s/1" in texts(answer)
        assert house.thread.name == "where is the key, and who hung it there?"


async def test_ask_has_deep_as_an_option(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask", question="where is the key?", deep=True)
        [answer] = await house.answered()
        assert "Asked and not found: who hung it" in texts(answer)


async def test_an_admin_makes_a_channel_answer_deeply(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    async with place.open() as house:
        await house.admin().slash(house.channel, "settings", name="strategy", value="deep")
        address = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        assert (await place.settings.channel(address)).strategy == "plan_and_synthesise"
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: len(place.provider.requests) == 2)
        [answer] = await house.answered()
        assert "Asked and not found: who hung it" in texts(answer)


MANY = calls(ToolInvocation(id="t1", name="search", arguments={"query": "drawer", "limit": 20}))


async def test_a_linked_document_is_shown_with_path_and_line_and_can_be_cited(place: DiscordPlace) -> None:
    place.says(says("It hangs under the stairs [2]."))
    async with place.open() as house:
        await house.ask("where is the key of [[House]]?")
        answer = await house.shows("under the stairs")
        assert KEY not in texts(answer)
        assert f"House: house.md, cited — {KEY}" in told(await house.choose(house.ben, answer, "Also looked at"))


async def test_a_broken_link_is_told_with_what_may_have_been_meant(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask("where is the key of [[Hous]]?")
        shown = texts(await house.shows("under the stairs"))
        assert "Hous: leads nowhere" in shown
        assert "Did you mean House?" in shown


async def test_documents_looked_at_are_a_list_for_who_asks_for_it_even_after_a_restart(
    place: DiscordPlace,
) -> None:
    for number in range(14):
        await place.shelf.add(f"d{number}.md", f"A drawer of key {number}.", title=f"Drawer {number}")
    place.says(MANY, says("It is in the drawer of key 0 [1]."))
    async with place.open() as house:
        await house.ask("which drawer?")
        assert "Drawer 13" not in texts(await house.shows("drawer of key 0"))
        await place.restart()
        listed = told(await house.choose(house.ben, house.posts()[0], "Also looked at"))
        assert all(f"Drawer {number}: d{number}.md" in listed for number in range(14))
        assert len(house.posts()) == 1
