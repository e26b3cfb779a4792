from hypothesis import given, settings
from hypothesis import strategies as st

from bot.presentation.answer_text import ThreadItem
from bot.slackbot.rendering.lists import Home, home_view
from core.work.commands import SourceRow
from tests.unit.bot.any_answers import names
from tests.unit.bot.markdown_texts import GOOD
from tests.unit.bot.slackbot.shown import faults_of_view, labels_of, links_of, names_of, text_of

_few = st.lists(names, max_size=40)
homes = st.builds(
    Home,
    threads=st.lists(st.builds(ThreadItem, title=names, detail=names, url=st.sampled_from([None, GOOD])), max_size=40),
    more_threads=st.integers(0, 9),
    sources=st.lists(
        st.builds(SourceRow, name=names, documents=st.integers(0, 9), failures=st.just((("a", "b"),))), max_size=40
    ),
    positions=_few,
    examples=_few,
    notice=names,
)


@settings(deadline=None)
@given(homes)
def test_whatever_there_is_slack_takes_it_and_nothing_does_harm(shown: Home) -> None:
    assert faults_of_view(home_view(shown)) == []


def test_a_home_has_threads_sources_and_how_things_are_set() -> None:
    view = home_view(
        Home(
            threads=(ThreadItem(title="The key", detail="2 messages", url=GOOD),),
            more_threads=3,
            sources=(
                SourceRow(name="handbook", documents=1),
                SourceRow(name="books", documents=1_200, failures=(("a.pdf", ""), ("b.pdf", ""))),
            ),
            positions=("Guide: up to page 12",),
            examples=("Where is the key?",),
            notice="Nothing has been read in yet.",
        )
    )
    said = text_of(view)
    assert said.startswith("Nothing has been read in yet.\nAsk your documents\n")
    for heading, shown in {
        "Questions to try": "Where is the key?",
        "Pick up where you left off": "The key (2 messages)… and 3 more",
        "What I can read for you": "handbook: 1 documentbooks: 1,200 documents, 2 could not be read",
        "Reading positions": "Guide: up to page 12",
    }.items():
        assert f"\n{heading}\n{shown}" in said
    assert links_of(view) == [("The key", GOOD)]


def test_its_buttons_open_forms() -> None:
    view = home_view(Home())
    assert labels_of(view) == ["Ask", "Add documents", "Position", "Settings", "Help"]
    forms = ["fn:form:add_documents", "fn:form:position", "fn:form:settings"]
    assert names_of(view) == ["fn:form:ask", "fn:form:ask", *forms, "fn:help:home"]


def test_what_there_is_nothing_of_has_no_heading() -> None:
    assert [block["type"] for block in home_view(Home())["blocks"]] == ["header", "input", "actions", "context"]


def test_a_question_asked_there_leaves_the_field_empty() -> None:
    ids = [home_view(Home(asked=asked))["blocks"][1]["block_id"] for asked in ("", "1790000000")]
    assert len(set(ids)) == 2


def test_rows_beyond_what_is_shown_are_counted_with_those_that_were_not_given() -> None:
    said = text_of(home_view(Home(threads=[ThreadItem(title=f"thread {n}") for n in range(20)], more_threads=10)))
    assert "thread 2… and 27 more" in said
