"""Commands about conversations: who sees which, and who may change them."""

from dataclasses import replace

import pytest

from core.domain.incoming import IncomingMessage
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.service.commands.threads import PAGE_ROWS
from core.work.commands import ThreadRow
from tests.unit.core.service.commands.counter import HERE, Counter, answered, stocked


@pytest.fixture
async def run() -> Counter:
    return await stocked()


async def listed(run: Counter, argument: str = "", **changes: object) -> list[str]:
    return [row.title for row in (await run("threads", argument, **changes)).rows]


async def test_a_person_sees_their_own_and_this_channels_conversations_newest_first(run: Counter) -> None:
    await run.begin("mine here")
    await run.begin("mine elsewhere", channel="cellar")
    await run.begin("bens here", owner="ben")
    await run.begin("bens elsewhere", owner="ben", channel="cellar")
    await run.begin("other workspace", workspace="elsewhere")

    assert await listed(run) == await listed(run, "mine") == ["mine elsewhere", "mine here"]
    assert await listed(run, "here") == ["bens here", "mine here"]
    assert await listed(run, sees_all=True) == ["bens elsewhere", "bens here", "mine elsewhere", "mine here"]
    with pytest.raises(AccessDenied, match="mine or here"):
        await run("threads", "all")
    with pytest.raises(BadInput, match="isn't a channel"):
        await run("threads", "here", address=None)


async def test_what_was_answered_to_one_person_alone_is_in_nobody_elses_list(run: Counter) -> None:
    await run.begin("private:ben", owner="ben", title="secret")
    await run.begin("private:ada", title="mine")

    assert await listed(run, "here") == ["mine"]
    assert await listed(run, "here", author="ben") == ["secret"]
    ben = (await run("threads", author="ben")).rows[0]
    assert isinstance(ben, ThreadRow)
    for action in ("open", "rename", "delete", "export"):
        with pytest.raises(NotFound):
            await run("threads", f"{action} {ben.id} x", is_admin=True)


async def test_what_people_say_in_a_channel_is_in_no_list_of_threads(run: Counter) -> None:
    await run.begin("", title="#general")
    await run.begin("", channel="17", title="A direct channel")

    assert await listed(run) == ["A direct channel"]
    assert await listed(run, "here") == []


async def test_a_list_has_pages_and_rows_that_platforms_can_link(run: Counter) -> None:
    for number in range(PAGE_ROWS + 2):
        await run.begin(f"thread {number:02}")
    first, second = await run("threads"), await run("threads", "mine 2")

    assert (len(first.rows), first.page, first.pages) == (PAGE_ROWS, 1, 2)
    assert [row.title for row in second.rows] == ["thread 01", "thread 00"]
    assert (second.page, second.pages) == (2, 2)
    assert second.text.startswith("11. thread 01 (web, ") and second.text.endswith("Page 2 of 2.")
    assert (second.rows[0].address, second.rows[0].owner) == (replace(HERE, thread="thread 01"), "ada")
    for page in ("3", "0"):
        with pytest.raises(BadInput, match="The list has 2"):
            await run("threads", page)


async def test_an_empty_list_says_what_to_do(run: Counter) -> None:
    assert "Ask a question" in (await run("threads")).text


@pytest.mark.parametrize("argument", ["yours", "mine here", "1 2"])
async def test_a_list_that_is_none_is_one_clear_error(run: Counter, argument: str) -> None:
    with pytest.raises(BadInput, match="/threads doesn't accept"):
        await run("threads", argument)


@pytest.mark.parametrize("options", [{"action": "burn"}, {"show": "yours"}, {"page": "x"}])
async def test_values_that_no_form_offers_are_one_clear_error(run: Counter, options: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        await run("threads", options=options)


async def test_a_conversation_is_opened_by_number_by_id_and_by_how_its_id_begins(run: Counter) -> None:
    old, _new = await run.begin("old"), await run.begin("new")

    for wanted in ("2", old.id, old.id[:8]):
        assert (await run("open", wanted)).open_conversation == old
        assert (await run("threads", f"resume {wanted}")).open_conversation == old
    for wanted in ("3", "nope", old.id[:7], "0"):
        with pytest.raises(NotFound, match="/threads to list them"):
            await run("open", wanted)
    with pytest.raises(BadInput, match="id or the number"):
        await run("open")


async def test_a_conversation_of_this_channel_opens_for_all_and_of_another_for_its_owner(run: Counter) -> None:
    here, there = await run.begin("here"), await run.begin("there", channel="cellar")

    assert (await run("open", here.id, author="ben")).open_conversation == here
    assert (await run("open", there.id)).open_conversation == there
    with pytest.raises(NotFound):
        await run("open", there.id, author="ben")


async def test_its_owner_and_admins_rename_and_delete_a_conversation(run: Counter) -> None:
    found = await run.begin("keys")
    for action in ("rename", "delete"):
        with pytest.raises(AccessDenied, match="Only a moderator or the person who started “keys”"):
            await run("threads", f"{action} {found.id} x", author="ben")
        run.conversation = found
        with pytest.raises(AccessDenied):
            await run(action, "x", author="ben")
        run.conversation = None
    renamed = await run("threads", f"rename {found.id} Old   keys", author="ben", is_admin=True)
    deleted = await run("threads", f"delete {found.id}")

    assert renamed.renamed is not None and renamed.renamed.title == "Old keys"
    assert not (renamed.is_public or renamed.open_conversation)
    assert deleted.deleted is not None and deleted.deleted.id == found.id
    assert not deleted.start_new
    assert await listed(run) == []


@pytest.mark.parametrize("word", ["delete", "forget"])
async def test_the_conversation_it_is_given_in_is_renamed_and_deleted_for_all_to_see(run: Counter, word: str) -> None:
    run.conversation = await run.begin("keys")
    renamed = await run("rename", "Old keys")
    deleted = await run(word)

    assert renamed.is_public and renamed.open_conversation == renamed.renamed
    assert deleted.is_public and deleted.start_new
    with pytest.raises(BadInput, match="can't be empty"):
        run.conversation = await run.begin("more")
        await run("rename", " ")


async def test_what_becomes_of_a_private_conversation_is_told_to_its_reader_alone(run: Counter) -> None:
    run.conversation = await run.begin("private:ada")

    renamed = await run("rename", "My divorce")
    deleted = await run("delete")
    assert renamed.renamed and deleted.deleted
    assert not (renamed.is_public or deleted.is_public)


async def test_what_is_being_answered_is_stopped_before_its_conversation_is_deleted(
    run: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.service.commands.threads.ENDING_PAUSE_SECONDS", 0)
    run.conversation = await run.begin("t1")
    entry = await run.ask("where?", author="ben")

    with pytest.raises(InvalidState, match="Stop the answer first"):
        await run("delete")
    assert run.stopped == [(entry.message_key, "ben")]
    assert await listed(run) == ["t1"]


async def test_a_conversation_is_a_file_to_take_away() -> None:
    run = await answered()
    exported = await run("export")

    as_json = await run("threads", f"export {run.conversation.id} json")
    as_pdf = await run("export", "PDF")

    assert exported.file is not None and as_json.file is not None and as_pdf.file is not None
    assert exported.file.name == f"conversation-{run.conversation.id[:8]}.md"
    assert "Under the stairs[1]." in exported.file.data.decode()
    assert as_json.file.data.startswith(b"{") and as_json.file.is_text
    assert as_pdf.file.data.startswith(b"%PDF-") and not as_pdf.file.is_text
    assert exported.file.name in exported.text
    with pytest.raises(BadInput, match=r"'docx'\. Use markdown, pdf, json"):
        await run("export", "docx")


async def test_new_starts_afresh(run: Counter) -> None:
    assert (await run("new")).start_new


@pytest.mark.parametrize("name", ["rename", "delete", "export"])
async def test_commands_about_a_conversation_need_one(run: Counter, name: str) -> None:
    with pytest.raises(BadInput, match="needs a conversation"):
        await run(name, "x")


async def test_somebody_elses_title_does_not_get_into_an_error(run: Counter) -> None:
    secret = await run.conversations.create(
        IncomingMessage(address=replace(HERE, thread="private:ben"), author="ben", text="hello there", event_key="s"),
        title="secret plans",
    )
    with pytest.raises(NotFound) as raised:
        await run("threads", f"delete {secret.id}")
    assert "secret plans" not in str(raised.value)
