"""Text without markup."""

import pytest

from core.domain.corpus import Heading, Page
from core.knowledge.references.document_lines import LENGTH, page_summary
from core.text.markup import is_row, preview, readable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("See [the guide](guide.md#top \"Top\") and [[notes|my notes]].", "See the guide and my notes."),
        ("**Bold** and `code` stay words", "Bold and `code` stay words"),
        ("| Rope | 1 gp |", "Rope | 1 gp"),
        ("Rope\t1 gp\t\t2 lb.", "Rope | 1 gp | 2 lb."),
        ("### > A heading", "A heading"),
        ("Found in 1974.[3][4, 5]", "Found in 1974.(3)(4, 5)"),
        ("A<br/>line <b>here</b>", "Aline here"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("|---|:--|", ""),
        ("![](picture.png)", ""),
    ],
)  # fmt: skip
def test_markup_is_left_out_and_words_stay(raw: str, shown: str) -> None:
    assert readable(raw) == shown


def test_rows_are_told_by_their_cells() -> None:
    assert is_row("Rope\t1 gp")
    assert is_row("| Rope | 1 gp |")
    assert is_row("Rope | 1 gp | 2 lb.")
    assert not is_row("Either this | that")


LONG = "The gates stayed shut for two hours, because a rubber seal was missing in a duct that nobody had looked into."


def a_page(text: str, title: str = "Keys", *headings: Heading) -> Page:
    return Page(id="p1", document_id="d1", revision="r1", number=1, title=title, text=text, headings=headings)


@pytest.mark.parametrize(
    ("path", "text", "summary"),
    [
        ("a.md", "# Keys\n\nUnder the mat. Or not.\n\nMore.", "Under the mat. Or not."),
        ("a.md", f"Look under the mat first. {LONG}", "Look under the mat first."),
        ("a.md", "- [ ] Ask *Ben*, see [[Ben Hale|Ben]], [this](http://x)\n- [x] Look", "Ask Ben, see Ben, this"),
        ("a.md", "1. Look at the clock.\n2. Wait.", "Look at the clock."),
        ("a.md", "> [!tip] Knock\n> twice", "Knock twice"),
        ("a.md", "| key | place |\n|---|:--:|\n| brass | mat |", "key place brass mat"),
        ("a.html", "Keys\n\nEvery key hangs here.", "Every key hangs here."),
        ("a.txt", "Keys\n", ""),
        ("a.txt", "HARROW HOUSE\n\nVersion: 1.2\n\nThis says who has the keys.", "This says who has the keys."),
        ("a.md", "HARROW HOUSE\n**Version:** 1.2\nStatus: draft\nThe keys hang here.", "The keys hang here."),
        ("a.txt", "HARROW HOUSE\n\nVersion: 1.2", "HARROW HOUSE"),
        ("a.pdf", "The season\nIn short\nRoute Cars\nHallow 28\nThe boats were\nfull.", "The boats were full."),
        ("a.pdf", "The season\nIn short", "The season In short"),
        ("a.txt", "鍵は。" * 60, "鍵は。"),
        ("a.txt", "word" * 100, f"{'word' * 24}wor…"),
    ],
)  # fmt: skip
def test_a_summary_is_the_first_paragraph_or_its_first_sentence(path: str, text: str, summary: str) -> None:
    assert page_summary(a_page(text), path) == summary


def test_a_long_sentence_is_cut_at_a_word() -> None:
    found = page_summary(a_page(LONG), "a.txt")

    assert len(found) <= LENGTH
    assert found.endswith(" that nobody had…")


def test_headings_inside_a_page_are_left_out() -> None:
    headings = (Heading(level=1, title="The boats", start=0), Heading(level=2, title="Rowing", start=13))
    page = a_page("# The boats\n\nRowing\n\nA boat carries four.", "", *headings)

    assert page_summary(page, "a.txt") == "A boat carries four."


@pytest.mark.parametrize("text", ["-" * 100_000, "|-" * 50_000, "[" * 100_000, "\n" * 100_000, "a." * 50_000])
def test_pages_that_are_no_prose_are_summed_up_at_once(text: str) -> None:
    assert len(page_summary(a_page(text), "a.md")) <= LENGTH


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("markdown", "# Keys\n\nThe **spare** key is in the [[shed]].", "The spare key is in the shed."),
        ("rst", "## Keys\n\nThe *spare* key is in the shed.", "The *spare* key is in the shed."),  # its own signs
        ("openapi", "# GET /keys", "GET /keys"),
        ("csv", "| key | place |\n| 1 | shed |", "| key | place | | 1 | shed |"),
        ("text", "", ""),
    ],
)
def test_a_preview_begins_past_the_headings_whatever_the_kind(kind: str, text: str, shown: str) -> None:
    assert preview(text, kind, 80) == shown
    assert preview("# A\n" + "word " * 50, kind, 20) == "word word word…"
