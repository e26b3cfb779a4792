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
    source_entry,
    source_heading,
    to_post,
)
from bot.discordbot.rendering.components import Container, DiscordPost, PartView, Text
from core.answering.answers.building import PARTIAL_NOTE
from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.passages import Span
from tests.builders import build_citation
from tests.unit.bot.any_answers import ANSWER, POST, answers, build_answer, link_to, unhurried
from tests.unit.bot.discordbot.shown import custom_ids_of, faults_of, labels_of, listed_in, text_of
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
def test_numbers_in_every_part_are_listed_there_or_right_behind_it(answer: Answer) -> None:
    parts = render_answer(answer, OPTIONS).parts
    known = {citation.number for citation in answer.citations}
    for place, part in enumerate(parts):
        behind = [part]
        for other in parts[place + 1 :]:
            if isinstance(other.blocks[0], Text):
                break
            behind.append(other)
        assert set(part.numbers) <= {number for other in behind for number in other.listed} <= known
    assert {number for part in parts for number in part.listed} == known


@unhurried
@given(answers())
def test_what_a_part_says_it_lists_is_what_it_lists(answer: Answer) -> None:
    for part in render_answer(answer, OPTIONS).parts:
        boxes = [block for block in part.blocks if isinstance(block, Container)]
        shown = [text.content for box in boxes for text in box.items if isinstance(text, Text)]
        assert listed_in("\n".join(shown)) == list(part.listed)
        linked = re.findall(r"\[\[(\d+)\]\]\(https://viewer", part.texts[0]) if part.numbers else []
        assert {int(number) for number in linked} <= set(part.numbers)


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
    assert text_of(part).endswith(f"**Sources**\n**\\[1\\]** [Page 1 of “Guide”]({GOOD}?n=1) > Keys\n> “under the mat”")
    assert labels_of(part) == ["Show passages", "Helpful", "Not helpful", "Show steps"]
    assert custom_ids_of(part) == (
        f"fn:passages:{ANSWER}@{POST}.1",
        f"fn:up:{ANSWER}",
        f"fn:down:{ANSWER}",
        f"fn:how:{ANSWER}",
    )


def test_a_footnote_without_an_address_is_plain() -> None:
    citation = build_citation(number=7)
    (part,) = render(build_answer("Under the mat [7].", citations=(citation,))).parts
    assert body(part) == "Under the mat [7]."
    assert "**\\[7\\]** Page 1 of “Guide” > Keys" in text_of(part)


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
        assert set(part.numbers) == set(part.listed)
        assert labels_of(part)[-1] == f"Part {number} of {count}"
    assert labels_of(post.parts[0]) == [f"Part 1 of {count}"]
    assert "Show passages" in labels_of(post.parts[-1])


def test_sixty_footnotes_of_one_sentence_go_on_in_further_parts() -> None:
    citations = tuple(build_citation(number=n, quote=f"quote {n} " + "word " * 80) for n in range(1, 61))
    text = "All of it" + "".join(f"[{n}]" for n in range(1, 61)) + "."
    post = render(build_answer(text, citations=citations))
    assert [number for part in post.parts for number in part.listed] == list(range(1, 61))
    assert sum("**Sources**" in text_of(part) for part in post.parts) == 1
    assert all(f"“quote {n} " in "".join(map(text_of, post.parts)) for n in range(1, 61))


def test_a_note_that_was_quoted_before_is_listed_without_its_quote() -> None:
    text = "\n\n".join(["First [1]. " + "word " * 500, "Second [1]. " + "word " * 500])
    first, second = render(build_answer(text)).parts
    assert "“under the mat”" in text_of(first)
    assert f"**\\[1\\]** [Page 1 of “Guide”]({GOOD}?n=1) (quoted above)" in text_of(second)


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
    (told,) = render(build_answer(f"Words [1].\n\n{PARTIAL_NOTE}", partial=True)).parts
    assert text_of(untold).count("Incomplete: I") == text_of(told).count("Incomplete: I") == 1


def test_the_mark_of_an_unsupported_claim_is_explained() -> None:
    (part,) = render(build_answer("Words [1]. More words [?]", unsupported=(Span(11, 21),))).parts
    assert "More words [?]" in text_of(part)
    assert "[?] = not backed by a passage of the documents." in text_of(part)


def test_ten_documents_are_named_and_the_others_counted() -> None:
    references = tuple(Reference(type=ReferenceType.SEARCH, label=f"Doc {n}", document=f"{n}.md") for n in range(1, 13))
    cited = Reference(type=ReferenceType.SEARCH, label="Guide", document="guide.md")
    (part,) = render(build_answer(references=(cited, *references))).parts
    assert "-# Also looked at: Doc 1, Doc 2," in text_of(part)
    assert "Doc 10 and 2 more" in text_of(part)


def test_what_was_asked_and_not_found_is_said() -> None:
    (part,) = render(build_answer(data_gaps=("the price", "the *date*"))).parts
    assert "-# Asked and not found: the price; the \\*date\\*" in text_of(part)


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


def test_suggestions_are_buttons_and_those_cut_short_are_written_out() -> None:
    long = "What does the guide say about " + "the spare key " * 6 + "?"
    (part,) = render(build_answer(suggestions=("And the door?", long))).parts
    assert labels_of(part)[0] == "And the door?"
    assert labels_of(part)[1].endswith("…")
    assert f"-# You could also ask: {long}" in text_of(part)
    assert custom_ids_of(part)[:2] == (f"fn:ask:{ANSWER}:0@{POST}.1", f"fn:ask:{ANSWER}:1")


def test_an_error_that_was_not_stored_can_only_be_looked_into() -> None:
    (part,) = render(build_answer("It broke.", 0, status=AnswerStatus.ERROR, message_id="")).parts
    assert custom_ids_of(part) == (f"fn:how:{POST}@{POST}.1",)


def test_a_hundred_kilobytes_are_posted_whole() -> None:
    text = "Ein Satz über Schlüssel [1]. " * 3_500
    post = render(build_answer(text))
    shown = re.sub(r"\(https://\S*?\)", "", "".join(body(part) for part in post.parts))
    assert bare(shown) == bare(text)


def test_an_entry_has_number_page_title_path_and_quote() -> None:
    citation = build_citation(number=12, page_number=5, heading_path=("Doors", "Keys"), quote="under\n  the mat")
    assert source_entry(citation, GOOD, is_repeated=False) == (
        f"**\\[12\\]** [Page 5 of “Guide”]({GOOD}) > Doors \\> Keys\n> “under the mat”\n"
    )


def test_a_title_that_begins_the_path_is_not_said_twice() -> None:
    assert source_heading(build_citation(heading_path=("Guide", "Keys")), None) == "Page 1 of “Guide” > Keys"
    assert source_heading(build_citation(heading_path=()), None) == "Page 1 of “Guide”"


def test_titles_are_text_even_where_they_look_like_markdown() -> None:
    citation = build_citation(document_title="[a](https://evil.example) **b**", heading_path=("`x` @everyone",))
    entry = source_entry(citation, None, is_repeated=False).replace("\u200b", "¦")
    assert "“\\[a\\]\\(https:¦//evil.example\\) \\*\\*b\\*\\*”" in entry
    assert "\\`x\\` @¦everyone" in entry


def test_long_quotes_and_paths_are_cut_with_an_ellipsis() -> None:
    citation = build_citation(heading_path=("Chapter " * 60,), quote="word " * 200)
    heading, quote = source_entry(citation, None, is_repeated=False).splitlines()
    assert heading.endswith("…")
    assert quote.endswith("…”")
    assert len(heading) < 300 > len(quote)


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
