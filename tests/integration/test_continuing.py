"""Follow-ups that continue the place quoted last, without a model."""

from dataclasses import replace
from pathlib import Path

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.tools.get_page import PAGE_CHARACTERS
from core.domain.answer import Answer, AnswerStatus
from core.work.progress import SilentProgress

HIVES = """# Hives

## Winter

The hives stand behind the greenhouse from October on, where the wall keeps the worst of the east wind away from them.
The entrances look to the south, so that the bees come out on mild days, and every hive is a hand higher at its back.

Straw mats cover them against the frost; two neighbours weave new ones each autumn from their own rye. Nobody opens a
hive before the first warm day of March. Sugar water is only given when a hive weighs less than twelve kilos, and then
in the evening, so that no bees of other hives come for it.

## Honey

Honey is taken in July. The keeper took none in 2024, because the swarm had left. Jars hold five hundred grams.
"""


async def talk(folder: Path, *questions: str, text: str = HIVES) -> list[Answer]:
    documents = folder / "documents"
    documents.mkdir()
    (documents / "hives.md").write_text(text, encoding="utf-8")
    answers: list[Answer] = []
    async with open_parts(Config(data_dir=folder / "data")) as app:
        await app.ingests.add([documents], app.workspace)
        pipeline = build_pipeline(app)
        for text in questions:
            conversation = answers[-1].conversation_id if answers else None
            message = replace(question_message(app.workspace, text), conversation_id=conversation)
            answers.append(await pipeline.answer(message, SilentProgress()))
    return answers


async def test_more_is_quoted_from_behind_the_last_quote_and_never_twice(tmp_path: Path) -> None:
    first, more, end = await talk(
        tmp_path, "Where do the hives stand in winter?", "tell me more", "Erzähl mir mehr darüber!"
    )
    assert "behind the greenhouse" in first.text
    assert "Sugar water" in more.text or "Straw mats" in more.text
    quoted = [citation.quote for answer in (first, more, end) for citation in answer.citations]
    assert len(quoted) == len(set(quoted))


async def test_more_goes_on_with_the_next_page_and_ends_with_the_document(tmp_path: Path) -> None:
    answers = await talk(tmp_path, "Where do the hives stand in winter?", *["tell me more"] * 3)
    assert [citation.page_number for answer in answers for citation in answer.citations] == [1, 1, 2]
    assert answers[-1].status is AnswerStatus.NOT_FOUND
    quoted = [citation.quote for answer in answers for citation in answer.citations]
    assert len(quoted) == len(set(quoted))


async def test_more_is_quoted_from_far_down_a_long_page(tmp_path: Path) -> None:
    rows = "\n\n".join(f"Frame {number} was brushed and put back where it had hung." for number in range(400))
    assert len(rows) > PAGE_CHARACTERS
    end = "The smoker is filled with dried hops. It hangs beside the door. Its lid is green."
    answers = await talk(tmp_path, "What is the smoker filled with?", "tell me more", text=f"# Log\n\n{rows}\n\n{end}")
    said = " ".join(citation.quote for answer in answers for citation in answer.citations)
    assert answers[0].status is AnswerStatus.ANSWERED
    assert "Its lid is green" in said


async def test_a_reason_is_quoted_from_the_place_of_the_last_answer(tmp_path: Path) -> None:
    _, why = await talk(tmp_path, "How much honey was taken in 2024?", "why?")
    assert "swarm had left" in why.text


async def test_a_complete_follow_up_is_read_in_context_if_that_fits_better(tmp_path: Path) -> None:
    _, answer = await talk(tmp_path, "When is honey taken?", "and how much do the jars hold?")
    assert answer.status is AnswerStatus.ANSWERED
    assert "five hundred grams" in answer.text
