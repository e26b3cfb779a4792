from hypothesis import given, settings
from hypothesis import strategies as st

from bot.presentation.answer_text import ThreadItem
from bot.presentation.platform_text import ThreadPage
from bot.slackbot.rendering.blocks import SlackPost
from bot.slackbot.rendering.lists import notice_message, said_message, text_post, threads_message
from tests.unit.bot.any_answers import names
from tests.unit.bot.markdown_texts import GOOD, any_texts, bare
from tests.unit.bot.slackbot.shown import body_of, faults_of, faults_of_message, labels_of, links_of, names_of, text_of

POST = "d" * 32
rows = st.lists(
    st.builds(ThreadItem, title=names, detail=names, url=st.sampled_from([None, GOOD, GOOD + "x" * 600])), max_size=90
)


@settings(deadline=None)
@given(rows, names, st.integers(1, 4))
def test_whatever_is_listed_slack_takes_it_and_nothing_does_harm(
    found: list[ThreadItem], heading: str, page: int
) -> None:
    assert (
        faults_of_message(threads_message(ThreadPage(rows=found, list_id="mine", page=page, pages=4, heading=heading)))
        == []
    )


@settings(deadline=None)
@given(any_texts, names)
def test_notices_results_and_sayings_are_harmless_and_within_the_limits(text: str, name: str) -> None:
    assert faults_of(text_post(text)) == []
    assert faults_of(SlackPost(parts=(notice_message(text, post_id=POST),)), POST) == []
    assert faults_of_message(notice_message(text)) == []
    assert faults_of_message(said_message(name, text * 20)) == []


def test_a_page_of_threads_has_titles_details_and_ways_on() -> None:
    found = [ThreadItem(title="The *key*", detail="12 messages", url=GOOD), ThreadItem(title="")]
    part = threads_message(ThreadPage(rows=found, list_id="mine", page=2, pages=3, heading="Your threads", first=11))
    assert text_of(part).strip() == ("Your threads (page 2 of 3)\n11. The *key* (12 messages)\n12. (no title)")
    assert links_of(part) == [("The *key*", GOOD)]
    assert labels_of(part) == ["Previous page", "Next page"]
    assert names_of(part) == ["fn:page:mine:1", "fn:page:mine:3"]


def test_at_the_ends_of_a_list_there_is_no_way_on() -> None:
    ends = [
        threads_message(ThreadPage(rows=[], list_id="mine", page=page, pages=2, heading="Your threads"))
        for page in (1, 2)
    ]
    assert [names_of(part) for part in ends] == [["fn:page:mine:2"], ["fn:page:mine:1"]]


def test_an_empty_list_says_so_and_has_no_buttons() -> None:
    part = threads_message(ThreadPage(rows=[], list_id="mine", page=1, pages=1, heading="Your threads"))
    assert text_of(part) == part.text == "Your threads\nThere is nothing here yet."
    assert labels_of(part) == []


def test_rows_that_do_not_fit_are_counted() -> None:
    found = [ThreadItem(title="title " * 30, detail="detail " * 30)] * 90
    said = text_of(threads_message(ThreadPage(rows=found, list_id="mine", page=1, pages=1, heading="Your threads")))
    listed = said.count("title title") // said.splitlines()[1].count("title title")
    assert 30 < listed < 90
    assert said.endswith(f"… and {90 - listed} more")


def test_an_error_names_the_post_it_stands_for() -> None:
    part = notice_message("The index cannot be opened.", post_id=POST)
    assert body_of(part) == part.text == "The index cannot be opened."
    assert names_of(part) == [f"fn:how:{POST}"]


def test_a_refusal_is_only_a_sentence() -> None:
    assert names_of(notice_message("Not here.")) == []


def test_a_notice_longer_than_a_message_says_that_it_is_cut() -> None:
    part = notice_message("word " * 2_000)
    assert text_of(part).endswith("\nThere is more to this than a message holds.")
    assert part.text.endswith("There is more to this than a message holds.")


def test_a_long_result_is_posted_whole_and_says_which_part_is_which() -> None:
    text = "\n".join(f"- `/command{n}`: does the thing number {n}" for n in range(600))
    post = text_post(text)
    count = len(post.parts)
    assert count > 1
    assert bare("".join(map(body_of, post.parts))) == bare(text)
    assert [text_of(part).splitlines()[-1] for part in post.parts] == [
        f"Part {n} of {count}" for n in range(1, count + 1)
    ]


def test_who_asks_or_shares_is_named_before_the_question() -> None:
    part = said_message("Ada", "Where is <!channel> the *key*?")
    assert part.blocks[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "Ada", "style": {"bold": True}},
        {"type": "text", "text": " asks: Where is <!channel> the *key*?"},
    ]
    assert said_message("Ada", "Why?", does="shares").text == "Ada shares: Why?"
