import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.discordbot.rendering.answers import (
    QuoteContext,
    RenderOptions,
    pack_lines,
    passages_post,
    render_answer,
    source_heading,
    to_post,
)
from bot.discordbot.rendering.components import DiscordPost, PartView, Text, more_row
from core.answering.answers.sentences import say
from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.passages import Span
from tests.builders import build_citation
from tests.unit.bot.any_answers import ANSWER, POST, answers, build_answer, link_to, unhurried
from tests.unit.bot.discordbot.shown import custom_ids_of, faults_of, labels_of, text_of
from tests.unit.bot.markdown_texts import GOOD, any_texts, bare, tame_texts

OPTIONS = RenderOptions(post_id=POST, link=link_to)


def render(answer: Answer) -> DiscordPost:
    post = render_answer(answer, OPTIONS)
    assert faults_of(post, POST) == []
    return post


@unhurried
@given(answers())
def test_whatever_the_answer_discord_takes_it_and_nothing_in_it_does_harm(answer: Answer) -> None:
    assert faults_of(render_answer(answer, OPTIONS), POST) == []


@unhurried
@given(answers())
def test_every_footnote_is_named_below_the_text_that_uses_it(answer: Answer) -> None:
    parts = render_answer(answer, OPTIONS).parts
    known = {citation.number for citation in answer.citations}
    for part in parts:
        linked = re.findall(r"\[\[(\d+)\]\]\(https://viewer", part.texts[0])
        assert {int(number) for number in linked} <= set(part.numbers) <= known
        assert bool(part.numbers) == (len(part.texts) > 1)
    assert {number for part in parts for number in part.numbers} == known


@unhurried
@given(tame_texts, st.integers(0, 60))
def test_all_of_the_text_is_posted_in_order(text: str, notes: int) -> None:
    answer = build_answer(text, notes)
    post = render_answer(answer, replace(OPTIONS, link=lambda citation: None))
    shown = "".join(body(part) for part in post.parts)
    assert bare(shown) == bare(text) or not bare(text)


def body(part: PartView) -> str:
    return part.blocks[0].content if isinstance(part.blocks[0], Text) else ""


def test_a_short_answer_is_one_message_with_its_source() -> None:
    (part,) = render(build_answer()).parts
    assert body(part) == f"Under the mat [[1]]({GOOD}?n=1)."
    assert part.texts[1] == f"-# \\[1\\] [Guide › Keys]({GOOD}?n=1)"
    assert labels_of(part) == ["Show sources", "👍", "👎", "⋯"]
    assert custom_ids_of(part) == (
        f"fn:passages:{ANSWER}@{POST}.1",
        f"fn:up:{ANSWER}",
        f"fn:down:{ANSWER}",
        f"fn:more:{ANSWER}",
    )


def test_a_footnote_without_an_address_is_plain() -> None:
    citation = build_citation(number=7)
    (part,) = render(build_answer("Under the mat [7].", citations=(citation,))).parts
    assert body(part) == "Under the mat [7]."
    assert part.texts[1] == "-# \\[7\\] Guide › Keys"


def test_the_cited_documents_own_address_may_be_clicked() -> None:
    citation = build_citation(url="https://docs.example/guide")
    post = render_answer(build_answer("See https://docs.example/guide [1].", citations=(citation,)), OPTIONS)
    assert "See [https://docs.example/guide]" not in body(post.parts[0])
    assert "](https://docs.example/guide) [[1]]" in body(post.parts[0])


def test_a_long_answer_says_which_part_is_which_and_each_carries_its_notes() -> None:
    text = "\n\n".join(f"Fact {n}: {'more words ' * 40}[{n}]." for n in range(1, 31))
    post = render(build_answer(text, 30))
    count = len(post.parts)
    assert count > 3
    for number, part in enumerate(post.parts, start=1):
        assert len(part.texts) == 2
        assert labels_of(part)[-1] == f"Part {number} of {count}"
    assert labels_of(post.parts[0]) == [f"Part 1 of {count}"]
    assert "Show sources" in labels_of(post.parts[-1])


def test_sixty_footnotes_of_as_many_documents_are_counted_and_of_one_are_a_range() -> None:
    text = "All of it" + "".join(f"[{n}]" for n in range(1, 61)) + "."
    many = tuple(build_citation(f"d{n}", number=n, document_title=f"Guide {n}") for n in range(1, 61))
    post = render(build_answer(text, citations=many))
    assert post.parts[0].texts[1].endswith("more")
    (part,) = render(build_answer("All of it [1].", 60)).parts
    assert part.texts[1] == f"-# \\[1\\]–\\[60\\] [Guide › Keys]({GOOD}?n=1)"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (AnswerStatus.NOT_FOUND, "**Not found in the documents**\n\nThe words."),
        (AnswerStatus.CLARIFY, "**Please choose**\n\nThe words."),
        (AnswerStatus.REFUSED, "**Not answered**\n\nThe words."),
        (AnswerStatus.STOPPED, "**Stopped**\n\nThe words."),
        (AnswerStatus.ERROR, "**This did not work**\n\nThe words."),
        (AnswerStatus.ANSWERED, "The words."),
    ],
)
def test_the_status_is_said_in_words(status: AnswerStatus, said: str) -> None:
    (part,) = render(build_answer("The words.", 0, status=status)).parts
    assert body(part) == said


def test_a_status_is_not_said_twice() -> None:
    (part,) = render(build_answer("Stopped.", 0, status=AnswerStatus.STOPPED)).parts
    assert body(part) == "Stopped."


def test_an_answer_without_words_says_so() -> None:
    (part,) = render(build_answer("", 0)).parts
    assert body(part) == "This answer has no text."


def test_a_partial_answer_says_so_once() -> None:
    (untold,) = render(build_answer(partial=True)).parts
    (told,) = render(build_answer(f"Words [1].\n\n{say('partial')}", partial=True)).parts
    assert text_of(untold).count("Incomplete: I") == text_of(told).count("Incomplete: I") == 1


def test_the_mark_of_an_unsupported_claim_is_explained() -> None:
    (part,) = render(build_answer("Words [1]. More words [?]", unsupported=(Span(11, 21),))).parts
    assert "More words [?]" in text_of(part)
    assert "[?] = not backed by a passage of the documents." in text_of(part)


def test_documents_that_were_only_looked_at_are_in_the_menu() -> None:
    answer = build_answer(references=(Reference(type=ReferenceType.SEARCH, label="Doc", document="doc.md"),))
    (part,) = render(answer).parts
    assert "Doc" not in text_of(part)
    (menu,) = more_row(answer, is_private=False).items
    assert [label for label, _ in menu.options] == [  # type: ignore[union-attr]  # a menu
        "How this was answered", "Also looked at", "Be quiet in this thread", "Propose as a kept answer",
    ]  # fmt: skip


def test_what_was_asked_and_not_found_is_said() -> None:
    (part,) = render(build_answer(data_gaps=("the price", "the *date*"))).parts
    assert "Asked and not found: the price; the \\*date\\*" in text_of(part)


def test_choices_are_a_menu_whose_values_are_their_places() -> None:
    (part,) = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=("Red", "Green"))).parts
    (row, _) = part.blocks[1:]
    assert [*row.items[0].options] == [("Red", "0"), ("Green", "1")]  # type: ignore[union-attr]  # a menu
    assert custom_ids_of(part)[0] == f"fn:choose:{ANSWER}:0@{POST}.1"


def test_more_choices_than_menus_hold_are_all_listed() -> None:
    choices = tuple(f"Document {n}" for n in range(1, 121))
    post = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=choices))
    said = "\n".join(map(text_of, post.parts))
    assert all(f"\n{n}. Document {n}\n" in said for n in range(1, 121))
    assert [name.split(":")[3][0] for name in custom_ids_of(post.parts[-1]) if ":choose:" in name] == [
        "0",
        "1",
        "2",
        "3",
    ]
    assert "The menus hold the first 100" in said


def test_a_choice_longer_than_a_menu_shows_is_listed_whole() -> None:
    long = "A document with a long name " * 6
    (part,) = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=(long, "Short"))).parts
    assert f"1. {long.strip()}\n2. Short" in text_of(part)


def test_suggestions_are_in_the_menu_and_those_that_do_not_fit_are_not_offered() -> None:
    answer = build_answer(suggestions=("And the door?", "What does the guide say about " + "the spare key " * 6 + "?"))
    (menu,) = more_row(answer, is_private=False).items
    asked = [option for option in menu.options if option[0].startswith("Ask: ")]  # type: ignore[union-attr]  # a menu
    assert asked == [("Ask: And the door?", "ask0")]


def test_an_error_that_was_not_stored_can_only_be_looked_into() -> None:
    (part,) = render(build_answer("It broke.", 0, status=AnswerStatus.ERROR, message_id="")).parts
    assert custom_ids_of(part) == (f"fn:how:{POST}@{POST}.1",)


def test_a_hundred_kilobytes_are_posted_whole() -> None:
    text = "Ein Satz über Schlüssel [1]. " * 3_500
    post = render(build_answer(text))
    shown = re.sub(r"\(https://\S*?\)", "", "".join(body(part) for part in post.parts))
    assert bare(shown) == bare(text)


def test_a_title_that_begins_the_path_is_not_said_twice() -> None:
    assert source_heading(build_citation(heading_path=("Guide", "Keys")), None) == "Page 1 of “Guide” > Keys"
    assert source_heading(build_citation(heading_path=()), None) == "Page 1 of “Guide”"


def test_titles_are_text_even_where_they_look_like_markdown() -> None:
    citation = build_citation(document_title="[a](https://evil.example) **b**", heading_path=("`x` @everyone",))
    heading = source_heading(citation, None).replace("\u200b", "¦")
    assert "“\\[a\\]\\(https:¦//evil.example\\) \\*\\*b\\*\\*”" in heading
    assert "\\`x\\` @¦everyone" in heading


def test_long_paths_are_cut_with_an_ellipsis() -> None:
    heading = source_heading(build_citation(heading_path=("Chapter " * 60,)), None)
    assert heading.endswith("…")
    assert len(heading) < 300


@pytest.mark.parametrize(
    ("sizes", "first", "expected"),
    [
        ([3, 3], 8, [[3, 3]]),
        ([3, 3], 7, [[3], [3]]),
        ([9, 1], 5, [[], [9], [1]]),  # 9 and a line end are all of the ten of a page
        ([], 5, [[]]),
    ],
)
def test_entries_are_filled_into_pages_in_order(sizes: list[int], first: int, expected: list[list[int]]) -> None:
    assert [[len(entry) for entry in page] for page in pack_lines(["x" * n for n in sizes], first, 10)] == expected


def test_lines_become_messages_and_empty_ones_are_left_out() -> None:
    assert [part.texts for part in to_post(["", "a", "b"]).parts] == [("a\nb",)]
    assert to_post([""]).parts == ()


def answer_with(*citations: Citation) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text="", citations=citations)


@settings(deadline=None)
@given(any_texts, any_texts, any_texts, st.integers(1, 20))
def test_whatever_stands_there_discord_takes_it_and_nothing_does_harm(
    quote: str, before: str, behind: str, count: int
) -> None:
    citations = [build_citation(number=n, quote=quote, document_title=before[:50]) for n in range(1, count + 1)]
    around = {n: QuoteContext(before=before, behind=behind, note=behind) for n in range(1, count + 1)}
    assert faults_of(passages_post(answer_with(*citations), around, dict.fromkeys(around, GOOD))) == []


def test_a_quote_is_bold_within_what_stands_around_it() -> None:
    citation = build_citation(quote="The key is\nunder the *mat*.", deep_link="obsidian://open?file=guide")
    around = {1: QuoteContext(before="… Before it.", behind="Behind it.", note="Changed since this answer.")}
    (part,) = passages_post(answer_with(citation), around, {1: GOOD}).parts
    assert text_of(part) == (
        f"**\\[1\\]** [Page 1 of “Guide”]({GOOD}) > Keys\n"
        "-# Opens as: obsidian://open?file=guide\n"
        "-# Changed since this answer.\n"
        "> … Before it.\n> **The key is**\n> **under the \\*mat\\*.**\n> Behind it."
    )


def test_long_quotes_are_shown_whole_over_several_messages() -> None:
    quote = "A sentence about the key and its mat. " * 400
    post = passages_post(answer_with(build_citation(quote=quote)), {}, {})
    said = "".join(text_of(part).split("Keys\n")[-1] for part in post.parts)
    assert len(post.parts) > 3
    assert bare(said) == bare(quote)
    assert all(part.texts[0].count("**") % 2 == 0 for part in post.parts)


def test_an_answer_without_footnotes_has_no_passages() -> None:
    (part,) = passages_post(answer_with(), {}, {}).parts
    assert text_of(part) == "This answer has no passages to show."
