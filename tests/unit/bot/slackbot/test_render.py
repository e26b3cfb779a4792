import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slackbot.rendering.answers import RenderOptions, render_answer
from bot.slackbot.rendering.blocks import SlackPost
from core.answering.answers.sentences import say
from core.answering.grounding import UNSUPPORTED_NOTE
from core.domain.answer import Answer, AnswerStatus, Reference, ReferenceType
from core.domain.passages import Span
from tests.builders import build_citation
from tests.slack_server.transcript import elements
from tests.unit.bot.any_answers import ANSWER, POST, answers, build_answer, link_to, unhurried
from tests.unit.bot.markdown_texts import GOOD, ZERO_WIDTH, bare, tame_texts
from tests.unit.bot.slackbot.shown import body_of, faults_of, labels_of, names_of, sources_of, text_of

OPTIONS = RenderOptions(post_id=POST, link=link_to)


def render(answer: Answer, *, is_private: bool = False) -> SlackPost:
    post = render_answer(answer, replace(OPTIONS, is_private=is_private))
    assert faults_of(post, POST) == []
    return post


@unhurried
@given(answers(), st.booleans())
def test_whatever_the_answer_slack_takes_it_and_nothing_in_it_does_harm(answer: Answer, is_private: bool) -> None:
    assert faults_of(render_answer(answer, replace(OPTIONS, is_private=is_private)), POST) == []


@unhurried
@given(answers())
def test_every_footnote_is_named_below_the_text_that_uses_it(answer: Answer) -> None:
    parts = render_answer(answer, OPTIONS).parts
    known = {citation.number for citation in answer.citations}
    for part in parts:
        linked = re.findall(r"\[\[(\d+)\]\]\(https://viewer", body_of(part))
        assert {int(number) for number in linked} <= set(part.numbers) <= known
        assert bool(part.numbers) == bool(sources_of(part))
    assert {number for part in parts for number in part.numbers} == known


@unhurried
@given(tame_texts, st.integers(0, 60))
def test_all_of_the_text_is_posted_in_order(text: str, notes: int) -> None:
    post = render_answer(build_answer(text, notes), replace(OPTIONS, link=lambda citation: None))
    shown = "".join(map(body_of, post.parts))
    assert bare(shown) == bare(text) or not bare(text)


def test_a_short_answer_is_one_message_with_its_source() -> None:
    (part,) = render(build_answer()).parts
    assert body_of(part) == f"Under the mat [[1]]({GOOD}?n=1)."
    assert sources_of(part) == f"[1] <{GOOD}?n=1|Guide › Keys>"
    assert labels_of(part) == ["Show sources", "👍", "👎"]
    assert names_of(part) == [f"fn:{verb}:{ANSWER}" for verb in ("passages", "up", "down", "more")]
    assert len(part.blocks) == 3
    assert part.blocks[-1]["block_id"] == f"fn:part:{POST}@{POST}.1"


def test_those_who_do_not_see_blocks_get_text_and_sources() -> None:
    (part,) = render(build_answer("**Under** the `mat` [1].")).parts
    assert part.text == "Under the mat [1].\n\n[1] Guide › Keys"


def test_of_a_long_text_the_sources_are_not_lost_to_those_who_do_not_see_blocks() -> None:
    (part,) = render(build_answer("Ein Satz über Schlüssel. " * 300 + "[1]")).parts
    assert part.text.endswith("…\n\n[1] Guide › Keys")


def test_a_private_answer_can_be_shared_and_another_not() -> None:
    assert more_of(render(build_answer(), is_private=True)) == ["Share with the channel", "How this was answered"]
    unclear = build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=("Red",))
    assert more_of(render(unclear, is_private=True)) == ["How this was answered"]
    assert more_of(render(build_answer())) == [
        "How this was answered", "Be quiet in this thread", "Propose as a kept answer",
    ]  # fmt: skip


def more_of(post: SlackPost) -> list[str]:
    (menu,) = (one for one in elements(post.parts[-1].blocks) if one["type"] == "overflow")
    return [option["text"]["text"] for option in menu["options"]]


def test_a_footnote_without_an_address_is_plain() -> None:
    (part,) = render(build_answer("Under the mat [7].", citations=(build_citation(number=7),))).parts
    assert body_of(part) == "Under the mat [7]."
    assert sources_of(part) == "[7] Guide › Keys"


def test_the_cited_documents_own_address_may_be_clicked() -> None:
    citation = build_citation(url="https://docs.example/guide")
    (part,) = render_answer(build_answer("See https://docs.example/guide [1].", citations=(citation,)), OPTIONS).parts
    assert "](https://docs.example/guide) [[1]]" in body_of(part)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel> and <@U1> in <#C1>", "\\<¦!channel> and \\<¦@U1> in \\<¦#C1>"),
        ("`<!here>` and `<!subteam^S1>`", "`<¦!here>` and `<¦!subteam^S1>`"),
        ("`<mailto:a@b.example|x>`", "`<¦mailto:a@b.example|x>`"),
        ("&lt;!channel&gt; &amp;lt;", "&¦lt;!channel&¦gt; &¦amp;lt;"),
        ("`&lt;!channel&gt;`", "`&¦lt;!channel&¦gt;`"),
        ("| a |\n|---|\n| <!channel> @here |", "| a |\n|---|\n| \\<¦!channel> @¦here |"),
        ("see guide.md or ada@mail.example", "see guide.¦md or ada@mail.¦example"),
        ("R&D, 3.14, e.g. `guide.md`", "R&D, 3.14, e.g. `guide.md`"),
        ("```\n<@U1> &lt; https://evil.example\n```", "```\n<¦@U1> &¦lt; https:¦//evil.example\n```"),
    ],
)
def test_what_slack_would_take_for_pings_or_links_is_broken(text: str, shown: str) -> None:
    (part,) = render(build_answer(text, 0)).parts
    assert body_of(part).replace(ZERO_WIDTH, "¦") == shown


def test_a_long_answer_says_which_part_is_which_and_each_carries_its_notes() -> None:
    text = "\n\n".join(f"Fact {n}: {'more words ' * 100}[{n}]." for n in range(1, 31))
    post = render(build_answer(text, 30))
    count = len(post.parts)
    assert count > 3
    for number, part in enumerate(post.parts, start=1):
        assert sources_of(part)
        assert f"\nPart {number} of {count}" in text_of(part)
        assert f"Part {number} of {count}" in part.text
        assert part.blocks[-1]["block_id"] == f"fn:part:{POST}@{POST}.{number}"
    assert labels_of(post.parts[0]) == []
    assert "Show sources" in labels_of(post.parts[-1])


def test_sixty_footnotes_of_as_many_documents_are_counted_and_of_one_are_a_range() -> None:
    text = "All of it" + "".join(f"[{n}]" for n in range(1, 61)) + "."
    many = tuple(build_citation(f"d{n}", number=n, document_title=f"Guide {n}") for n in range(1, 61))
    (part,) = render(build_answer(text, citations=many)).parts
    assert sources_of(part).endswith(f"[5] <{GOOD}?n=5|Guide 5 › Keys> · and 55 more")
    (part,) = render(build_answer(text, 60)).parts
    assert sources_of(part) == f"[1]–[60] <{GOOD}?n=1|Guide › Keys>"


def test_what_has_to_be_said_of_the_text_is_said() -> None:
    (part,) = render(
        build_answer("Words.", 0, status=AnswerStatus.STOPPED, partial=True, unsupported=(Span(0, 5),))
    ).parts
    assert body_of(part).startswith("**Stopped**\n\nWords.\n\n")
    assert bare(say("partial")) in bare(body_of(part))
    assert bare(UNSUPPORTED_NOTE) in bare(body_of(part))


def test_what_is_missing_stands_below_and_what_else_was_seen_in_the_menu() -> None:
    seen = (Reference(type=ReferenceType.SEARCH, label="The *other*", document="other.md"),)
    post = render(build_answer(references=seen, data_gaps=("the price",)))
    assert "Asked and not found: the price" in body_of(post.parts[0])
    assert "other" not in text_of(post.parts[0])
    assert more_of(post)[1] == "Also looked at"


def test_choices_are_a_menu_whose_values_are_their_places() -> None:
    (part,) = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=("Red", "Green"))).parts
    (menu,) = part.blocks[1]["elements"]
    assert [(one["text"]["text"], one["value"]) for one in menu["options"]] == [("Red", "0"), ("Green", "1")]
    assert menu["action_id"] == f"fn:choose:{ANSWER}:0"
    assert body_of(part) == "**Please choose**\n\nWhich?"


def test_more_choices_than_menus_hold_are_all_listed() -> None:
    choices = tuple(f"Document {n} of the long list of all documents in the library" for n in range(1, 451))
    post = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=choices))
    said = "\n".join(map(body_of, post.parts))
    assert all(f"\n{n}. Document {n} of" in said for n in range(1, 451))
    assert [name.split(":")[3] for part in post.parts for name in names_of(part) if ":choose:" in name] == list("0123")
    assert "The menus hold the first 400" in said


def test_a_choice_longer_than_a_menu_shows_is_listed_whole() -> None:
    long = "A document with a long name " * 6
    (part,) = render(build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=(long, "Short"))).parts
    assert f"1. {long.strip()}\n2. Short" in body_of(part)


def test_suggestions_are_in_the_menu_and_those_that_do_not_fit_are_not_offered() -> None:
    long = "What does the guide say about " + "the spare key " * 6 + "?"
    post = render(build_answer(suggestions=("And the door?", long)))
    assert more_of(post)[:2] == ["How this was answered", "Ask: And the door?"]
    assert long[:40] not in text_of(post.parts[0])


def test_an_error_that_was_not_stored_can_only_be_looked_into() -> None:
    (part,) = render(build_answer("It broke.", 0, status=AnswerStatus.ERROR, message_id="")).parts
    assert names_of(part) == [f"fn:how:{POST}"]


def test_a_hundred_kilobytes_are_posted_whole() -> None:
    text = "Ein Satz über Schlüssel [1]. " * 3_500
    shown = re.sub(r"\(https://\S*?\)", "", "".join(map(body_of, render(build_answer(text)).parts)))
    assert bare(shown) == bare(text)


def test_a_table_that_is_cut_has_its_head_in_every_part() -> None:
    rows = "\n".join(f"| {n} | {'cell ' * 20}|" for n in range(200))
    post = render(build_answer(f"| No | What |\n|---|---|\n{rows}", 0))
    assert len(post.parts) > 1
    assert all(body_of(part).startswith("| No | What |\n|---|---|\n| ") for part in post.parts)
    assert "".join(map(body_of, post.parts)).count("cell |") == 200
