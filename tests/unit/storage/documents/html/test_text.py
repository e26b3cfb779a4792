"""HTML to the text a reader sees."""

import pytest

from storage.documents.html.text import has_markup, html_to_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<b>two</b> three</p>", "onetwo three"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<div>a<div>b</div></div>c", "a\nb\nc"),
        ("<p>a<br>b</p>", "a\nb"),
        ("<p>caf&eacute; &amp; more&nbsp;</p>", "café & more"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<p>\n  a \n b  </p>", "a b"),
        ("<pre>\n a\n  b</pre>", " a\n  b"),
        ("a < b & c", "a < b & c"),
    ],
)
def test_blocks_end_lines_and_inline_elements_add_nothing(source: str, text: str) -> None:
    assert html_to_text(source).text == text


def test_cells_are_separated_by_tabs_and_an_empty_cell_keeps_its_tab() -> None:
    table = "<table><tr><th>who<th>when<th>fare</tr><tr><td><p>adult</p><td><td>4<br>or 5</tr><tr><td><td>x</table>"
    assert html_to_text(table).text == "who\twhen\tfare\nadult\t\t4 or 5\n\tx"


def test_a_cell_with_a_list_keeps_its_lines() -> None:
    source = "<table><tr><td>a<td><ul><li>b<li>c</ul></table>"
    assert html_to_text(source).text == "a\n\nb\nc"


def test_headings_have_their_places_and_ids() -> None:
    found = html_to_text(
        "<p>x</p><h1 id=top>The <em>ferry</em></h1><p>y</p><h2></h2><h2><a id=f></a>Fares<br>here</h2>"
    )
    assert [(heading.level, heading.title) for heading in found.headings] == [(1, "The ferry"), (2, "Fares here")]
    assert [found.text[heading.start :].split("\n")[0] for heading in found.headings] == ["The ferry", "Fares here"]
    assert [(name, found.text[place:][:3]) for name, place in found.anchors] == [("top", "The"), ("f", "Far")]


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<nav>x</nav>",
        "<header><a>x</a></header>",
        "<footer>x</footer>",
        "<aside>x</aside>",
        "<div role=navigation>x</div>",
        "<div hidden>x</div>",
        "<p style='display: none'>x</p>",
        "<template><p>x</p></template>",
        "<button>x</button>",
        "<!-- x -->",
    ],
)
def test_boilerplate_is_left_out(boilerplate: str) -> None:
    assert html_to_text(f"<body>{boilerplate}<p>text</p>{boilerplate}</body>").text == "text"


def test_a_header_or_aside_of_the_content_stays() -> None:
    source = "<header><h1>A</h1><ul><li>menu</ul></header><article><header>by Ann</header><aside>note</aside></article>"
    assert html_to_text(source).text.split() == ["A", "by", "Ann", "note"]


def test_a_main_element_with_the_text_is_the_content() -> None:
    assert html_to_text("<body><div>menu</div><main><p>The text itself.</p></main></body>").text == "The text itself."


def test_a_small_main_element_is_not_taken_for_the_content() -> None:
    source = f"<body><main>x</main><p>{'long text ' * 20}</p></body>"
    assert "long text" in html_to_text(source).text


def test_title_and_address_come_from_the_head() -> None:
    head = "<head><title> Duck -\n Wiki</title><link rel=canonical href='https://example.org/duck'></head>"
    found = html_to_text(f"{head}<p>x")
    assert (found.title, found.url) == ("Duck - Wiki", "https://example.org/duck")
    assert html_to_text("<link rel=canonical href='javascript:x'><p>x").url is None


def test_three_thousand_nested_elements_are_read() -> None:
    assert html_to_text("<div>" * 3_000 + "x").text == "x"


def test_nesting_beyond_reason_is_read_without_structure() -> None:
    source = "<div>" * 10_000 + "<script>a<b></script><!-- b <p> -->tea &amp; <b>milk</b><style>c"
    found = html_to_text(source)
    assert found.text == "tea & milk"
    assert "nested too deeply" in found.warnings[0]


@pytest.mark.parametrize(
    ("text", "expected"), [("<p>a", True), ("a &amp; b", True), ("a < b", False), ("plain", False)]
)
def test_markup_is_told_from_plain_text(text: str, expected: bool) -> None:
    assert has_markup(text) is expected


def test_instructions_to_programs_are_left_out() -> None:
    assert html_to_text('<p>The pier <?mso-application progid="Excel.Sheet"?>opens.</p>').text == "The pier opens."
