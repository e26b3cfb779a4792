from hypothesis import given, settings
from hypothesis import strategies as st

from bot.presentation.answer_text import QuoteContext
from bot.slackbot.rendering.answers import passages_view
from bot.slackbot.rendering.blocks import View
from core.domain.answer import Answer, AnswerStatus, Citation
from tests.builders import build_citation
from tests.unit.bot.markdown_texts import GOOD, any_texts
from tests.unit.bot.slackbot.shown import faults_of_view, labels_of, links_of, names_of, text_of

ANSWER = "a" * 32


def answer_with(*citations: Citation) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text="", citations=citations, message_id=ANSWER)


def pieces(view: View) -> list[tuple[str, bool, bool]]:
    """(words, whether in a quote, whether bold) of all rich text."""
    return [
        (piece["text"], part["type"] == "rich_text_quote", bool(piece.get("style", {}).get("bold")))
        for block in view["blocks"]
        for part in block["elements"]
        for piece in part.get("elements", [])
        if piece["text"] != "\n"
    ]


@settings(deadline=None)
@given(any_texts, any_texts, any_texts, st.integers(1, 60), st.integers(0, 5))
def test_whatever_stands_there_slack_takes_it_and_nothing_does_harm(
    quote: str, before: str, behind: str, count: int, page: int
) -> None:
    citations = [build_citation(number=n, quote=quote, document_title=before[:50]) for n in range(1, count + 1)]
    around = {n: QuoteContext(before=before, behind=behind, note=behind) for n in range(1, count + 1)}
    assert faults_of_view(passages_view(answer_with(*citations), around, dict.fromkeys(around, GOOD), page=page)) == []


def test_a_quote_is_bold_within_what_stands_around_it() -> None:
    citation = build_citation(quote="The key is\nunder the *mat*.", deep_link="obsidian://open?file=guide")
    around = {1: QuoteContext(before="… Before it.", behind="Behind it.", note="Changed since this answer.")}
    view = passages_view(answer_with(citation), around, {1: GOOD})
    assert pieces(view) == [
        ("[1] ", False, True),
        ("Page 1 of “Guide”", False, False),
        (" > Keys", False, False),
        ("Opens as: obsidian://open?file=guide", False, False),
        ("Changed since this answer.", False, False),
        ("… Before it.", True, False),
        ("The key is", True, True),
        ("under the *mat*.", True, True),
        ("Behind it.", True, False),
    ]
    assert links_of(view) == [("Page 1 of “Guide”", GOOD)]
    assert view["title"]["text"] == "Sources"
    assert names_of(view) == []


def test_long_quotes_are_shown_whole_over_several_pages() -> None:
    words = [f"word{n}" for n in range(4_000)]
    answer = answer_with(build_citation(quote=" ".join(words)))
    views = [passages_view(answer, {}, {}, page=page) for page in (1, 2, 3)]
    bold = [text for view in views for text, is_quoted, is_bold in pieces(view) if is_quoted and is_bold]
    assert " ".join(bold).split() == words
    assert "[1] continued" in text_of(views[1])
    assert "[1] continued" not in text_of(views[0])


def test_many_passages_are_on_pages_with_ways_between() -> None:
    answer = answer_with(*(build_citation(number=n, quote=f"quote {n} " * 60) for n in range(1, 61)))
    first, second, third = (passages_view(answer, {}, {}, page=page) for page in (1, 2, 9))
    for view in (first, second, third):
        assert faults_of_view(view) == []
    assert labels_of(first) == ["Next page"]
    assert names_of(second) == [f"fn:passages:{ANSWER}:1", f"fn:passages:{ANSWER}:3"]
    assert "Page 3 of 3" in text_of(third)
    said = "".join(map(text_of, (first, second, third)))
    assert all(f"quote {n} " in said for n in range(1, 61))


def test_an_answer_without_footnotes_has_no_passages() -> None:
    assert text_of(passages_view(answer_with(), {}, {})) == "This answer has no passages to show."
