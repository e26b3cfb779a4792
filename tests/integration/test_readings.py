"""Misspelt questions and questions of other languages, from documents to the answer, without a model."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from core.knowledge.search.coverage import Coverage
from core.service.auto_answers import FIRST_BAR
from core.work.progress import SilentProgress

ORCHARD = """# The orchard

## Press

The cider press was bought in 1987 from a farm in Hallowmere. It weighs four hundred kilos.

## Visitors

Visitors may taste three apples for free. A wheelchair can be borrowed at the barn door.
"""
MILL = """# Mühle

Die Mühle ist seit 1920 auf dem Hügel und nicht für Besucher offen. Der Müller wohnt mit der Familie im Turm.
Das Mühlrad wurde 1954 erneuert oder ersetzt. Im Winter sind die Tore zu.
"""


async def ask(folder: Path, *questions: str, german: bool = False) -> list[Answer]:
    documents = folder / "documents"
    documents.mkdir()
    (documents / "orchard.md").write_text(ORCHARD, encoding="utf-8")
    if german:
        (documents / "mill.md").write_text(MILL, encoding="utf-8")
    async with open_parts(Config(data_dir=folder / "data")) as app:
        await app.ingests.add([documents], app.workspace)
        pipeline = build_pipeline(app)
        return [await pipeline.answer(question_message(app.workspace, text), SilentProgress()) for text in questions]


async def test_a_misspelt_question_is_answered_and_its_reading_shown(tmp_path: Path) -> None:
    (answer,) = await ask(tmp_path, "wen was the cider pres baught?")
    assert answer.status is AnswerStatus.ANSWERED
    assert "1987" in answer.text
    assert answer.text.endswith("I read “wen” as “when”, “pres” as “press”, “baught” as “bought”.")
    assert not answer.data_gaps


@pytest.mark.parametrize(
    ("question", "word", "note"),
    [
        ("Wie viel wiegt die Apfelpresse?", "four hundred kilos", "Ich habe deine Frage auf Englisch so gelesen: „"),
        ("¿En qué año se compró la prensa?", "1987", "He leído tu pregunta en inglés así"),
        (
            "Combien de pommes les visiteurs peuvent-ils goûter ?",
            "three apples",
            "J'ai lu votre question en anglais comme suit : « ",
        ),
    ],
)
async def test_a_question_of_another_language_is_read_in_english(
    tmp_path: Path, question: str, word: str, note: str
) -> None:
    (answer,) = await ask(tmp_path, question)
    assert answer.status is AnswerStatus.ANSWERED
    assert word in answer.text
    assert note in answer.text


async def test_thanks_before_a_question_of_another_language_are_no_part_of_it(tmp_path: Path) -> None:
    (answer,) = await ask(tmp_path, "danke, und wie viel wiegt die Apfelpresse?")
    assert "four hundred kilos" in answer.text
    assert "thank" not in answer.text


@pytest.mark.parametrize("completion", ["the cider press, sorry", "oh sorry, i meant the cider press", "the press"])
async def test_what_is_asked_back_is_completed_by_the_next_words(tmp_path: Path, completion: str) -> None:
    (tmp_path / "orchard.md").write_text(ORCHARD, encoding="utf-8")
    async with open_parts(Config(data_dir=tmp_path / "data")) as app:
        await app.ingests.add([tmp_path / "orchard.md"], app.workspace)
        pipeline = build_pipeline(app)
        first = question_message(app.workspace, "when was it bought?")
        asked_back = await pipeline.answer(first, SilentProgress())
        second = replace(question_message(app.workspace, completion), address=first.address)
        answer = await pipeline.answer(second, SilentProgress())
    assert asked_back.status is AnswerStatus.CLARIFY
    assert "1987" in answer.text


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        ("Wie heißt die Hauptstadt von Australien?", "Dazu habe ich in den Dokumenten keine Antwort gefunden"),
        ("¿Cuántos barcos tiene la marina?", "No he encontrado ninguna respuesta a esto en los documentos"),
        ("Qui a écrit la constitution ?", "Je n'ai pas trouvé de réponse à cela dans les documents"),
    ],
)
async def test_a_refusal_is_in_the_language_of_the_question(tmp_path: Path, question: str, refusal: str) -> None:
    (answer,) = await ask(tmp_path, question)
    assert answer.status is AnswerStatus.NOT_FOUND
    assert answer.text.startswith(refusal)
    assert not answer.citations


async def test_the_library_is_known_to_cover_a_question_of_another_language(tmp_path: Path) -> None:
    (tmp_path / "orchard.md").write_text(ORCHARD, encoding="utf-8")
    async with open_parts(Config(data_dir=tmp_path / "data")) as app:
        await app.ingests.add([tmp_path / "orchard.md"], app.workspace)
        coverage = Coverage(app.index, app.stores.corpus, app.judge, app.access, app.vocabularies, app.facts)
        scope = await app.access.scope(app.workspace)
        covered = await coverage.of("¿en qué año se compró la prensa?", scope)
        other = await coverage.of("¿cuántos barcos tiene la marina?", scope)
    assert other < FIRST_BAR < covered


async def test_the_library_is_known_to_cover_what_a_table_answers(tmp_path: Path) -> None:
    (tmp_path / "presses.csv").write_text("Press,Built,Litres\nOld Tom,1911,40\nMaud,1987,65\n", encoding="utf-8")
    async with open_parts(Config(data_dir=tmp_path / "data")) as app:
        await app.ingests.add([tmp_path / "presses.csv"], app.workspace)
        scope = await app.access.scope(app.workspace)
        coverage = Coverage(app.index, app.stores.corpus, app.judge, app.access, app.vocabularies, app.facts)
        covered = await coverage.of("ok: which of our presses is the oldest", scope)
        other = await coverage.of("which of our tractors is the oldest", scope)
    assert other < FIRST_BAR < covered


async def test_a_library_in_the_language_is_asked_in_it(tmp_path: Path) -> None:
    own, other = await ask(tmp_path, "Wann wurde das Mühlrad erneuert?", "Wie viel wiegt die Presse?", german=True)
    assert "1954" in own.text
    assert "auf Englisch" not in own.text
    assert "four hundred kilos" in other.text
