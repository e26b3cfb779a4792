"""Numbers that are none, or are too long for one, are refused in a sentence by every command that takes one."""

import pytest

from core.access.positions.places import to_number
from core.errors import BadInput, FootnoteError
from tests.unit.core.service.commands.counter import answered

LONG = "9" * 5_000


@pytest.mark.parametrize("number", ["²", LONG, "9" * 20])
@pytest.mark.parametrize(
    "line",
    ["threads {}", "threads open {}", "open {}", "page house.md {}", "position house.md {}", "source {}", "stale {}",
     "position house.md chapter {}", "threads export {} pdf", "facts decisions before {}", "limit {}"],
)  # fmt: skip
async def test_a_number_that_cannot_be_one_is_a_sentence(line: str, number: str) -> None:
    run = await answered()
    name, _, argument = line.partition(" ")
    try:
        told = (await run(name, argument.format(number), is_admin=True)).text
    except FootnoteError as error:
        told = str(error)
        assert isinstance(error, BadInput) or told.startswith(("No conversation", "There is no"))
    assert told


@pytest.mark.parametrize(("text", "number"), [("٣", 3), ("12", 12), (LONG, None), ("²", None)])
def test_a_number_is_read_where_it_is_one(text: str, number: int | None) -> None:
    assert to_number(text) == number
