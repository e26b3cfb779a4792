"""`footnote verify` and `footnote eval claims`, over the sample library with the packaged models."""

import copy
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.corpus import SearchScope
from core.errors import BadInput
from core.features.verification import Verifier
from core.serializers.objects import answer_json
from tests.e2e.conftest import Footnote
from tests.fakes import RecordingProgress

QUESTIONS = (
    "How do I restart the gate controller?",
    "Who keeps the drowned bell?",
    "How many passengers were carried in 2025?",
    "What was decided about the ferry fares?",
)
CHANGES = 1_000
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789 .,-"


@pytest.fixture
async def parts(data_dir: Path) -> AsyncIterator[Parts]:
    async with open_parts(Config.model_validate({"data_dir": data_dir})) as parts:
        yield parts


def verifier(parts: Parts) -> Verifier:
    return Verifier(corpus=parts.stores.corpus, conversations=parts.stores.conversations, check=parts.support)


async def exported(parts: Parts) -> list[dict[str, Any]]:
    """Answers with footnotes, as `footnote ask --json` prints them."""
    pipeline = build_pipeline(parts)
    answers = [await pipeline.answer(question_message("local", text), RecordingProgress()) for text in QUESTIONS]
    return [json.loads(json.dumps(answer_json(answer))) for answer in answers if answer.citations]


def change(answer: dict[str, Any], chance: random.Random) -> tuple[dict[str, Any], str]:
    """One character of a quote, a span, a revision or a number is another one."""
    changed = copy.deepcopy(answer)
    citation = chance.choice(changed["citations"])
    field = chance.choice(("quote", "span", "revision", "number", "marker"))
    if field == "marker":
        place = chance.choice([i for i, sign in enumerate(changed["answer"]) if sign == "["]) + 1
        other = _other(changed["answer"][place], "0123456789", chance)
        changed["answer"] = changed["answer"][:place] + other + changed["answer"][place + 1 :]
    elif field == "span":
        end = chance.randrange(2)
        citation["span"][end] = int(_changed(str(citation["span"][end]), "0123456789", chance))
    elif field == "number":
        citation["number"] = int(_changed(str(citation["number"]), "0123456789", chance))
    else:
        citation[field] = _changed(citation[field], SIGNS, chance)
    return changed, field


def _changed(text: str, signs: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return text[:place] + _other(text[place], signs, chance) + text[place + 1 :]


def _other(sign: str, signs: str, chance: random.Random) -> str:
    return chance.choice([item for item in signs if item != sign])


async def test_every_change_of_one_character_is_found(parts: Parts) -> None:
    answers = await exported(parts)
    chance, scope = random.Random(17), await parts.access.scope("local")
    for answer in answers:
        assert (await verifier(parts).verify(answer, scope)).problems == ()

    missed = []
    for _ in range(CHANGES):
        changed, field = change(chance.choice(answers), chance)
        if not (await verifier(parts).verify(changed, scope)).problems:
            missed.append(field)
    assert missed == []


async def test_a_page_beyond_the_readers_scope_is_not_in_the_library(parts: Parts) -> None:
    (answer, *_) = await exported(parts)
    nothing = SearchScope(workspace="local", sources=frozenset())

    (problem, *_) = (await verifier(parts).verify(answer, nothing)).problems
    assert "not in the library" in problem


async def test_a_sentence_that_its_quote_does_not_support_is_named(parts: Parts) -> None:
    (answer, *_) = await exported(parts)
    wrong = "Hold the red button for nine hours.[1]"
    made_up = {**answer, "answer": wrong, "citations": answer["citations"][:1], "message_id": "", "unsupported": []}

    found = await verifier(parts).verify(made_up, await parts.access.scope("local"))
    assert found.problems == (f"Not supported by its footnote: {wrong}",)


async def test_what_is_no_answer_is_one_clear_error(parts: Parts) -> None:
    with pytest.raises(BadInput, match="holds no answer"):
        await verifier(parts).verify({"hits": []}, await parts.access.scope("local"))


def test_the_command_says_what_is_wrong_and_exits_with_1(footnote: Footnote, tmp_path: Path) -> None:
    answer = footnote("ask", QUESTIONS[0], "--json").json
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer), "utf-8")
    assert footnote("verify", str(file), "--json").json == {
        "verified": True,
        "footnotes": len(answer["citations"]),
        "problems": [],
    }

    answer["citations"][0]["revision"] = "0" * 64
    file.write_text(json.dumps(answer), "utf-8")
    outcome = footnote("verify", str(file))
    assert (outcome.code, "another revision" in outcome.out) == (1, True)
    file.write_text("[]", "utf-8")
    assert footnote("verify", str(file)).code == 1


def test_claims_get_a_verdict_a_line_and_figures_over_their_labels(footnote: Footnote, tmp_path: Path) -> None:
    quote = "Hold the green button for eight seconds, until the fan stops."
    rows = [
        ("a", "Hold the green button for eight seconds.", "supported"),
        ("b", "Hold the green button for nine seconds.", "contradicted"),
        ("c", "Queen Lolth rules the castle with nine guards.", "unsupported"),
        ("d", "Would you like to know more?", "no_claim"),
    ]
    file = tmp_path / "claims.jsonl"
    lines = [{"id": name, "evidence": [quote], "sentence": text, "label": label} for name, text, label in rows]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    printed = footnote("eval", "claims", str(file), "--json").out.splitlines()
    assert [json.loads(line) for line in printed] == [{"id": name, "verdict": label} for name, _, label in rows]
    assert "1.00" in footnote("eval", "claims", str(file)).out
    file.write_text('{"id": "a"}', "utf-8")
    outcome = footnote("eval", "claims", str(file))
    assert (outcome.code, "Line 1 of the claims file" in outcome.err) == (1, True)
    assert footnote("eval", "questions", str(file)).code == 2
