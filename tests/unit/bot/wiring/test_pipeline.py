"""The path of a question as it is built, and as the documentation shows it."""

import re
from pathlib import Path

import pytest

from bot.wiring.pipeline import describe
from core.answering.pipeline import Stage
from tests.pipeline import build_answers
from tests.unit.core.library_builder import Shelf

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("file", ["README.md", "docs/architecture.md"])
def test_documentation_lists_the_steps_of_the_pipeline(file: str) -> None:
    shown = re.search(r"<!-- pipeline -->\n(.*?)\n?<!-- /pipeline -->", (ROOT / file).read_text(), re.DOTALL)

    assert shown is not None
    assert shown[1].strip() == describe(build_answers(Shelf()))


def test_steps_have_unique_names_and_run_stage_by_stage() -> None:
    steps = build_answers(Shelf()).steps

    assert len({step.name for step in steps}) == len(steps)
    assert [step.stage for step in steps] == sorted((step.stage for step in steps), key=list(Stage).index)
