"""Summaries, comparisons, lists and quoted rows without a model, from files to answers with their footnotes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.features.verification import Verifier
from core.serializers.objects import answer_json
from core.work.progress import SilentProgress

RULES = """# Harbour rules {year}

## Purpose

These rules say how boats are moored in the harbour of Linden. They hold all year.

## Mooring

Boats are moored at the north pier. A boat that is moored elsewhere is {fate}.

## Fares

| Boat | Fare |
|---|---|
| Rowing boat | {fare} crowns |
| Sailing boat | 9 crowns |

The fares are set by the council in May.
"""
MINUTES = """# Council minutes

Date: 2026-03-04

Present:
Ann Hill
Bo Lund

## Action items

- Ann Hill: order rope for the north pier by 12 March
- Bo Lund: paint the buoys
- Ann Hill: ask the bank about the loan
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    old = RULES.format(year=2024, fate="towed to the pier", fare=4)
    (folder / "rules-2024.md").write_text(old, encoding="utf-8")
    new = RULES.format(year=2025, fate="fined at once", fare=6)
    (folder / "rules-2025.md").write_text(new, encoding="utf-8")
    (folder / "minutes.md").write_text(MINUTES, encoding="utf-8")
    return folder


async def ask(library: Path, *questions: str) -> list[Answer]:
    """Ask, and check that each answer can be verified."""
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        pipeline = build_pipeline(app)
        check = Verifier(corpus=app.stores.corpus, conversations=app.stores.conversations, check=app.support)
        answers = [await pipeline.answer(question_message(app.workspace, text), SilentProgress()) for text in questions]
        for answer in answers:
            given = json.loads(json.dumps(answer_json(answer)))
            assert (await check.verify(given, await app.access.scope(app.workspace))).problems == ()
        return answers


async def test_a_document_is_summed_up_and_two_are_compared(library: Path) -> None:
    summary, comparison, changes, missing = await ask(
        library,
        "Summarise Harbour rules 2024",
        "Compare Harbour rules 2024 and Harbour rules 2025",
        "What changed between Harbour rules 2024 and Harbour rules 2025?",
        "Compare Harbour rules 2024 and Harbour rules 1890",
    )

    assert all(each.status is AnswerStatus.ANSWERED for each in (summary, comparison, changes, missing))
    assert summary.text == (
        "“Harbour rules 2024”, section by section:\n"
        "- **Purpose**: These rules say how boats are moored in the harbour of Linden.[1]\n"
        "- **Mooring**: Boats are moored at the north pier.[2]\n"
        "- **Fares**: The fares are set by the council in May.[3]"
    )
    assert "**Mooring**:\n- **Harbour rules 2024**: Boats are moored at the north pier." in comparison.text
    assert "- **Harbour rules 2025**: Boats are moored at the north pier." in comparison.text
    assert "- **Before**: A boat that is moored elsewhere is towed to the pier." in changes.text
    assert "- **Now**: A boat that is moored elsewhere is fined at once." in changes.text
    assert {citation.document for citation in changes.citations} == {"rules-2024.md", "rules-2025.md"}
    assert missing.text.startswith("I found no document called “Harbour rules 1890”")


async def test_a_summary_may_be_asked_for_by_its_kind(library: Path) -> None:
    async with open_parts(Config(data_dir=library.parent / "data")) as app:
        await app.ingests.add([library], app.workspace)
        asked = question_message(app.workspace, "Summarise “Harbour rules 2024”.")
        answer = await build_pipeline(app).answer(replace(asked, query_type=QueryType.SUMMARY), SilentProgress())

    assert answer.text.startswith("“Harbour rules 2024”, section by section:\n- **Purpose**")


async def test_paraphrases_of_a_list_are_one_list(library: Path) -> None:
    found = await ask(
        library,
        "List the action items of the council",
        "List the action items of the council with owners",
        "list the council's action items and their owners",
        "Which action items did the council minutes have, with their owner?",
    )

    assert len({answer.text for answer in found}) == 1
    assert found[0].text.startswith("3 action items:\n- Ann Hill: order rope")


async def test_a_quoted_row_is_shown_below_its_columns_and_a_line_is_quoted_alone(library: Path) -> None:
    (row,) = await ask(library, "How much does a rowing boat pay according to Harbour rules 2024?")
    assert "| Boat | Fare |\n|---|---|\n| Rowing boat | 4 crowns" in row.text


async def test_a_dead_link_and_an_unread_file_have_their_own_sentences(library: Path) -> None:
    (library / "budget.pdf").write_bytes(b"%PDF-1.4 garbage")
    link, file = await ask(library, "What is the fare in [[Old fares]]?", "What does budget.pdf say about the fare?")

    assert "[[Old fares]] leads to no document that I can read here." in link.text
    assert "budget.pdf is here, but it could not be read: " in file.text
