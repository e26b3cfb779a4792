"""Pages as HTML: what is cited is marked wherever it stands, and nothing that a document holds is ever run."""

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from bot.web.page_html import MOST_CHARACTERS, context_of, to_html
from bot.web.page_markup import ALLOWED_TAGS
from core.domain.corpus import Heading, Page
from core.domain.passages import Span

NOTE = """# The *boats*

Three boats, **one crew** and [a chart](https://chart.example/and) with `no spare` &amp; more,
see [[On-call guide|the guide]].

- first point
- second point that
  goes on

| vessel | speed |
|---|--:|
| Marigold | 11 knots |

```
sail --away
```
> said the captain

![a picture of a gull](https://elsewhere.example/gull.png)
"""


def page_of(text: str, *headings: Heading) -> Page:
    return Page(id="p", document_id="d", revision="r", number=1, title="", text=text, headings=headings)


def body_of(text: str, quote: str = "", kind: str = "markdown", *headings: Heading, internal_links: bool = True) -> str:
    start = text.index(quote) if quote else 0
    cited = Span(start, start + len(quote)) if quote else None
    return to_html(page_of(text, *headings), kind, cited, internal_links=internal_links).body


def marks_in(body: str) -> list[str]:
    return [html.unescape(found) for found in re.findall(r'<mark class="cited"[^>]*>(.*?)</mark>', body, re.DOTALL)]


@pytest.mark.parametrize(
    ("quote", "marks"),
    [
        ("Three boats", ["Three boats"]),
        ("boats, **one crew** and", ["boats, ", "one crew", " and"]),
        ("[a chart](https://chart.example/and) with", ["a chart", " with"]),
        ("`no spare` &amp; more", ["no spare", "& more"]),
        ("see [[On-call guide|the guide]]", ["see ", "the guide"]),
        ("second point that\n  goes on", ["second point that\ngoes on"]),
        ("| Marigold | 11 knots |", ["Marigold", "11 knots"]),
        ("--away", ["--away"]),
        ("said the captain", ["said the captain"]),
        ("picture of a gull", ["picture of a gull"]),
    ],
)
def test_a_citation_is_marked_in_every_kind_of_markdown(quote: str, marks: list[str]) -> None:
    found = marks_in(body_of(NOTE, quote))

    assert "".join("".join(found).split()) == "".join("".join(marks).split())


def test_the_first_mark_is_the_one_that_links_scroll_to() -> None:
    body = body_of(NOTE, "| Marigold | 11 knots |")

    assert re.findall(r'id="cited">([^<]*)', body) == ["Marigold"]


def test_equal_words_elsewhere_are_not_marked() -> None:
    text = "red boat\n\nred boat\n\nred boat"
    body = to_html(page_of(text), "markdown", Span(10, 18)).body

    assert (
        body.replace("\n", "") == '<p>red boat</p><p><mark class="cited" id="cited">red boat</mark></p><p>red boat</p>'
    )


@pytest.mark.parametrize("quote", ["https://chart.example/and", "|---|--:|"])
def test_what_is_no_text_in_markdown_is_shown_as_written_where_it_is_cited(quote: str) -> None:
    assert marks_in(body_of(NOTE, quote)) == [quote]


def test_headings_are_one_level_down_with_an_anchor() -> None:
    body = body_of(NOTE, "", "markdown", Heading(level=1, title="The boats", start=0))

    assert '<h2 id="h-0">The <em>boats</em></h2>' in body


def test_wikilinks_lead_to_the_library_only_for_people_who_may_browse_it() -> None:
    assert 'href="/library/find?name=On-call%20guide"' in body_of(NOTE)
    assert "/library/" not in body_of(NOTE, internal_links=False)
    assert "the guide" in body_of(NOTE, internal_links=False)


def test_plain_text_keeps_lines_headings_and_tables() -> None:
    text = "Prices\n\nfirst line\nsecond <line>\n\nadult\t4.50\nchild\t2.00\nend"
    body = body_of(text, "line\nsecond", "html", Heading(level=2, title="Prices", start=0))

    assert '<h2 id="h-0">Prices</h2>' in body
    assert '<p class="lines">first <mark class="cited" id="cited">line\nsecond</mark> &lt;line&gt;</p>' in body
    assert '<tr><td>adult</td><td class="right">4.50</td></tr>' in body
    assert '<p class="lines">end</p>' in body


FULL = "This line of a printed page is as long as the page is wide, and"
ROW = "Great Tern 71,905 12,830 14 and 2,480 on 28 days of 365 in 2025"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([FULL, "goes on here."], 1),
        ([FULL, FULL, "ends.", "Short", "lines stay"], 3),
        ([FULL, "- an item", "* another"], 3),
        ([FULL, "1. an item"], 2),
        ([ROW, ROW], 2),
        ([FULL, ROW], 2),
        (["a poem has", "short lines"], 2),
        (["a line of data " * 20, "another"], 2),
    ],
)
def test_lines_that_a_page_only_wrapped_are_joined(lines: list[str], shown: int) -> None:
    body = body_of("\n".join(lines), lines[-1], "pdf")

    assert body.count("\n") + 1 == shown
    assert marks_in(body) == [lines[-1]]


HOSTILE = [
    "<script>alert(1)</script>",
    "text <img src=x onerror=alert(1)> text",
    "<svg onload=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    '<p style="position:fixed" onclick="x()" class="top" id="main">x</p>',
    "<form action=/jobs><input name=a></form>",
    "<iframe src=https://evil.example></iframe>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0>",
    "</div></article></main><script src=//evil.example></script>",
    "[a](/jobs/1/cancel) [b](//evil.example)",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "`<script>` ![<script>alert(1)</script>](x)",
    "# <script>alert(1)</script>",
    "```<script>\n</code></pre><script>alert(1)</script>\n```",
    "[[<script>alert(1)</script>]]",
    '[[a" onmouseover="alert(1)]]',
    "<!-- --><script>alert(1)</script><!-- -->",
    "<mark class=cited id=cited>not cited</mark>",
]


def harm_in(body: str) -> list[str]:
    """Elements and attributes that a page of a document must not have."""
    nodes = LexborHTMLParser(f"<body>{body}</body>").css("body *")
    given = [(name, value or "") for node in nodes for name, value in node.attributes.items()]
    return [
        *(node.tag for node in nodes if node.tag not in ALLOWED_TAGS),
        *(f"{name}={value}" for name, value in given if not is_harmless(name, value)),
    ]


def is_harmless(name: str, value: str) -> bool:
    if name == "href":
        return value.startswith(("http://", "https://", "mailto:", "/library/find?name="))
    if name in ("id", "class"):
        return re.fullmatch(r"cited|lines|left|right|center|h-\d+", value) is not None
    return name in ("rel", "start")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["markdown", "html", "text", "pdf"])
def test_nothing_a_document_holds_is_run(text: str, kind: str) -> None:
    for cited in (None, Span(0, len(text)), Span(3, 9)):
        body = to_html(page_of(text), kind, cited).body

        assert harm_in(body) == []
        assert ('id="cited"' in body) <= (cited is not None)


def test_a_script_in_a_note_is_seen_as_text_and_hides_nothing_behind_it() -> None:
    body = body_of("before <script> the rest\n\n<style>\n\nof the page")

    assert "&lt;script&gt;" in body
    assert "the rest" in body
    assert "of the page" in body


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="ab \n<>[]()|*_`#->&;!\t\"'/\\^~:1.", max_size=120),
    st.integers(0, 120),
    st.integers(1, 40),
    st.sampled_from(["markdown", "text"]),
)
def test_whatever_stands_in_a_page_its_html_is_harmless(text: str, start: int, length: int, kind: str) -> None:
    assert harm_in(to_html(page_of(text), kind, Span(start, start + length)).body) == []


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abc <>&\n\t", min_size=1, max_size=80), st.data())
def test_in_plain_text_exactly_the_cited_words_are_marked(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    marked = "".join(marks_in(to_html(page_of(text), "text", Span(start, end)).body))

    assert "".join(marked.split()) == "".join(text[start:end].split())


def test_a_very_long_page_is_shown_around_what_is_cited() -> None:
    text = "\n".join(f"line {number}" for number in range(40_000))
    start = text.index("line 30000")
    shown = to_html(page_of(text), "text", Span(start, start + 10))

    assert shown.cut_before
    assert shown.cut_after or start + MOST_CHARACTERS > len(text)
    assert marks_in(shown.body) == ["line 30000"]
    assert len(shown.body) < 2 * MOST_CHARACTERS


def test_data_in_a_note_is_not_read_as_markup() -> None:
    body = body_of("[" * 50_000)

    assert body.startswith('<p class="lines">[[[')


@pytest.mark.parametrize("kind", ["openapi", "rst", "org", "notebook", "canvas"])
def test_what_readers_write_as_markdown_is_drawn_as_markdown(kind: str) -> None:
    text = "## GET /pets\n\n- operationId: find\n\n| Field | Type |\n| --- | --- |\n| name | string |"
    body = body_of(text, "name | string", kind, Heading(level=2, title="GET /pets", start=0))

    assert '<h2 id="h-0">GET /pets</h2>' in body
    assert "<li>operationId: find</li>" in body
    assert marks_in(body) == ["name", "string"]
    assert "|" not in body and "#" not in body


@pytest.mark.parametrize(("title", "shown"), [("Re: boats", "Re: boats"), ("# 1", "# 1")])
def test_a_heading_of_a_mail_has_no_signs_of_markdown(title: str, shown: str) -> None:
    text = "# 1\nThe first line\nand the second" if title == "# 1" else "## Re: boats\nThe first line\nand the second"
    body = body_of(text, "first line\nand", "mail", Heading(level=2, title=title, start=0))

    assert f'<h2 id="h-0">{shown}</h2>' in body
    assert marks_in(body) == ["first line\nand"]


PROSE = "One. Two is here. Three\nfollows it! Four? Five.\n\nSix"


@pytest.mark.parametrize(
    ("quote", "context"),
    [
        ("Three\nfollows it!", "Two is here. Three\nfollows it! Four? "),
        ("follows", "Two is here. Three\nfollows it! Four? "),
        ("One.", "One. Two is here. Three\nfollows it! "),
        ("Six", "Four? Five.\n\nSix"),
        ("Two is here. Three", "One. Two is here. Three\nfollows it! Four? "),
        (PROSE, PROSE),
    ],
)
def test_a_citation_has_two_sentences_around_it(quote: str, context: str) -> None:
    start = PROSE.index(quote)
    assert context_of(page_of(PROSE), Span(start, start + len(quote))).of(PROSE) == context


def test_titles_and_rows_of_figures_are_no_part_of_a_sentence() -> None:
    text = (
        "Fuel 502,300 488,900\nSurplus 24,900 37,200\nFuel cost less although we sailed more, because of a new\n"
        "propeller.\nWhat comes next\nIn 2026 we mend the ramp at Little Tern, and we try a later\nboat. Nobody dared."
    )
    start = text.index("Nobody")
    context = context_of(page_of(text), Span(start, len(text))).of(text)
    assert (
        context == "What comes next\nIn 2026 we mend the ramp at Little Tern, and we try a later\nboat. Nobody dared."
    )


def test_sentences_of_other_sections_are_no_context() -> None:
    text = "Before.\nMoney\nWe sailed.\nFuel\nIt cost less."
    page = page_of(text, *(Heading(level=2, title=title, start=text.index(title)) for title in ("Money", "Fuel")))
    start = text.index("We")
    assert context_of(page, Span(start, start + 10)).of(text).strip() == "We sailed."


@pytest.mark.parametrize(
    ("quote", "context"),
    [
        ("b\t2", "a\t1\nb\t2\nc\t3"),
        ("d\t4", "c\t3\nd\t4"),
        ("| x | 1 |", "| n | v |\n|---|---|\n| x | 1 |\n| y | 2 |"),
    ],
)
def test_a_citation_of_rows_has_the_rows_around_it(quote: str, context: str) -> None:
    text = "Above\na\t1\nb\t2\nc\t3\nd\t4\nBelow\n| n | v |\n|---|---|\n| x | 1 |\n| y | 2 |\n| z | 3 |"
    start = text.index(quote)
    assert context_of(page_of(text), Span(start, start + len(quote))).of(text).strip("\n") == context


@given(st.text("ab.!?\n |\t-", max_size=80), st.integers(0, 80), st.integers(1, 20))
@example("?\n  ", 0, 3)
def test_the_context_holds_the_citation_and_shows_it(text: str, start: int, length: int) -> None:
    cited = Span(min(start, len(text)), min(start + length, len(text)))
    context = context_of(page_of(text), cited)

    assert context.contains(cited) and context.end <= len(text)
    if cited.of(text).strip(" |-\n\t"):
        assert "<mark" in to_html(page_of(text), "pdf", cited, part=context).body


@pytest.mark.parametrize("kind", ["markdown", "html"])
def test_headings_begin_below_the_title_and_leave_no_level_out(kind: str) -> None:
    text = "### Fares\n\nAll.\n\n##### Adults\n\nFour.\n\n### Boats\n\nThree."
    places = [(3, "Fares"), (5, "Adults"), (3, "Boats")]
    headings = [
        Heading(level=level, title=title, start=text.index(f"{'#' * level} {title}")) for level, title in places
    ]

    assert re.findall(r"<(h\d)", body_of(text, "", kind, *headings)) == ["h2", "h3", "h2"]
