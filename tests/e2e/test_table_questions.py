"""Questions that a table answers, from files to the answer with its footnote on the row."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from core.features.verification import Verifier
from core.serializers.objects import answer_json
from core.work.progress import SilentProgress
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.unit.storage.documents.extractors.test_pdf_tables import frame, place
from tests.unit.storage.documents.pdf_files import build_pdf

FARES = """# Harbour notes

The ferries of the bay run all year.

## Fares

| Harbour | Crossings | Fare |
|---|---|---|
| Linden | 412 | 4.50 |
| Voss | 96 | 12.80 |
| Northern pier | 1,204 | 3.00 |
| Total | 1,712 | |

The fares are set in May.
"""
HARBOURS = "| Harbour | Crossings | Fare |\n|---|---|---|\n"
BERTHS = [("Pier", "Berths", "Depth"), ("North", "14", "3.5"), ("South", "9", "6.2"), ("East", "11", "4.0")]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "fares.md").write_text(FARES, encoding="utf-8")
    ships = [f"Boat {number},{1900 + number},{number * 7 % 900}" for number in range(700)]  # several pages
    (folder / "fleet.csv").write_text("\n".join(["Name,Built,Cars", *ships]), encoding="utf-8")
    (folder / "berths.pdf").write_bytes(build_pdf([place(BERTHS)], strokes=frame(4)))
    return folder


async def ask(library: Path, *questions: str) -> list[Answer]:
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        pipeline = build_pipeline(app)
        return [await pipeline.answer(question_message(app.workspace, text), SilentProgress()) for text in questions]


async def test_what_a_table_answers_is_computed_and_footnoted_to_its_rows(library: Path) -> None:
    found = await ask(
        library,
        "Which harbour has the highest fare?",
        "What is the fare of Linden?",
        "Which pier has the most berths?",
        "Which boat has the most cars?",
    )

    assert all(answer.status is AnswerStatus.ANSWERED and not answer.text.count("[?]") for answer in found)
    assert [answer.text for answer in found] == [
        f"Voss (Fare 12.80, the highest of 3 in “Fares”):\n\n{HARBOURS}| Voss | 96 | 12.80[1] |",
        f"4.50 (Fare, Linden):\n\n{HARBOURS}| Linden | 412 | 4.50[1] |",
        "North (Berths 14, the most of 3):\n\n| Pier | Berths | Depth |\n|---|---|---|\n| North | 14 | 3.5[1] |",
        "Boat 257 (Cars 899, the most of 700 in “fleet”):\n\n| Name | Built | Cars |\n|---|---|---|\n"
        "| Boat 257 | 2157 | 899[1] |",
    ]
    quotes = [[citation.quote for citation in answer.citations] for answer in found]
    assert quotes == [["| Voss | 96 | 12.80 |"], ["| Linden | 412 | 4.50 |"], ["North\t14\t3.5"], ["Boat 257,2157,899"]]
    assert all(citation.proved for answer in found for citation in answer.citations)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    months = [
        f"{year}-{month:02d}-15,{year - 1900 + month / 4:.2f}" for year in range(2007, 2010) for month in range(1, 13)
    ]
    (folder / "wool-monthly.csv").write_text("\n".join(["Date,Price", *months]), encoding="utf-8")
    years = [f"{year}-06-30,{year - 1990}.5" for year in range(2001, 2012)]
    (folder / "salt-yearly.csv").write_text("\n".join(["Date,Price", *years]), encoding="utf-8")
    return folder


async def test_a_month_names_the_rows_of_its_days(prices: Path) -> None:
    found = await ask(
        prices,
        "What was the price of wool in June 2008?",
        "What was the price of wool on 15 June 2008?",
        "What was the highest price of wool in June?",
        "What was the price of salt in June 2008?",  # of a year, not of a month
    )

    assert [answer.text.split(":\n", 1)[0] for answer in found[:3]] == [
        "109.50 (Price, 2008-06-15)",
        "109.50 (Price, 2008-06-15)",
        "2009-06-15 (Price 110.50, the highest of 3 in “wool-monthly”)",
    ]
    assert not found[3].text.startswith("18.5 (")


async def test_each_quoted_row_has_its_footnote(prices: Path) -> None:
    [found] = await ask(prices, "How did the price of wool go in 2008?")

    rows = [line for line in found.text.splitlines() if line.startswith("| 200")]
    assert len(rows) > 5
    assert all(row.endswith("[1] |") for row in rows)
    assert found.grounded


async def test_parts_that_tables_answer_are_computed_beside_one_that_is_quoted(prices: Path) -> None:
    (prices / "mill.md").write_text("# The mill\n\nThe mill is kept by Hester Vane.\n", encoding="utf-8")
    both, mixed, missing, quoted_first = await ask(
        prices,
        "What was the price of wool in June 2008, and what was the price of salt in 2008?",
        "What was the price of wool in June 2008, and who keeps the mill?",
        "What was the price of wool in June 2008, and who painted the ceiling?",
        "Who keeps the mill, and what was the price of wool in June 2008?",
    )

    assert [citation.quote for citation in both.citations] == ["2008-06-15,109.50", "2008-06-30,18.5"]
    assert [citation.quote for citation in mixed.citations] == ["2008-06-15,109.50", "The mill is kept by Hester Vane."]
    assert "109.50 (Price, 2008-06-15)" in missing.text
    assert "I did not find an answer to “who painted the ceiling?”" in missing.text
    assert quoted_first.text.endswith("\n\nI quote the documents rather than write: no language model is set up.")
    found = (both, mixed, missing, quoted_first)
    assert all(answer.grounded and answer.status is AnswerStatus.ANSWERED for answer in found)


async def test_calls_that_find_the_same_row_have_ids_of_their_own(library: Path) -> None:
    fare = "what is the fare of Linden"
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        asked = question_message(app.workspace, f"{fare}, and {fare}, and {fare}?")
        answer = await build_pipeline(app).answer(asked, SilentProgress())
        kept = await app.stores.conversations.list_messages(answer.conversation_id)

    ids = [record.invocation.id for message in kept for record in message.tool_calls]
    assert len(ids) == 3
    assert len(set(ids)) == 3


async def test_the_two_things_asked_about_before_are_compared(library: Path) -> None:
    asked = ("What is the fare of Linden?", "and of Voss?", "so how much more is that?")
    found: list[Answer] = []
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        pipeline = build_pipeline(app)
        for text in asked:
            before = found[-1].conversation_id if found else None
            message = replace(question_message(app.workspace, text), conversation_id=before)
            found.append(await pipeline.answer(message, SilentProgress()))

    assert [answer.text.split(":\n", 1)[0] for answer in found] == [
        "4.50 (Fare, Linden)",
        "12.80 (Fare, Voss)",
        "8.30 (Fare, difference in “Fares”: 12.80 (Voss) − 4.50 (Linden))",
    ]
    assert [item.quote for item in found[2].citations] == ["| Linden | 412 | 4.50 |\n| Voss | 96 | 12.80 |"]


async def test_a_computed_answer_can_be_verified_like_any_other(library: Path) -> None:
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        asked = question_message(app.workspace, "What is the average fare?")
        answer = await build_pipeline(app).answer(asked, SilentProgress())
        check = Verifier(corpus=app.stores.corpus, conversations=app.stores.conversations, check=app.support)
        found = await check.verify(json.loads(json.dumps(answer_json(answer))), await app.access.scope(app.workspace))

    assert answer.text.startswith(
        f"6.7667 (Fare, average in “Fares”: 4.50 + 12.80 + 3.00, divided by 3):\n\n{HARBOURS}| Linden"
    )
    assert found.problems == ()


async def test_what_a_table_does_not_say_takes_the_usual_way(library: Path) -> None:
    prose, missing = await ask(library, "When are the fares set?", "What is the fare of Aldmere?")

    assert "The fares are set in May." in prose.text
    assert missing.status is AnswerStatus.NOT_FOUND


async def test_a_model_answers_what_a_table_says_in_its_own_words(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with AnthropicServer() as server:
        said = Say("A crossing to Voss costs 12.80.", cites=(Cite("| Voss | 96 | 12.80 |"),))
        server.script(Reply.of(Call("search", {"query": "fares"})), Reply.of(said))
        provider = {"name": "anthropic", "model": MODEL, "base_url": server.url, "stall_seconds": 60}
        settings = {"data_dir": library.parent / "data", "provider": provider}
        async with open_parts(Config.model_validate(settings)) as app:
            await app.ingests.add([library], app.workspace)
            asked = question_message(app.workspace, "What is the fare of Voss?")
            answer = await build_pipeline(app).answer(asked, SilentProgress())

    assert (len(server.requests), answer.text) == (2, "A crossing to Voss costs 12.80.[1]")
