"""The turn model, on messages that it was not fitted on."""

from pathlib import Path

import pytest

from core.domain.turns import Act, Turn, Utterance, Where
from core.errors import ModelMissing
from core.text.turn_reading import LINES, written
from storage.models.local.turns import LocalTurnModel
from tests.turn_model import TURN_MODEL

ASKED = (Utterance(author="ada", text="how heavy is the anchor?"), Utterance(author=None))


@pytest.fixture
def model() -> LocalTurnModel:
    return TURN_MODEL


def turn(text: str, author: str = "ada", where: Where = Where.THREAD, *, is_named: bool = False) -> Turn:
    return Turn(author=author, text=text, where=where, is_named=is_named, before=ASKED)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("and the spare one", Act.ASK),
        ("sorry, I meant the stern anchor", Act.ASK),
        ("wondering who welds the chain", Act.ASK),
        ("thank you, and when was it bought?", Act.ASK),
        ("und wann wurde er gekauft?", Act.ASK),
        ("¿y cuánto costó?", Act.ASK),
        ("thanks a million", Act.THANKS),
        ("are you rowing on Sunday?", Act.PEOPLE),
        ("I would never lift that", Act.PEOPLE),
        ("I'll bring my brother along", Act.PEOPLE),
        ("what was the first thing I asked you", Act.LAST_QUESTION),
        ("who programmed you?", Act.IDENTITY),
        ("tell me a joke about sailors", Act.OUT_OF_SCOPE),
    ],
)
async def test_a_message_after_an_answer_is_read(model: LocalTurnModel, text: str, act: Act) -> None:
    assert (await model.read(turn(text))).act is act


async def test_what_others_ask_after_an_answer_is_told_from_what_they_say(model: LocalTurnModel) -> None:
    question = await model.read(turn("how long is the chain of the anchor?", "ben"))
    remark = await model.read(turn("mine weighs more than my car", "ben"))
    assert (question.act, remark.act) == (Act.ASK, Act.PEOPLE)


@pytest.mark.parametrize(
    ("text", "act"), [("when was she launched?", Act.UNCLEAR), ("when was the old ferry launched?", Act.ASK)]
)
async def test_a_first_message_may_name_nothing(model: LocalTurnModel, text: str, act: Act) -> None:
    first = Turn(author="ada", text=text, where=Where.THREAD, is_named=True)
    assert (await model.read(first)).if_to_us() is act


async def test_what_is_certainly_for_the_bot_is_never_talk(model: LocalTurnModel) -> None:
    reading = await model.read(turn("see you on Sunday then", is_named=True))
    assert reading.if_to_us() is not Act.PEOPLE
    assert sum(reading.shares.values()) == pytest.approx(1)
    assert set(reading.shares) == set(Act)


async def test_any_text_is_read(model: LocalTurnModel) -> None:
    for text in ("", "\ud83d", "a" * 5_000, "\x00", "🎈"):
        assert (await model.read(turn(text))).shares


def test_the_model_reads_the_last_messages_and_other_languages_in_english() -> None:
    talk = tuple(Utterance(author=f"person {number}") for number in range(9))
    said = Turn(author="person 8", text="Wie schwer ist der Anker?", where=Where.PEOPLE, is_named=True, before=talk)
    before, text = written(said)
    assert before.startswith("people @bot | person 5: ... / ") and before.endswith(" / me: ...")
    assert before.count(" / ") == LINES - 1
    assert "heavy" in text or "weigh" in text


async def test_a_missing_file_is_told() -> None:
    model = LocalTurnModel(Path("nowhere") / "turns.onnx")
    with pytest.raises(ModelMissing, match="turns"):
        await model.read(turn("hello"))
    await model.close()
