"""Tables in plain text: delimiters, records and their places."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.delimited import find_delimiter, read_delimited

tables = st.lists(st.lists(st.text(alphabet='ab,;"\n é', max_size=6), min_size=2, max_size=2), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb c, d\n1\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('name,said\nAnn,"one; two; three"\nBob,"four; five"\n', ","),
        ("one line\nanother\n", ""),
    ],
)
def test_the_delimiter_is_what_cuts_records_alike(text: str, delimiter: str) -> None:
    assert find_delimiter(text) == delimiter


def test_records_know_their_cells_and_their_place() -> None:
    text = 'who,fare\n"Ann, Bob",4\n\n"two\nlines",5'
    table = read_delimited(text, start=10)
    assert table.columns == ("who", "fare")
    assert [record.cells for record in table.rows] == [("Ann, Bob", "4"), ("two\nlines", "5")]
    assert [text[record.span.start - 10 : record.span.end - 10] for record in table.rows] == [
        '"Ann, Bob",4',
        '"two\nlines",5',
    ]


def test_a_quote_that_nobody_closed_costs_its_own_line_alone() -> None:
    table = read_delimited('a,b\n"x,1\n' + "y,2\n" * 300)
    assert len(table.records) == 302
    assert table.records[1].cells == ('"x', "1")


@given(tables, st.sampled_from(",;"))
def test_what_is_written_is_read_again(rows: list[list[str]], delimiter: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    table = read_delimited(buffer.getvalue())
    if table.delimiter == delimiter:
        assert [list(record.cells) for record in table.records] == [row for row in rows if any(map(str.strip, row))]


@given(st.text(alphabet='ab1,;|\t:" \n', max_size=200))
def test_records_stand_in_order_without_overlap_and_lose_nothing(text: str) -> None:
    table = read_delimited(text)
    places = [(record.span.start, record.span.end) for record in table.records]
    assert places == sorted(places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    said = "".join(record.span.of(text) for record in table.records)
    assert {sign for sign in text if sign.isalnum()} <= set(said)
