"""Answers as HTML: footnotes are links, everything else that could be clicked or run is text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.render import (
    answer_html,
    message_view,
    people_in,
    place_of,
    shown_json,
    sources_view,
    step_view,
    thread_view,
)
from core.answering.answers.sentences import say
from core.domain.answer import Reference, ReferenceType
from core.domain.conversation import Outcome, Role
from core.domain.features import Rating
from core.domain.jobs import JobKind, JobStatus
from tests.builders import build_citation, build_conversation, build_job, build_message
from tests.unit.bot.markdown_texts import DIRECTION_MARKS

LINKS = {1: "/s/one", 2: "/s/two?a=1&b=2"}


def test_markers_with_a_footnote_are_links_and_others_stay_text() -> None:
    html = answer_html("Under the mat [1], or not[2]. See [3] and `a[1]`.", LINKS)

    assert re.findall(r'href="([^"]+)"[^>]*>(\d)</a>', html) == [("/s/one", "1"), ("/s/two?a=1&amp;b=2", "2")]
    assert "See [3]" in html
    assert "<code>a[1]</code>" in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "![x](http://evil.example/x.png)",
        "<http://evil.example>",
        "[a]: http://evil.example\n\n[a]",
        '<img src=x onerror="alert(1)">',
        "http://evil.example",
    ],
)
def test_nothing_that_a_document_or_model_wrote_can_be_clicked_or_run(text: str) -> None:
    html = answer_html(f"{text} [1]", LINKS)

    assert re.findall(r"<(?:a|img|script)\b[^>]*>", html) == re.findall(r'<a class="footnote"[^>]*>', html)
    assert "evil.example" in html or "alert(1)" in html, "it is still there to be read"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=120))
def test_any_text_gives_only_known_tags(text: str) -> None:
    html = answer_html(text, LINKS)
    tags = set(re.findall(r"<([a-zA-Z]\w*)", html))

    assert tags <= {
        *("p", "br", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "a", "mark"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "div"),
    }
    assert html.count("<a ") == html.count('<a class="footnote"')


def test_a_footnote_never_begins_a_line_and_says_what_it_opens() -> None:
    html = answer_html("**Under the mat** [1] [2] it lies.", LINKS, {1: "Footnote 1, House, page 3"})

    assert "</strong><a " in html
    assert "</a><a " in html
    assert 'aria-label="Footnote 1, House, page 3"' in html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is due [1][2]. Then it ends [1]!", "It is due.12 Then it ends!1"),
        ("It costs [1].50 crowns.", "It costs1.50 crowns."),
        ("See [7]. It is due, [1] says Ann.", "See [7]. It is due,1 says Ann."),
    ],
)
def test_a_footnote_stands_behind_the_sentence_that_it_proves(text: str, shown: str) -> None:
    assert re.sub("<[^>]+>", "", answer_html(text, LINKS)).strip() == shown


@pytest.mark.parametrize(
    ("document", "path", "place"),
    [
        ("a.PDF", ("Season", "Money"), "p. 3"),
        ("a.pdf.md", ("Season", "Money"), "Money"),
        ("a.md", ("Season",), ""),
        ("a.xlsx", ("Sheet 2",), "Sheet 2"),
        ("a.md", (), ""),
    ],
)
def test_a_place_is_called_as_its_document_names_it(document: str, path: tuple[str, ...], place: str) -> None:
    citation = build_citation(document=document, document_title="Season", heading_path=path, page_number=3)

    assert place_of(citation) == place


def test_sources_are_one_row_for_each_document_in_the_order_of_their_use() -> None:
    first = build_citation("d1", number=1, document="a.pdf", document_title="Season", page_number=3)
    second = build_citation("d2", number=2, document="b.md", document_title="Fleet", heading_path=("Fleet", "Boats"))
    third = build_citation("d1", number=3, document="a.pdf", document_title="Season", page_number=4)
    view = sources_view((first, second, third), {1: "/s/1", 2: "/s/2", 3: "/s/3"})

    assert [(row["title"], row["place"], [note["number"] for note in row["notes"]]) for row in view] == [
        ("Season", "", [1, 3]),
        ("Fleet", "Boats", [2]),
    ]
    assert view[0]["notes"][0] == {
        "number": 1,
        "href": "/s/1",
        "name": "Footnote 1, Season, page 3",
        "place": "p. 3",
    }


def test_an_answer_of_quotes_says_so_by_its_looks_and_not_in_words() -> None:
    message = build_message(
        "a1",
        f"Under the mat[1].\n\n{say('quotes_note')}",
        role=Role.ASSISTANT,
        citations=(build_citation(),),
        outcome=Outcome(model="extractive"),
    )
    view = message_view(message, lambda *_: "/s/x")

    assert view["quoted"] is True
    assert "language model" not in view["html"]


def test_suggestions_are_two_at_most_and_never_cut_off() -> None:
    offered = ("Who asked for the study?", "x" * 61, "When is it due?", "What does it cost?")
    message = build_message("a1", "Yes.", role=Role.ASSISTANT, outcome=Outcome(suggestions=offered))

    assert message_view(message, lambda *_: "")["suggestions"] == ["Who asked for the study?", "When is it due?"]


def test_marks_of_unsupported_claims_are_explained() -> None:
    assert 'class="unsupported"' in answer_html("It is blue [?].")


def test_an_answer_carries_its_suggestions_choices_and_rating() -> None:
    message = build_message(
        "a1",
        "Under the mat[1].",
        role=Role.ASSISTANT,
        author="footnote",
        citations=(build_citation(),),
        status="answered",
        job_id="j1",
        outcome=Outcome(suggestions=("And the door?",), choices=("one", "two")),
    )
    view = message_view(message, lambda item, _: f"/s/{item.number}#cited", Rating.UP)

    assert (view["suggestions"], view["choices"], view["rated"], view["job"]) == (
        ["And the door?"],
        ["one", "two"],
        "up",
        "j1",
    )


def test_an_answer_carries_what_was_named_and_what_was_looked_at_besides() -> None:
    citation = build_citation("d0", document="0.md")
    seen = [
        Reference(type=ReferenceType.SEARCH, label=f"Doc {n}", document=f"{n}.md", document_id=f"d{n}")
        for n in range(13)
    ]
    named = Reference(
        type=ReferenceType.DIRECT, label="[[House]]", document="a/b.md", document_id="a/b", summary="Where we live."
    )
    broken = Reference(type=ReferenceType.DIRECT, label="[[<b>]]", document=None, broken=True)
    message = build_message(
        "a1", "Yes[1].", role=Role.ASSISTANT, citations=(citation,), references=(named, broken, *seen)
    )
    view = message_view(message, lambda *_: "/s/x")["references"]

    assert view["named"] == [
        {"label": "House", "detail": "a/b.md", "summary": "Where we live.", "href": "/library/documents/a%2Fb"},
        {"label": "<b>", "detail": "leads nowhere", "summary": "", "href": None},
    ]
    assert [row["label"] for row in view["seen"]] == [f"Doc {n}" for n in range(1, 13)]
    assert view["shown"] == 10


def test_an_answer_of_old_conversations_without_references_opens() -> None:
    view = message_view(build_message("a1", "Yes.", role=Role.ASSISTANT), lambda *_: "/s/x")

    assert view["references"] == {"named": [], "seen": [], "shown": 10}


def test_what_people_wrote_is_text_and_never_html() -> None:
    view = message_view(build_message(content="<b>hi</b>"), lambda *_: "")

    assert (view["text"], "html" in view) == ("<b>hi</b>", False)


def test_a_thread_without_a_title_can_still_be_picked() -> None:
    assert thread_view(build_conversation())["title"] == "(no title)"


@pytest.mark.parametrize(
    ("kind", "name", "given", "words"),
    [
        (JobKind.TOOL, "search", {"query": "the key"}, "Searching for “the key”"),
        (JobKind.TOOL, "get_page", {"page_id": "p1"}, "Reading a page"),
        (JobKind.PLANNING, "plan", {}, "Choosing what to read"),
        (JobKind.PLANNING, "sum up references", {}, "Describing the documents it looked at"),
        (JobKind.SYNTHESIS, "answer", {}, "Writing the answer"),
        (JobKind.TOOL, "a_new_tool", {"query": "x"}, ""),
    ],
)
def test_a_step_says_in_words_what_it_does(kind: JobKind, name: str, given: dict[str, str], words: str) -> None:
    view = step_view(build_job("j1/t0", parent_id="j1", kind=kind, name=name, input=given))

    assert (view["parent"], view["status"], view["words"]) == ("j1", JobStatus.RUNNING.value, words)


def test_people_are_named_once_in_order_of_appearance() -> None:
    messages = [build_message(author=name) for name in ("ben", "ada", "ben")]
    answers = [build_message(author="footnote", role=Role.ASSISTANT)]

    assert people_in([*messages, *answers], besides={"ada"}) == ["ben"]


def test_what_may_be_wider_than_the_page_is_reached_by_keyboard() -> None:
    html = answer_html("| a | b |\n|---|---|\n| 1 | 2 [1] |\n\n```\nx < y\n```\n\n    indented", LINKS)

    assert '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>' in html
    assert html.count("<div ") == html.count("</div>") == 1
    assert '<pre tabindex="0"><code>x &lt; y\n</code></pre>' in html
    assert '<pre tabindex="0"><code>indented</code></pre>' in html.replace("indented\n", "indented")


def test_scripts_get_no_direction_marks_to_show() -> None:
    assert shown_json({"a": [f"x{DIRECTION_MARKS}y é"]}) == '{"a": ["xy é"]}'
