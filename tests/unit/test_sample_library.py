"""The sample library that ships in the wheel: its links hold, its questions quote it word for word."""

import html
import json
import re
import runpy
import tomllib
from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import yaml

from storage.documents.base import HEAD_BYTES, build_readers, find_reader

ROOT = Path(__file__).parents[2]
LIBRARY = Path(str(files("bot"))) / "sample_library"
DOCUMENTS = LIBRARY / "documents"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (ROOT / "tests/data/sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
]
EXAMPLES: list[dict[str, str]] = tomllib.loads((LIBRARY / "examples.toml").read_text(encoding="utf-8"))["example"]
ANSWERABLE = [question for question in QUESTIONS if question["quote"]]


def strings(value: object) -> list[str]:
    """Every string in a JSON tree, in order."""
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for child in children for text in strings(child)]


def journal(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))  # YAML reads JSON too
    return loaded


@cache
def normalised_text(document: str) -> str:
    """As MANIFEST-style question files count it: no tags, entities decoded, white space collapsed."""
    path = DOCUMENTS / document
    if path.suffix == ".pdf":
        raw = " ".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path))
    elif path.parent.name == "adventure":
        raw = " ".join(strings(journal(path)))
    else:
        raw = path.read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", raw)).split())


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_quote_of_a_question_stands_in_its_document(question: dict[str, Any]) -> None:
    raw = question["quote_match"] == "raw"
    document = question["document"]
    text = (DOCUMENTS / document).read_text(encoding="utf-8") if raw else normalised_text(document)
    assert question["quote"] in text


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_answer_of_a_question_stands_in_its_document(question: dict[str, Any]) -> None:
    text = normalised_text(question["document"])
    assert all(answer in text for answer in question["answer"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["document"])
def test_the_quote_of_an_example_stands_in_its_document(example: dict[str, str]) -> None:
    assert example["quote"] in normalised_text(example["document"])
    assert example["question"].endswith("?")


@cache
def read_pages(document: str) -> tuple[str, ...]:
    """The page texts Footnote's own reader gives, white space collapsed."""
    path = DOCUMENTS / document
    reader = find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers())
    parsed = reader.read(path, DOCUMENTS)
    assert parsed.warnings == ()
    return tuple(" ".join(page.text.split()) for page in parsed.pages)


@pytest.mark.parametrize("gold", [*ANSWERABLE, *EXAMPLES], ids=lambda gold: gold.get("id", gold["document"]))
def test_the_quote_stands_on_one_page_of_the_document_as_it_is_read(gold: dict[str, Any]) -> None:
    quote = " ".join(gold["quote"].split())
    assert sum(quote in page for page in read_pages(gold["document"])) == 1


def test_there_are_forty_questions_of_every_type() -> None:
    assert Counter(question["type"] for question in QUESTIONS) == {"lookup": 25, "followup": 6, "unanswerable": 9}
    assert sum(question["set_kind"] == "far" for question in QUESTIONS) == 3
    assert len({question["id"] for question in QUESTIONS}) == 40


def test_a_followup_comes_after_the_question_it_follows() -> None:
    order = [question["id"] for question in QUESTIONS]
    followups = [question for question in QUESTIONS if question["followup_of"]]
    assert all(order.index(question["followup_of"]) < order.index(question["id"]) for question in followups)


def test_the_three_examples_are_of_three_kinds() -> None:
    assert len({Path(example["document"]).suffix for example in EXAMPLES}) == 3


def test_every_wikilink_of_the_vault_has_a_target() -> None:
    notes = list((DOCUMENTS / "operations").glob("*.md"))
    names = {note.stem for note in notes}
    links = [
        link.strip()
        for note in notes
        for link in re.findall(r"\[\[([^\]|#]+)[^\]]*\]\]", note.read_text(encoding="utf-8"))
    ]
    assert links
    assert set(links) <= names


def test_every_journal_link_has_a_target() -> None:
    journals = [journal(path) for path in (DOCUMENTS / "adventure").iterdir()]
    known = {page["_id"] for loaded in journals for page in loaded["pages"]} | {loaded["_id"] for loaded in journals}
    text = " ".join(part for loaded in journals for part in strings(loaded))
    targets = re.findall(r"@(?:UUID|Embed)\[([^\] ]+)", text)
    parts = {part for target in targets for part in target.split(".")} - {"", "JournalEntry", "JournalEntryPage"}
    assert len(targets) >= 8
    assert parts <= known


def test_the_report_is_what_its_script_makes_of_its_text() -> None:
    script = runpy.run_path(str(ROOT / "docs/sample-report/make_pdf.py"))
    made = script["build_pdf"]((ROOT / "docs/sample-report/season-2025.txt").read_text(encoding="utf-8"))
    assert (DOCUMENTS / "reports/season-2025.pdf").read_bytes() == made
    assert len(made) < 50_000


def test_the_library_stays_small_enough_for_a_wheel() -> None:
    documents = [path for path in DOCUMENTS.rglob("*") if path.is_file()]
    assert len(documents) == 12
    assert sum(path.stat().st_size for path in documents) < 100_000
