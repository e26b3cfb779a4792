"""Explanations of access, as the terminal says them."""

from rich.console import Console

from bot.terminal.render_access import MOST_ATTACHED, explanation_view
from core.access.scopes import Ground
from core.domain.conversation import ThreadAddress
from core.domain.service import TO_THE_END
from core.features.access_explanation import (
    AccessQuestion,
    Explanation,
    HeldPosition,
    Holder,
    PositionOf,
    SourceReason,
)
from tests.builders import build_document

HERE = ThreadAddress(platform="slack", workspace="guild", channel="C1", thread="")


def lines(address: ThreadAddress | None = HERE, *, alone: bool = False, **fields: object) -> list[str]:
    values = {"sources": (), "positions": (), **fields}
    question = AccessQuestion(workspace="guild", address=address, reader="ada")
    console = Console(width=200)
    with console.capture() as capture:
        console.print(explanation_view(Explanation(question=question, alone=alone, **values)))
    return [line.rstrip() for line in capture.get().splitlines()]


def source(number: int, ground: Ground) -> SourceReason:
    return SourceReason(name=f"s{number}", kind="folder", ground=ground, sentence="So it is.")


def test_sources_of_other_threads_are_counted_where_they_are_many() -> None:
    sources = [source(number, Ground.ATTACHED_ELSEWHERE) for number in range(MOST_ATTACHED + 3)]
    told = lines(sources=(source(90, Ground.ALLOWED), *sources, source(91, Ground.NOT_ALLOWED)))

    assert told[0] == "What ada reads in slack:C1 of the workspace guild, where others read along:"
    assert told[2:5] == ["✓ s90: So it is.", "✗ s0: So it is.", "✗ s1: So it is."]
    assert told[2 + 1 + MOST_ATTACHED :][:2] == ["✗ s91: So it is.", "✗ and 3 more that were attached in other threads"]


def test_a_workspace_without_sources_is_told_how_to_get_one() -> None:
    told = lines(None, alone=True)

    assert told[0] == "What ada reads in the workspace guild, outside of channels:"
    assert "There are no sources in the workspace guild" in told[2] and "--workspace guild ingest" in told[2]
    assert "No reading position holds here: what may be read may be read to its end." in told


def test_a_line_tells_how_far_a_book_is_read_by_whose_position_and_the_others() -> None:
    held = (
        HeldPosition(holder=Holder.CHANNEL, last_page=0),
        HeldPosition(holder=Holder.PERSON, last_page=12),
        HeldPosition(holder=Holder.LIFTED, last_page=TO_THE_END),
    )
    document = build_document("emma.txt", title="Emma")
    books = [
        PositionOf(
            document=document, holder=held[place].holder, last_page=held[place].last_page, held=held[: place + 1]
        )
        for place in range(3)
    ]

    assert lines(positions=tuple(books))[-3:] == [
        "  • Emma (emma.txt): not begun, the channel's position",
        "  • Emma (emma.txt): up to page 12, ada's position (the channel's position is not begun)",
        "  • Emma (emma.txt): to the end, lifted by ada (the channel's position is not begun; ada's position is up to "
        "page 12)",
    ]
