"""Claims of support become numbered footnotes only when the stored page says the very words."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.citations import MARKER, cited_page_ids, prove, strip_markers
from core.domain.answer import Draft, Evidence
from core.domain.chat import NumberedPassage
from core.domain.corpus import Heading, Page, SourcedPassage
from core.domain.footnotes import cite, heading_path_at
from core.domain.passages import Passage, Span
from core.domain.replies import CitedText, PassageCitation
from tests.builders import build_document

TEXT = "The key is under the mat. The mat is by the door. Ann has the spare key. Nobody else has one."
SENTENCES = (Span(0, 25), Span(26, 49), Span(50, 72), Span(73, 93))
DOCUMENT = build_document()


def build_page(number: int = 1, text: str = TEXT, **fields: object) -> Page:
    values = {"id": f"p{number}", "title": "Keys", "revision": "r1", **fields}
    return Page(document_id=DOCUMENT.id, number=number, text=text, **values)


def numbered(number: int, page: Page, sentences: tuple[Span, ...] = SENTENCES) -> NumberedPassage:
    span = Span(sentences[0].start, sentences[-1].end)
    passage = Passage(
        id=f"passage{number}",
        document_id=page.document_id,
        page_id=page.id,
        page_number=page.number,
        revision=page.revision,
        ordinal=number,
        span=span,
        text=span.of(page.text),
        heading_path=("Keys",),
        sentences=sentences,
    )
    return NumberedPassage(number=number, source=SourcedPassage(passage=passage, document=DOCUMENT, page_title="Keys"))


def draft(*segments: CitedText, evidence: tuple[NumberedPassage, ...]) -> Draft:
    return Draft(segments=segments, evidence=Evidence(passages={item.source.passage.id: item for item in evidence}))


def cites(number: int, *spans: Span, text: str = TEXT) -> tuple[PassageCitation, ...]:
    return tuple(PassageCitation(passage_id=f"passage{number}", span=s, cited_text=s.of(text)) for s in spans)


PAGE = build_page()
ONE = numbered(1, PAGE)


def test_a_provider_citation_becomes_a_footnote_after_its_text() -> None:
    proved = prove(
        draft(CitedText(text="Look under the mat.", citations=cites(1, SENTENCES[0])), evidence=(ONE,)), {"p1": PAGE}
    )

    assert proved.text == "Look under the mat.[1]"
    assert [c.quote for c in proved.citations] == ["The key is under the mat."]
    assert proved.citations[0].proved
    assert proved.citations[0].span == SENTENCES[0]
    assert proved.dropped == 0


def test_a_marker_becomes_the_sentence_of_its_passage_that_supports_the_claim() -> None:
    proved = prove(draft(CitedText(text="Ann has a spare key [1]."), evidence=(ONE,)), {"p1": PAGE})

    assert proved.text == "Ann has a spare key[1]."
    assert [c.quote for c in proved.citations] == ["Ann has the spare key."]


def test_numbers_follow_first_use_whatever_the_evidence_numbers_were() -> None:
    seven = numbered(7, PAGE, SENTENCES[:1])
    three = numbered(3, PAGE, SENTENCES[2:3])
    proved = prove(
        draft(CitedText(text="Ann has it [3]. It is under the mat [7]. Ann, again [3]."), evidence=(seven, three)),
        {"p1": PAGE},
    )

    assert proved.text == "Ann has it[1]. It is under the mat[2]. Ann, again[1]."
    assert [c.number for c in proved.citations] == [1, 2]


def test_touching_spans_of_a_page_share_one_number_and_one_quote() -> None:
    segments = (
        CitedText(text="Under the mat", citations=cites(1, SENTENCES[0])),
        CitedText(text=" by the door.", citations=cites(1, SENTENCES[1])),
    )
    proved = prove(draft(*segments, evidence=(ONE,)), {"p1": PAGE})

    assert proved.text == "Under the mat[1] by the door.[1]"
    assert [c.quote for c in proved.citations] == ["The key is under the mat. The mat is by the door."]


def test_spans_apart_keep_their_own_numbers() -> None:
    proved = prove(
        draft(CitedText(text="All of it.", citations=cites(1, SENTENCES[0], SENTENCES[2])), evidence=(ONE,)),
        {"p1": PAGE},
    )

    assert proved.text == "All of it.[1][2]"


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (None, "the page is gone"),
        (replace(PAGE, revision="r2"), "another revision is live"),
        (replace(PAGE, text=TEXT.replace("mat", "rug")), "the stored text changed"),
    ],
)
def test_a_claim_loses_its_footnote_when(page: Page | None, why: str) -> None:
    given_draft = draft(CitedText(text="Under the mat.", citations=cites(1, SENTENCES[0])), evidence=(ONE,))
    proved = prove(given_draft, {"p1": page} if page else {})

    assert (proved.citations, proved.text, proved.dropped) == ((), "Under the mat.", 1), why
    marked = prove(draft(CitedText(text="Under the mat [1]."), evidence=(ONE,)), {"p1": page} if page else {})
    assert (marked.citations, marked.text, marked.dropped) == ((), "Under the mat.", 1), why


@pytest.mark.parametrize("cited", ["The key is under the rug.", "", "The key"])
def test_an_altered_or_empty_quote_never_becomes_a_footnote_of_that_text(cited: str) -> None:
    claim = PassageCitation(passage_id="passage1", span=SENTENCES[1], cited_text=cited)
    proved = prove(draft(CitedText(text="So it is.", citations=(claim,)), evidence=(ONE,)), {"p1": PAGE})

    assert [c.quote for c in proved.citations] == (["The key"] if cited == "The key" else [])


def test_a_wrong_span_is_mended_where_the_passage_does_say_the_quote() -> None:
    claim = PassageCitation(passage_id="passage1", span=Span(0, 5), cited_text="Ann has  the\nspare key.")
    proved = prove(draft(CitedText(text="Ann.", citations=(claim,)), evidence=(ONE,)), {"p1": PAGE})

    assert [(c.quote, c.span) for c in proved.citations] == [("Ann has the spare key.", SENTENCES[2])]


def test_a_span_outside_the_passage_is_not_believed() -> None:
    short = numbered(1, PAGE, SENTENCES[:1])
    claim = PassageCitation(passage_id="passage1", span=SENTENCES[2], cited_text="Ann has the spare key.")
    proved = prove(draft(CitedText(text="Ann.", citations=(claim,)), evidence=(short,)), {"p1": PAGE})

    assert proved.citations == ()


def test_numbers_that_the_model_was_not_shown_are_text_of_its_own() -> None:
    proved = prove(draft(CitedText(text="Smith et al. [9] say so [1]."), evidence=(ONE,)), {"p1": PAGE})
    unnumbered = replace(draft(CitedText(text="Smith et al. [1] say so."), evidence=(ONE,)), is_numbered=False)

    assert (proved.text, proved.dropped) == ("Smith et al. \\[9\\] say so[1].", 0)
    assert (prove(unnumbered, {"p1": PAGE}).text, cited_page_ids(unnumbered)) == ("Smith et al. \\[1\\] say so.", [])


@pytest.mark.parametrize("text", ["`a[1]`", "```\nx[1]\n```", "[[1]]", "[1](https://x.example)"])
def test_what_only_looks_like_a_marker_stays(text: str) -> None:
    proved = prove(draft(CitedText(text=text), evidence=(ONE,)), {"p1": PAGE})

    assert (proved.text, proved.citations) == (text, ())


def test_one_marker_may_name_several_passages() -> None:
    two = numbered(2, PAGE, SENTENCES[2:3])
    one = numbered(1, PAGE, SENTENCES[:1])
    proved = prove(draft(CitedText(text="Mat and Ann [1, 2]."), evidence=(one, two)), {"p1": PAGE})

    assert proved.text == "Mat and Ann[1][2]."


def test_a_claim_over_two_sentences_quotes_both() -> None:
    proved = prove(draft(CitedText(text="The key under the mat by the door [1]."), evidence=(ONE,)), {"p1": PAGE})

    assert proved.citations[0].quote == "The key is under the mat. The mat is by the door."


def test_of_two_neighbours_that_say_as_much_of_a_claim_the_later_one_is_quoted() -> None:
    page = build_page(text="The lamp is red. The mat is by the door. The lamp burns oil.")
    item = numbered(1, page, (Span(0, 16), Span(17, 40), Span(41, 60)))
    proved = prove(draft(CitedText(text="The mat by the door has a lamp [1]."), evidence=(item,)), {"p1": page})

    assert proved.citations[0].quote == "The mat is by the door. The lamp burns oil."


def test_numbers_at_one_place_stand_in_their_order() -> None:
    evidence = (numbered(1, PAGE, SENTENCES[:1]), numbered(2, PAGE, SENTENCES[2:3]))
    proved = prove(draft(CitedText(text="Mat [1]. Ann [2]. Both [2, 1]."), evidence=evidence), {"p1": PAGE})

    assert proved.text == "Mat[1]. Ann[2]. Both[1][2]."


def test_a_number_stands_before_the_white_space_at_the_end_of_what_it_supports() -> None:
    segments = (CitedText(text="Look under the mat. ", citations=cites(1, SENTENCES[0])), CitedText(text="Now."))
    proved = prove(draft(*segments, evidence=(ONE,)), {"p1": PAGE})

    assert (proved.text, proved.segments) == ("Look under the mat.[1] Now.", ("Look under the mat.[1] ", "Now."))


@pytest.mark.parametrize("span", [Span(3, 3), Span(500, 510)])
def test_where_a_page_has_nothing_there_is_nothing_proved(span: Span) -> None:
    assert not cite(1, DOCUMENT, PAGE, span).proved


def test_pages_to_read_anew_are_those_cited_and_marked_only() -> None:
    other, third = build_page(2), build_page(3)
    evidence = (ONE, numbered(2, other), numbered(3, third))
    given_draft = draft(
        CitedText(text="A [2]."), CitedText(text="B", citations=cites(1, SENTENCES[0])), evidence=evidence
    )

    assert sorted(cited_page_ids(given_draft)) == ["p1", "p2"]


def test_old_markers_are_stripped_with_the_space_before_them() -> None:
    assert strip_markers("Under the mat [1][2]. Not [a].") == "Under the mat. Not [a]."


@pytest.mark.parametrize(
    ("title", "place", "path"),
    [
        ("", 12, ("Top", "A", "B")),
        ("", 25, ("Top", "C")),
        ("", 9, ("Top", "A")),
        ("", 10, ("Top", "A", "B")),  # a heading is in force where it begins
        ("A", 12, ("Top", "A", "B")),  # the page opens with its title: named once
        ("Notes", 12, ("Top", "Notes", "A", "B")),
    ],
)
def test_the_heading_path_is_the_one_in_force_at_the_quote(title: str, place: int, path: tuple[str, ...]) -> None:
    headings = (
        Heading(level=2, title="A", start=0),
        Heading(level=3, title="B", start=10),
        Heading(level=2, title="C", start=20),
    )

    assert heading_path_at(build_page(title=title, headings=headings, heading_path=("Top",)), place) == path


words = st.text(alphabet="abc é\n.😀", min_size=1, max_size=60)


@given(text=words, start=st.integers(-5, 70), length=st.integers(-5, 70), answer=words, cited=st.none() | words)
def test_every_footnote_is_verbatim_whatever_is_claimed(
    text: str, start: int, length: int, answer: str, cited: str | None
) -> None:
    page = build_page(text=text)
    item = numbered(1, page, (Span(0, len(text)),))
    span = Span(start, start + length)
    claim = PassageCitation(passage_id="passage1", span=span, cited_text=span.of(text) if cited is None else cited)
    proved = prove(draft(CitedText(text=f"{answer} [1]", citations=(claim,)), evidence=(item,)), {"p1": page})

    for citation in proved.citations:
        assert citation.quote == page.text[citation.span.start : citation.span.end]
        assert citation.quote.strip() == citation.quote != ""
    assert [c.number for c in proved.citations] == list(range(1, len(proved.citations) + 1))


@given(st.lists(st.integers(1, 6), max_size=12))
def test_numbers_have_no_gaps_and_equal_those_in_the_text(marks: list[int]) -> None:
    evidence = tuple(numbered(n, PAGE, (SENTENCES[(n - 1) % 4],)) for n in range(1, 5))
    text = " ".join(f"Claim{index} [{number}]." for index, number in enumerate(marks))
    proved = prove(draft(CitedText(text=text or "Nothing."), evidence=evidence), {"p1": PAGE})
    used = [int(match[1]) for match in MARKER.finditer(proved.text)]

    assert list(dict.fromkeys(used)) == list(range(1, len(proved.citations) + 1))


def test_markers_are_stripped_of_a_text_of_blanks_at_once() -> None:
    blanks = " " * 50_000
    started = time.process_time()
    assert strip_markers(f"Under{blanks}the mat{blanks}[1].") == f"Under{blanks}the mat."
    assert time.process_time() - started < 1.0
