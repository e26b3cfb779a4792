from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.corpus import Heading, ParsedDocument, ParsedPage, page_id, passage_id
from core.errors import ReadError
from storage.documents.chunking import LIMIT_TOKENS, MAX_OVERLAP_TOKENS, Chunked, chunk, cut_page
from storage.documents.texts.sentences import MAX_UNIT_TOKENS, estimate_tokens

SENTENCE = "The council met on Monday and agreed to plant three more oaks beside the old mill. "
# A passage is filled to LIMIT unless one long unit follows another.
MOST_TOKENS = max(LIMIT_TOKENS, MAX_UNIT_TOKENS + MAX_OVERLAP_TOKENS)


def parsed(*pages: ParsedPage) -> ParsedDocument:
    return ParsedDocument(title="Minutes", kind="markdown", pages=pages)


def page(text: str, *, title: str = "", path: tuple[str, ...] = ()) -> ParsedPage:
    """A page whose headings are the lines that begin with '#'."""
    headings = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            marks = len(line) - len(line.lstrip("#"))
            headings.append(Heading(level=min(marks, 6), title=line.strip("# \n"), start=start))
        start += len(line)
    return ParsedPage(title=title, text=text, headings=tuple(headings), heading_path=path)


def chunked(*pages: ParsedPage) -> Chunked:
    return chunk(parsed(*pages), "local", "doc-1")


lines = st.one_of(
    st.text(max_size=120),
    st.sampled_from(
        ["# Head", "## Same", "## Same", "- item one. item two.", "| a | b |", "|---|---|", "```", "    code()",
         "> said", "", "\r", "\x0b", SENTENCE * 3, "word " * 400, "x" * 3000, "文。" * 300, "A. b! C? “d.”",
         "***", "\ud800\x00"]
    ),
)  # fmt: skip
texts = st.lists(lines, min_size=1, max_size=25).map("\n".join)
clean_texts = texts.map(lambda text: text.encode(errors="replace").decode())


@settings(deadline=None)  # the first example loads the sentence rules
@given(st.lists(texts, min_size=1, max_size=3))
def test_spans_are_exact_and_every_character_is_in_a_passage(page_texts: list[str]) -> None:
    if not any(text.strip() for text in page_texts):
        return
    result = chunked(*map(page, page_texts))

    for stored in result.pages:
        inside = [passage for passage in result.passages if passage.page_id == stored.id]
        covered = [False] * len(stored.text)
        for passage in inside:
            assert passage.text == passage.span.of(stored.text)
            assert passage.text == passage.text.strip() != ""
            covered[passage.span.start : passage.span.end] = [True] * len(passage.text)
        assert all(seen or char.isspace() for seen, char in zip(covered, stored.text, strict=True))


@given(clean_texts)
def test_sentences_lie_in_order_inside_their_passage_without_white_space_at_their_ends(text: str) -> None:
    for cut in cut_page(page(text)):
        assert cut.sentences
        assert all(cut.span.contains(sentence) for sentence in cut.sentences)
        assert all(sentence.of(text) == sentence.of(text).strip() != "" for sentence in cut.sentences)
        assert all(a.end <= b.start for a, b in pairwise(cut.sentences))


@given(clean_texts)
def test_passages_are_bounded_and_move_forward(text: str) -> None:
    cuts = cut_page(page(text))

    assert all(estimate_tokens(cut.span.of(text)) <= MOST_TOKENS + 2 for cut in cuts)
    assert all(a.span.start < b.span.start and a.span.end < b.span.end for a, b in pairwise(cuts))


@given(clean_texts)
def test_passages_overlap_by_one_short_sentence_at_most(text: str) -> None:
    cuts = cut_page(page(text))

    for first, second in pairwise(cuts):
        if second.span.start < first.span.end:
            shared = text[second.span.start : first.span.end]
            assert estimate_tokens(shared) <= MAX_OVERLAP_TOKENS
            assert sum(s.start >= second.span.start for s in first.sentences) <= 1


@given(st.lists(texts, min_size=1, max_size=3))
def test_the_same_content_gives_the_same_revision_and_ids(page_texts: list[str]) -> None:
    pages = [page(text) for text in page_texts]
    if any(text.strip() for text in page_texts):
        assert chunked(*pages) == chunked(*pages)


def test_ids_and_ordinals_follow_the_domain_rules() -> None:
    result = chunked(page(SENTENCE * 30), page(SENTENCE))

    assert [p.number for p in result.pages] == [1, 2]
    assert result.pages[1].id == page_id("doc-1", result.revision, 2)
    assert [p.ordinal for p in result.passages] == list(range(len(result.passages)))
    last = result.passages[-1]
    assert last.id == passage_id("local", "doc-1", result.revision, last.ordinal)
    assert (last.page_number, last.page_id) == (2, result.pages[1].id)


def test_prose_is_packed_to_the_target_with_one_sentence_shared() -> None:
    text = SENTENCE * 40

    cuts = cut_page(page(text))

    assert all(100 <= estimate_tokens(cut.span.of(text)) <= LIMIT_TOKENS for cut in cuts)
    assert all(a.sentences[-1] == b.sentences[0] for a, b in pairwise(cuts))


def test_the_rest_of_a_section_is_taken_in_rather_than_left_as_a_crumb() -> None:
    assert len(cut_page(page(SENTENCE * 10))) == 1  # about 180 tokens


def test_a_passage_prefers_to_end_with_a_paragraph() -> None:
    text = f"{SENTENCE * 8}\n\n{SENTENCE * 8}"

    assert cut_page(page(text))[0].span.end == text.index("\n\n") - 1


def test_a_passage_begins_at_every_heading_and_knows_the_headings_in_force() -> None:
    text = "# Book\n\nIntro.\n\n## Part\n\n### Deep\n\nOne.\n\n## Part\n\nTwo."

    cuts = cut_page(page(text, title="Book", path=("Vault",)))

    assert [(cut.heading_path, cut.span.of(text)) for cut in cuts] == [
        (("Vault", "Book"), "# Book\n\nIntro."),
        (("Vault", "Book", "Part", "Deep"), "## Part\n\n### Deep\n\nOne."),
        (("Vault", "Book", "Part"), "## Part\n\nTwo."),
    ]


def test_headings_with_nothing_below_them_are_text_of_the_section_above() -> None:
    text = "# Book\n\nIntro.\n\n## Meeting 7\n### Moderator: Ann\n### Notes: Ben\n\n----\n\n## Part\n\nOne."

    assert [(cut.heading_path, [span.of(text) for span in cut.sentences]) for cut in cut_page(page(text))] == [
        (("Book",), ["Book", "Intro."]),
        (("Book",), ["Meeting 7", "Moderator: Ann", "Notes: Ben"]),
        (("Book", "Part"), ["Part", "One."]),
    ]


def test_headings_with_nothing_below_them_are_not_of_the_section_before() -> None:
    text = "# Book\n\n## Part\n\nOne.\n\n## Meeting 7\n### Moderator: Ann\n\n----\n\n## Part\n\nTwo.\n\n## The end"

    assert [cut.heading_path for cut in cut_page(page(text))] == [
        ("Book", "Part"),
        ("Book",),
        ("Book", "Part"),
        ("Book", "The end"),  # a single one names itself
    ]


def test_a_page_named_by_another_heading_keeps_that_heading_in_its_path() -> None:
    assert cut_page(page("# Inside\n\nText.", title="Journal page"))[0].heading_path == ("Journal page", "Inside")


def test_a_page_without_title_has_only_the_headings_above_it() -> None:
    assert cut_page(page("Text.", path=("Chapter",)))[0].heading_path == ("Chapter",)


def test_code_keeps_its_lines_and_blank_pages_have_no_passage() -> None:
    result = chunked(page("```\nif x:\n    y()\n```"), page("  \n "))

    assert [passage.text for passage in result.passages] == ["```\nif x:\n    y()\n```"]
    assert len(result.pages) == 2


def test_what_can_not_be_stored_is_replaced_one_for_one() -> None:
    document = replace(parsed(page("a\x00b \ud800c")), title="T\ud800")

    assert chunk(document, "local", "d").pages[0].text == "a\ufffdb \ufffdc"


@pytest.mark.parametrize("changed", ["title", "text", "alias", "url", "heading"])
def test_the_revision_changes_with_all_that_is_stored(changed: str) -> None:
    base = parsed(page("# A\n\nText."))
    other = {
        "title": replace(base, title="Other"),
        "text": parsed(page("# A\n\nText!")),
        "alias": replace(base, aliases=("x",)),
        "url": replace(base, url="https://example.org"),
        "heading": parsed(replace(base.pages[0], headings=())),
    }[changed]

    assert chunk(other, "local", "d").revision != chunk(base, "local", "d").revision


def test_warnings_do_not_change_the_revision() -> None:
    base = parsed(page("Text."))

    assert chunk(replace(base, warnings=("w",)), "local", "d").revision == chunk(base, "local", "d").revision


def test_a_document_without_text_is_refused() -> None:
    with pytest.raises(ReadError, match="no text"):
        chunked(page(" \n\t"))


def test_a_heading_ends_those_of_its_level_and_below() -> None:
    text = "## A\n\nOne.\n\n### B\n\nTwo.\n\n## C\n\nThree."

    assert [cut.heading_path for cut in cut_page(page(text))] == [("A",), ("A", "B"), ("C",)]
