from hypothesis import given, settings
from hypothesis import strategies as st

from bot.discordbot.layout import DiscordPost
from bot.discordbot.render_lists import ThreadItem, notice_view, text_view, threads_view
from tests.unit.bot.discordbot.shown import components_of, faults_of, labels_of, text_of
from tests.unit.bot.markdown_texts import GOOD, HOSTILE, SCRIPTS, any_texts, bare

POST = "d" * 32
words = st.one_of(st.sampled_from(HOSTILE + SCRIPTS), st.text(max_size=60))
rows = st.lists(
    st.builds(ThreadItem, title=words, detail=words, url=st.sampled_from([None, GOOD, GOOD + "x" * 600])), max_size=30
)


@settings(deadline=None)
@given(rows, words, st.integers(1, 4))
def test_whatever_is_listed_discord_takes_it_and_nothing_does_harm(
    found: list[ThreadItem], heading: str, page: int
) -> None:
    view = threads_view(found, list_id="mine", page=page, pages=4, heading=heading)
    assert faults_of(DiscordPost(parts=(view,))) == []


@settings(deadline=None)
@given(any_texts)
def test_notices_and_results_are_harmless_and_within_the_limits(text: str) -> None:
    assert faults_of(text_view(text)) == []
    assert faults_of(DiscordPost(parts=(notice_view(text, post_id=POST),)), POST) == []


def test_a_page_of_threads_has_titles_details_and_ways_on() -> None:
    found = [ThreadItem(title="The *key*", detail="12 messages", url=GOOD), ThreadItem(title="")]
    part = threads_view(found, list_id="mine", page=2, pages=3, heading="Your threads", first=11)
    assert text_of(part) == (
        f"**Your threads** (page 2 of 3)\n11. [The \\*key\\*]({GOOD}) (12 messages)\n12. \\(no title\\)"
    )
    assert labels_of(part) == ["Previous page", "Next page"]
    assert part.custom_ids == ("fn:page:mine:1", "fn:page:mine:3")


def test_at_the_ends_of_a_list_there_is_no_way_on() -> None:
    ends = [threads_view([], list_id="mine", page=page, pages=2, heading="Your threads") for page in (1, 2)]
    buttons = [components_of(part)[1]["components"] for part in ends]
    assert [[bool(item.get("disabled")) for item in row] for row in buttons] == [[True, False], [False, True]]


def test_an_empty_list_says_so_and_has_no_buttons() -> None:
    part = threads_view([], list_id="mine", page=1, pages=1, heading="Your threads")
    assert text_of(part) == "**Your threads**\nThere is nothing here yet."
    assert labels_of(part) == []


def test_rows_that_do_not_fit_are_counted() -> None:
    found = [ThreadItem(title="title " * 30, detail="detail " * 30)] * 30
    said = text_of(threads_view(found, list_id="mine", page=1, pages=1, heading="Your threads"))
    listed = said.count("\n") - 1
    assert said.endswith(f"… and {30 - listed} more")


def test_an_error_names_the_post_it_stands_for() -> None:
    part = notice_view("The index cannot be opened.", post_id=POST)
    assert text_of(part) == "The index cannot be opened."
    assert part.custom_ids == (f"fn:how:{POST}@{POST}.1",)


def test_a_refusal_is_only_a_sentence() -> None:
    assert notice_view("Not here.").custom_ids == ()


def test_a_notice_longer_than_a_message_says_that_it_is_cut() -> None:
    assert text_of(notice_view("word " * 2_000)).endswith("\n-# There is more to this than a message holds.")


def test_a_long_result_is_posted_whole() -> None:
    text = "\n".join(f"- `/command{n}`: does the thing number {n}" for n in range(300))
    post = text_view(text)
    assert len(post.parts) > 1
    assert bare("".join(map(text_of, post.parts))) == bare(text)
