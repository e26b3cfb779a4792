import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Page
from storage.documents.meetings.lines import Form, NoteLine, plain, read_lines


def read(text: str) -> list[NoteLine]:
    return read_lines([Page(id="p", document_id="d", revision="r", number=1, title="", text=text)])


@pytest.mark.parametrize(
    ("line", "form", "raw"),
    [
        ("## Boats ##", Form.HEADING, "Boats"),
        ("== Boats ==", Form.HEADING, "Boats"),
        ("**Boats:**", Form.HEADING, "Boats:"),
        ("h3. Boats", Form.HEADING, "Boats"),
        ("- Boats", Form.ITEM, "Boats"),
        ("  3.1 Boats", Form.ITEM, "Boats"),
        ("- [x] Boats", Form.ITEM, "Boats"),
        ("☐ Boats", Form.ITEM, "Boats"),
        ("> * Boats", Form.ITEM, "Boats"),
        ("| Boats | Ropes |", Form.ROW, "| Boats | Ropes |"),
        ("Boats\tRopes", Form.ROW, "Boats\tRopes"),
        ("see [[boats|the boats]]", Form.TEXT, "see [[boats|the boats]]"),
        ("----", Form.RULE, "----"),
    ],
)
def test_lines_are_told_by_their_marks(line: str, form: Form, raw: str) -> None:
    (read_line,) = read(line)

    assert (read_line.form, read_line.raw) == (form, raw)


def test_boxes_say_what_is_done() -> None:
    assert [line.done for line in read("- [x] a\n- [ ] b\n- c\n☑ d\n☐ e")] == [True, False, None, True, False]


def test_wrapped_lines_are_one_and_lists_of_names_are_not() -> None:
    wrapped = "- This item is so long that its writer broke it before the end\n  of the sentence."

    assert [line.text for line in read(wrapped)] == [
        "This item is so long that its writer broke it before the end of the sentence."
    ]
    assert [line.text for line in read("ann\nben\ncarla")] == ["ann", "ben", "carla"]


def test_code_is_left_out_and_gaps_are_kept() -> None:
    lines = read("a\n```\nAction: none\n```\n\nb")

    assert [(line.text, line.after_gap) for line in lines] == [("a", True), ("b", True)]


def test_plain_text_has_no_marks() -> None:
    assert (
        plain("**[Boats](b.md)** and `ropes` \\[2\\] of [[a|Ann]] <b>now</b> snake_case")
        == "Boats and ropes [2] of Ann now snake_case"
    )


@given(st.text(alphabet="ab #*-|[]xX\n\t>=.1()`~_:é日", max_size=200))
def test_every_line_stands_where_it_says(text: str) -> None:
    for line in read(text):
        there, parts = line.span.of(text).split("\n"), line.raw.split("\n")  # wrapped lines are kept without indents
        assert len(there) == len(parts)
        assert there[0].startswith(parts[0]) and all(map(str.endswith, there[1:], parts[1:]))


def test_text_that_tags_divide_is_not_joined() -> None:
    long = "Ann Lee to ask the harbour office for the new list of moorings"
    page = Page(id="p", document_id="d", revision="r", number=1, title="", text=f"{long}\nBen Ruiz to paint the pier")

    assert [line.raw for line in read_lines([page], wrapped=False)] == [long, "Ben Ruiz to paint the pier"]
    assert len(read_lines([page])) == 1


def test_a_line_of_absent_people_is_no_end_of_those_present() -> None:
    lines = read("Present: Ann Lee, Ben Ruiz, Carla Moor, Dan Wyndham, Ed Okafor\nApologies were received from Fay.")

    assert len(lines) == 2


def test_names_below_each_other_behind_a_label_stay_apart() -> None:
    lines = read("PRESENT:    Councillor Margaretha Wyndham-Fitzpatrick (Chairman)\n            Mr Ben Ruiz")

    assert [line.raw.split()[-2:] for line in lines] == [["Wyndham-Fitzpatrick", "(Chairman)"], ["Ben", "Ruiz"]]
