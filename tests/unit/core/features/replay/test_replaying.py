"""Cassettes: what is recorded plays again to the byte, with nothing but itself; what changed since is told."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from core.answering.run import NO_OBSERVER, Budget, RunObserver
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.choosing import ChosenStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.answer import Answer, AnswerStatus, Provenance
from core.domain.chat import Capabilities, ToolInvocation
from core.domain.features import Cassette, StoredCassette
from core.domain.incoming import IncomingMessage
from core.domain.replies import Usage
from core.errors import InvalidState, ProviderError
from core.features.replay.cassettes import Cassettes
from core.features.replay.recording import Recording, pack, to_stored, unpack
from core.features.replay.replaying import answer_bytes, replay
from core.ports import ChatProvider
from storage.database.repositories.replay import SqlCassetteRepository
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider, Turn, calls, says
from tests.unit.core.answering.test_service import Desk
from tests.unit.core.library_builder import Shelf

KEY = "The key hangs under the stairs."
STRATEGIES = {made.name: made for made in (ToolUseStrategy, AlwaysRetrieveStrategy)}
QUESTION = "Where is the key?"


def search(query: str, id: str = "t1") -> ToolInvocation:
    return ToolInvocation(id=id, name="search", arguments={"query": query})


def over(
    name: str, question: IncomingMessage, provider: ChatProvider, observer: RunObserver = NO_OBSERVER
) -> ChosenStrategy:
    budget = Budget(steps=4, tokens=50_000, seconds=30)
    return ChosenStrategy(strategy=STRATEGIES[name](provider, budget, ManualClock(), observer))


class Room:
    """A desk whose runs are recorded."""

    def __init__(self, shelf: Shelf, *script: Turn, strategy: str = "tool_use") -> None:
        self.shelf = shelf
        self.model = ScriptedProvider(script, capabilities=Capabilities(tools=strategy == "tool_use"))
        self.kept = shelf.stores.cassettes
        self.cassettes = Cassettes(self.kept, over, clock := ManualClock())

        async def choose(message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
            return over(strategy, message, self.model, observer)

        observe = partial(Recording, self.cassettes.keep)
        self.desk = Desk(
            shelf, *script, stores=shelf.stores, clock=clock, pipeline={"strategy": choose, "observe": observe}
        )

    async def ask(self, text: str = QUESTION, **fields: object) -> Answer:
        answer = await self.desk.ask(text, **fields)
        await self.cassettes.settled()
        return answer

    async def cassette(self, answer: Answer) -> Cassette:
        return unpack((await self.kept.find(answer.message_id, "local")).data)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}", "# Garden\n\nA green shed.", title="House")
    return shelf


LOOKED_UP = (calls(search("key"), search("shed", "t2")), says("Under the stairs [1]."))


async def test_a_run_plays_again_to_the_byte_with_nothing_but_its_cassette(shelf):
    room = Room(shelf, *LOOKED_UP)
    answer = await room.ask()
    cassette = unpack(pack(await room.cassette(answer)))
    await shelf.corpus.remove_source(shelf.source.id)  # the library may be gone: only kept bytes are read
    played = await replay(cassette, over, ManualClock())

    assert played.is_equal
    assert answer_bytes(played.answer) == answer_bytes(answer)
    assert played.answer.citations[0].quote == KEY


async def test_a_strategy_that_searches_by_itself_plays_again(shelf):
    room = Room(shelf, says("Under the stairs [1]."), strategy="always_retrieve")
    answer = await room.ask()
    cassette = await room.cassette(answer)

    assert (cassette.strategy, answer.status) == ("always_retrieve", AnswerStatus.ANSWERED)
    assert (await replay(cassette, over, ManualClock())).is_equal


async def test_a_follow_up_plays_with_the_history_it_had(shelf):
    room = Room(shelf, *LOOKED_UP, says("Yes [1]."))
    await room.ask()
    followed = await room.ask("And still there?")

    assert followed.citations
    assert (await replay(await room.cassette(followed), over, ManualClock())).is_equal


async def test_errors_of_tools_and_answers_that_find_nothing_play_again(shelf):
    wrong = ToolInvocation(id="t1", name="fly", arguments={})
    room = Room(shelf, calls(wrong), says("I do not know."))
    answer = await room.ask()

    assert answer.status is not AnswerStatus.ANSWERED or not answer.citations
    assert (await replay(await room.cassette(answer), over, ManualClock())).is_equal


async def test_a_changed_prompt_is_told(shelf, monkeypatch):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())
    monkeypatch.setattr("core.answering.strategies.tool_use.reading_companion", lambda *_: "Be brief.")
    played = await replay(cassette, over, ManualClock())

    assert not played.is_equal
    assert played.difference is not None
    assert "What the model is asked (system) differs" in played.difference
    assert "Now: Be brief." in played.difference


async def test_a_changed_rule_of_proof_is_told(shelf, monkeypatch):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())
    monkeypatch.setattr(
        "core.features.replay.replaying.with_notes",
        lambda answer, notes: replace(answer, text=answer.text + " Or not."),
    )
    played = await replay(cassette, over, ManualClock())

    assert played.difference is not None and "The answer differs" in played.difference
    assert "Or not." in played.difference


async def test_a_tool_call_that_was_not_recorded_is_told(shelf):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())
    torn = replace(cassette, tools=replace(cassette.tools, calls=cassette.tools.calls[:1]))

    assert "A tool call that was not recorded: search" in str((await replay(torn, over, ManualClock())).difference)


async def test_one_request_more_is_told(shelf):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())

    told = (await replay(replace(cassette, turns=cassette.turns[:1]), over, ManualClock())).difference
    assert told == "The model was asked once more than when it was recorded."


async def test_the_vendors_own_forms_are_left_out(shelf):
    native = replace(calls(search("key")), native=object())
    room = Room(shelf, native, says("Under the stairs [1]."))
    cassette = await room.cassette(await room.ask())

    assert all(turn.reply.native is None for turn in cassette.turns)
    assert all(message.native is None for turn in cassette.turns for message in turn.request.messages)
    assert (await replay(cassette, over, ManualClock())).is_equal


async def test_a_run_that_failed_or_was_tried_again_is_not_recorded(shelf):
    room = Room(shelf, ProviderError("The model is busy."))
    answer = await room.ask()

    assert answer.status is AnswerStatus.ERROR
    assert await room.cassettes.list_runs("local") == []


async def test_tokens_may_differ_but_nothing_else(shelf):
    room = Room(shelf, *LOOKED_UP)
    answer = await room.ask()

    assert answer_bytes(replace(answer, usage=Usage(input_tokens=9))) == answer_bytes(answer)
    assert answer_bytes(replace(answer, partial=True)) != answer_bytes(answer)


@pytest.mark.parametrize("data", [b"", b"junk", pack.__name__.encode(), b"x\x9cK\xcaI\xcc\x06\x00\x04\xa0\x01\xd7"])
def test_bytes_that_are_no_cassette_are_one_clear_error(data):
    with pytest.raises(InvalidState, match="another version of Footnote"):
        unpack(data)


async def test_cases_are_played_oldest_first_and_old_runs_go(shelf):
    room = Room(shelf, *LOOKED_UP, *LOOKED_UP)
    first = await room.ask(thread="one")
    room.desk.clock.advance(60)
    second = await room.ask(thread="two")
    for answer in (second, first):
        await room.cassettes.set_case(answer.message_id[:12], "local", is_case=True)
    await room.cassettes.set_case(second.message_id, "local", is_case=False)
    room.desk.clock.advance(8 * 24 * 3600)

    assert await room.cassettes.purge() == 1
    played = await room.cassettes.play_cases("local")
    assert [(case.message_id, outcome.is_equal) for case, outcome in played] == [(first.message_id, True)]
    assert played[0][0].question == QUESTION


@pytest.mark.parametrize(
    ("asked", "said"),
    [(f"{QUESTION} \udcff", "Here [1]."), (QUESTION, "Under \ud800 it [1]."), ("\x00 key?", "Here [1].")],
)
async def test_halves_of_characters_are_recorded_and_played(shelf, asked, said):
    """A terminal gives them for bytes that are no text, models cut an emoji in two."""
    room = Room(shelf, calls(search("key")), says(said))
    answer = await room.ask(asked)
    played = await room.cassettes.replay(answer.message_id, "local")

    assert answer.status is AnswerStatus.ANSWERED
    assert played.is_equal, played.difference


@pytest.mark.parametrize("fault", [InvalidState("too large"), RecursionError("deep"), ValueError("odd")])
async def test_whatever_recording_meets_the_answer_goes_out(shelf, monkeypatch, caplog, fault):
    def fail(cassette: Cassette) -> bytes:
        raise fault

    monkeypatch.setattr("core.features.replay.recording.pack", fail)
    room = Room(shelf, *LOOKED_UP)
    answer = await room.ask()

    assert answer.status is AnswerStatus.ANSWERED
    assert await room.cassettes.list_runs("local") == []
    assert "was not kept" in caplog.text


async def test_a_run_that_could_not_be_read_again_is_not_packed(shelf, monkeypatch):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())
    monkeypatch.setattr("core.features.replay.recording.MOST_BYTES", 100)

    with pytest.raises(InvalidState, match="larger than 100 bytes"):
        pack(cassette)


async def test_a_case_of_another_version_is_told_and_the_others_are_played(shelf):
    room = Room(shelf, *LOOKED_UP, *LOOKED_UP)
    answers = [await room.ask(), await room.ask("Where is the shed key?")]
    for answer in answers:
        await room.cassettes.set_case(answer.message_id, "local", is_case=True)
    stored = await room.kept.find(answers[0].message_id, "local")
    await room.kept.save(replace(stored, data=b"of long ago"))
    played = await room.cassettes.play_cases("local")

    told = {case.message_id: outcome.difference for case, outcome in played}
    assert "another version" in (told[answers[0].message_id] or "")
    assert told[answers[1].message_id] is None


async def test_who_stops_waiting_for_recorded_runs_cuts_none_of_them_off(shelf, monkeypatch):
    room, go_on, save = Room(shelf, *LOOKED_UP), asyncio.Event(), SqlCassetteRepository.save

    async def slow(self: SqlCassetteRepository, cassette: StoredCassette) -> None:
        await go_on.wait()
        await save(self, cassette)

    monkeypatch.setattr(SqlCassetteRepository, "save", slow)
    answer = await room.desk.ask(QUESTION)
    for _ in range(2):  # the first gave up, the second is still there
        listing = asyncio.create_task(room.cassettes.list_runs("local"))
        done, _ = await asyncio.wait({listing}, timeout=0.05)
        assert not done
        listing.cancel()
    go_on.set()
    await room.cassettes.settled()

    assert [run.message_id for run in await room.cassettes.list_runs("local")] == [answer.message_id]


async def test_a_run_goes_with_all_documents_that_its_answer_rests_on(shelf):
    room = Room(shelf, *LOOKED_UP)
    cassette = await room.cassette(await room.ask())
    basis = Provenance(documents=("of an earlier answer",))
    told = replace(cassette, answer=replace(cassette.answer, rests_on=basis))

    assert "of an earlier answer" in to_stored("m1", told, b"", room.desk.clock.now()).document_ids
