import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.context import WITHDRAWN, FullHistoryCapped, estimate_tokens
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolDefinition
from core.domain.conversation import Message, Role
from core.domain.corpus import SearchScope
from tests.builders import build_citation
from tests.scripted import check_request
from tests.unit.core.answering.context.history import A, B, answered, asked, passage, passages, tools
from tests.unit.core.library_builder import Shelf

PLENTY = 100_000


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "First a.", "Second a.", title="A")
    await shelf.add("b.md", "First b.", title="B")
    return shelf


async def select(
    shelf: Shelf, *messages: Message, budget: int = PLENTY, scope: SearchScope | None = None, cap: int = 20
):
    return await FullHistoryCapped(shelf.corpus, cap).select(messages, scope or shelf.scope(), budget)


async def test_a_turn_comes_back_with_its_tool_calls_paired_and_its_passages_read_anew(shelf):
    turns = await select(shelf, asked("Q"), tools("c1", passage(A), passage(B)), answered("It is so."))
    assert [turn.role.value for turn in turns] == ["user", "assistant", "tool_result", "assistant"]
    assert turns[1].tool_invocations[0].id == turns[2].tool_results[0].invocation_id == "c1"
    assert passages(turns) == [(1, "First a."), (2, "First b.")]
    assert turns[2].tool_results[0].text == "found"


async def test_a_passage_shown_twice_has_one_number(shelf):
    turns = await select(shelf, asked("Q"), tools("c1", passage(B)), tools("c2", passage(A), passage(B)))
    assert passages(turns) == [(1, "First b."), (2, "First a."), (1, "First b.")]


async def test_errors_of_tools_stay_errors(shelf):
    turns = await select(shelf, asked("Q"), tools("c1", text="no such tool", is_error=True))
    assert turns[2].tool_results[0].is_error


async def test_passages_of_documents_that_may_not_be_read_any_more_are_gone(shelf):
    history = (asked("Q"), tools("c1", passage(A), passage(A, 2)), answered("It is so."))
    assert passages(await select(shelf, *history, scope=shelf.scope(**{A: 1}))) == [(1, "First a.")]
    nothing = SearchScope(workspace="local", sources=frozenset())
    assert passages(await select(shelf, *history, scope=nothing)) == []


@pytest.mark.parametrize(
    ("page", "position", "shown"), [(1, 1, "It is so."), (2, 1, WITHDRAWN), (2, 2, "It is so."), (2, None, "It is so.")]
)
async def test_answers_that_rest_on_what_may_not_be_read_are_taken_out(shelf, page, position, shown):
    answer = answered("It is so[1].", citations=(build_citation(A, page_number=page),))
    scope = shelf.scope(**({A: position} if position else {}))
    assert (await select(shelf, asked("Q"), answer, scope=scope))[1].text == shown


async def test_an_answer_from_a_removed_document_is_taken_out(shelf):
    answer = answered("It is so.", citations=(build_citation("gone"), build_citation("gone")))
    assert (await select(shelf, asked("Q"), answer))[1].text == WITHDRAWN


async def test_markers_of_old_answers_are_taken_out(shelf):
    turns = await select(shelf, asked("Q [1]"), answered("Under the mat [1], or not [2][3]."))
    assert [turn.text for turn in turns] == ["Q [1]", "Under the mat, or not."]


async def test_questions_carry_who_asked(shelf):
    turns = await select(shelf, asked("Q", "ada"), answered("Yes."), asked("And I?", "bob"))
    assert [turn.speaker for turn in turns] == ["ada", None, "bob"]


async def test_what_stands_before_the_first_question_and_empty_answers_are_left_out(shelf):
    turns = await select(shelf, answered("Welcome."), asked("Q"), answered("  "))
    assert [turn.text for turn in turns] == ["Q"]


async def test_no_history_is_no_turns(shelf):
    assert await select(shelf) == []


async def test_older_passages_shrink_to_a_line_before_any_turn_goes(shelf):
    long = "x" * 4000
    document = await shelf.add("long.md", long, title="Long")
    history = (
        asked("Q1"),
        tools("c1", f"{document.id}@r1#1:0"),
        answered("A1"),
        asked("Q2"),
        tools("c2", passage(A)),
        answered("A2"),
    )
    turns = await select(shelf, *history, budget=400)
    assert [turn.text for turn in turns if turn.text] == ["Q1", "A1", "Q2", "A2"]
    assert turns[2].tool_results[0].text == '(Shown then: "Long" page 1. Call again to read it.)'
    assert passages(turns) == [(1, "First a.")]


async def test_once_a_turn_has_shrunk_all_older_ones_do(shelf):
    document = await shelf.add("long.md", "x" * 4000, title="Long")
    history = [asked("Q1"), tools("c1", passage(A)), asked("Q2"), tools("c2", f"{document.id}@r1#1:0"), asked("Q3")]
    assert passages(await select(shelf, *history, budget=500)) == []


async def test_the_oldest_turns_go_when_the_budget_is_small(shelf):
    history = [message for n in range(10) for message in (asked(f"Q{n}"), answered("y" * 400))]
    turns = await select(shelf, *history, budget=360)
    assert [turn.text for turn in turns if turn.role is ChatRole.USER] == ["Q7", "Q8", "Q9"]


async def test_at_most_so_many_messages_and_only_whole_turns(shelf):
    history = [m for n in range(10) for m in (asked(f"Q{n}"), tools(f"c{n}"), answered(f"A{n}"))]
    turns = await select(shelf, *history, cap=10)
    assert [turn.text for turn in turns if turn.text] == ["Q8", "A8", "Q9", "A9"]


async def test_a_newest_turn_that_is_too_long_is_cut_to_its_texts(shelf):
    turns = await select(shelf, asked("é" * 5000), tools("c1", passage(A)), answered("z" * 5000), budget=200)
    assert [turn.role for turn in turns] == [ChatRole.USER, ChatRole.ASSISTANT]
    assert sum(map(estimate_tokens, turns)) <= 200
    assert set(turns[0].text) == {"é"}


async def test_even_without_any_budget_the_newest_question_is_kept(shelf):
    (turn,) = await select(shelf, asked("Where is the key?"), budget=1)
    assert turn.text == "W"


def test_the_estimate_counts_bytes_so_that_other_scripts_cost_more():
    latin, greek = (ChatMessage(role=ChatRole.USER, text=letter * 400) for letter in "aλ")
    assert estimate_tokens(latin) == 108
    assert estimate_tokens(greek) == 208


MESSAGES = st.lists(
    st.one_of(
        st.builds(asked, st.text("ab ü", min_size=1, max_size=80).filter(str.strip)),
        st.builds(answered, st.text("ab ü", max_size=80)),
        st.lists(st.sampled_from([passage(A), passage(A, 2), passage(B), "gone"]), max_size=4).map(
            lambda ids: ("tools", ids)
        ),
    ),
    max_size=25,
)


@given(messages=MESSAGES, budget=st.integers(1, 600), cap=st.integers(1, 20), position=st.sampled_from([None, 1]))
async def test_any_history_becomes_a_prompt_that_models_take_within_its_bounds(messages, budget, cap, position):
    shelf = Shelf()
    await shelf.add("a.md", "First a.", "Second a. " * 9, title="A")
    await shelf.add("b.md", "First b.", title="B")
    stored = [m if isinstance(m, Message) else tools(f"c{n}", *m[1]) for n, m in enumerate(messages)]
    scope = shelf.scope(**({A: position} if position else {}))
    turns = await select(shelf, *stored, budget=budget, cap=cap, scope=scope)
    last = [message for message in stored if message.role is Role.USER][-1:]
    assert bool(turns) == bool(last)
    if turns:
        definition = ToolDefinition(name="search", description="", parameters={})
        check_request(ChatRequest(system="", messages=tuple(turns), tools=(definition,)))
        newest = [turn for turn in turns if turn.role is ChatRole.USER][-1]
        assert last[0].content.strip().startswith(newest.text.strip())
    if budget > 300:
        assert sum(map(estimate_tokens, turns)) <= budget
    assert len(turns) <= cap or [turn.role for turn in turns].count(ChatRole.USER) == 1
    assert position is None or not any(text.startswith("Second") for _, text in passages(turns))
