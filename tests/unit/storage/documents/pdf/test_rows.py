"""Lines of a PDF page as printed."""

from storage.documents.pdf.rows import Line, needs_rows, to_rows


def line(text: str, left: float, top: float, width: float | None = None) -> Line:
    right = left + (len(text) * 5 if width is None else width)
    return Line(text=text, left=left, right=right, bottom=top - 10, top=top)


def test_a_page_of_prose_stays_as_it_is() -> None:
    assert not needs_rows(["The ferry sails.", "It costs 4.", "12", "13"] * 5)


def test_columns_of_figures_call_for_rows() -> None:
    assert needs_rows(["Salaries", "Travel", "Rent", "Tax", "Total", "1,040.10", "(200.00)", "$ 3", "12 %", "1,255"])


def test_letters_one_by_one_call_for_rows() -> None:
    assert needs_rows(list("The ferry sails at seven") * 4)
    assert not needs_rows([])


def test_figures_join_their_labels_from_top_to_bottom() -> None:
    lines = [line("Rent", 50, 700), line("Travel", 50, 720), line("20", 300, 719), line("10", 300, 701)]
    assert to_rows(lines) == "Travel\t20\nRent\t10"


def test_letters_join_to_words_and_words_to_lines() -> None:
    letters = [line("f", 50, 700), line("e", 55, 700), line("r", 60.5, 700), line("4", 70, 700), line("x", 200, 700)]
    assert to_rows(letters) == "fer 4\tx"
