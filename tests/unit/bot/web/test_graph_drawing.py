from math import hypot

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.web.graph_drawing import MARGIN, MOST_DRAWN, NARROW, WIDE, Sheet, draw, told
from core.domain.features import Connection
from tests.builders import build_document

DOCUMENTS = [build_document(f"{n}.md", title=f"Title {n} " * 9) for n in range(MOST_DRAWN + 5)]


@settings(max_examples=15)
@given(
    count=st.integers(0, 12),
    ends=st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14), st.integers(0, 3)), max_size=12),
    sheet=st.sampled_from([WIDE, NARROW]),
)
def test_any_graph_is_drawn_within_its_bounds(count: int, ends: list[tuple[int, int, int]], sheet: Sheet) -> None:
    connections = [
        Connection(first=DOCUMENTS[a].id, second=DOCUMENTS[b].id, links=links, together=1) for a, b, links in ends
    ]
    drawing = draw(DOCUMENTS[:count], connections, sheet=sheet)

    assert [dot.document for dot in drawing.dots] == DOCUMENTS[:count]
    assert all(
        MARGIN <= dot.x <= sheet.width - MARGIN and MARGIN <= dot.y <= sheet.height - MARGIN for dot in drawing.dots
    )
    assert len(drawing.lines) == sum(a < count and b < count for a, b, _ in ends)
    assert drawing == draw(DOCUMENTS[:count], connections, sheet=sheet)  # the same each time


def test_only_so_many_documents_are_drawn_and_the_best_connected_is_largest() -> None:
    hub = DOCUMENTS[0]
    spokes = [Connection(first=hub.id, second=other.id, links=1) for other in DOCUMENTS[1:]]
    drawing = draw(DOCUMENTS, spokes, centre=hub.id)

    assert len(drawing.dots) == MOST_DRAWN
    assert max(drawing.dots, key=lambda dot: dot.radius).document is hub
    assert [dot.document for dot in drawing.dots if dot.is_centre] == [hub]
    assert all(len(dot.label) <= 30 for dot in drawing.dots)


def test_a_label_that_would_cover_another_one_is_shy_and_that_of_the_better_connected_is_not() -> None:
    """A label of 30 characters is about 200 wide and 15 high."""
    ends = [(a, b) for a in range(30) for b in range(a)]  # all with all: the drawing is crowded
    drawing = draw(
        DOCUMENTS[:30], [Connection(first=DOCUMENTS[a].id, second=DOCUMENTS[b].id, links=30 - b) for a, b in ends]
    )
    open_labels = [dot for dot in drawing.dots if not dot.is_shy]
    meeting = [
        (one.label, two.label)
        for one in open_labels
        for two in open_labels
        if one is not two and abs(one.x - two.x) < 180 and abs(one.label_y - two.label_y) < 13
    ]

    assert meeting == []
    assert 3 < len(open_labels) < 30
    assert not max(drawing.dots, key=lambda dot: dot.radius).is_shy
    assert not next(dot for dot in draw(DOCUMENTS[:30], [], centre=DOCUMENTS[9].id).dots if dot.is_centre).is_shy


def test_what_two_documents_have_to_do_with_each_other_is_told() -> None:
    assert [told(*counts) for counts in ((1, 0), (2, 1), (0, 2), (0, 0))] == [
        "1 link",
        "2 links, cited together in 1 thread",
        "cited together in 2 threads",
        "",
    ]


def test_parts_without_a_line_between_them_stand_beside_each_other() -> None:
    ends = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5), (6, 7)]
    lines = [Connection(first=DOCUMENTS[a].id, second=DOCUMENTS[b].id, links=1) for a, b in ends]
    drawing = draw(DOCUMENTS[:8], lines)

    longest = max(hypot(line.x1 - line.x2, line.y1 - line.y2) for line in drawing.lines)
    gap = min(hypot(one.x - two.x, one.y - two.y) for one in drawing.dots[:6] for two in drawing.dots[6:])
    assert gap < 1.5 * longest
