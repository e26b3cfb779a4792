from hypothesis import given, settings
from hypothesis import strategies as st

from bot.discordbot.render_passages import QuoteContext, passages_view
from core.domain.answer import Answer, AnswerStatus, Citation
from tests.builders import build_citation
from tests.unit.bot.discordbot.shown import faults_of, text_of
from tests.unit.bot.markdown_texts import GOOD, any_texts, bare


def answer_with(*citations: Citation) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text="", citations=citations)


@settings(deadline=None)
@given(any_texts, any_texts, any_texts, st.integers(1, 20))
def test_whatever_stands_there_discord_takes_it_and_nothing_does_harm(
    quote: str, before: str, behind: str, count: int
) -> None:
    citations = [build_citation(number=n, quote=quote, document_title=before[:50]) for n in range(1, count + 1)]
    around = {n: QuoteContext(before=before, behind=behind, note=behind) for n in range(1, count + 1)}
    assert faults_of(passages_view(answer_with(*citations), around, dict.fromkeys(around, GOOD))) == []


def test_a_quote_is_bold_within_what_stands_around_it() -> None:
    citation = build_citation(quote="The key is\nunder the *mat*.", deep_link="obsidian://open?file=guide")
    around = {1: QuoteContext(before="… Before it.", behind="Behind it.", note="Changed since this answer.")}
    (part,) = passages_view(answer_with(citation), around, {1: GOOD}).parts
    assert text_of(part) == (
        f"**\\[1\\]** [Page 1 of “Guide”]({GOOD}) > Keys\n"
        "-# Opens as: obsidian://open?file=guide\n"
        "-# Changed since this answer.\n"
        "> … Before it.\n> **The key is**\n> **under the \\*mat\\*.**\n> Behind it."
    )


def test_long_quotes_are_shown_whole_over_several_messages() -> None:
    quote = "A sentence about the key and its mat. " * 400
    post = passages_view(answer_with(build_citation(quote=quote)), {}, {})
    said = "".join(text_of(part).split("Keys\n")[-1] for part in post.parts)
    assert len(post.parts) > 3
    assert bare(said) == bare(quote)
    assert all(part.texts[0].count("**") % 2 == 0 for part in post.parts)


def test_only_the_wanted_footnotes_are_shown() -> None:
    answer = answer_with(*(build_citation(number=n, quote=f"quote {n}") for n in range(1, 4)))
    (part,) = passages_view(answer, {}, {}, numbers=[2]).parts
    assert "quote 2" in text_of(part)
    assert "quote 1" not in text_of(part)


def test_an_answer_without_footnotes_has_no_passages() -> None:
    (part,) = passages_view(answer_with(), {}, {}).parts
    assert text_of(part) == "This answer has no passages to show."
