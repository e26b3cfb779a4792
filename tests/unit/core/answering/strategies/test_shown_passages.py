from hypothesis import given
from hypothesis import strategies as st

from core.answering.strategies.shown_passages import passage_text, within_tokens, without_tool_turns
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolInvocation, ToolResult
from core.domain.corpus import SourcedPassage
from tests.builders import build_document, build_pages, build_passages

DOCUMENT = build_document("pier.md")
PAGES = build_pages(DOCUMENT, *(f"Text {n}. " * n for n in range(1, 9)))
PASSAGES = [
    NumberedPassage(number=number, source=SourcedPassage(document=DOCUMENT, passage=passage, page_title="Page"))
    for number, passage in enumerate(build_passages(PAGES), 1)
]


def test_a_passage_is_told_with_its_number_and_place():
    assert passage_text(PASSAGES[0]) == '[1] "pier.md" (pier.md), page 1, Page 1:\nText 1. '


def test_the_first_of_each_group_goes_before_the_second_of_any():
    size = [len(passage_text(item).encode()) for item in PASSAGES]
    kept, left = within_tokens([PASSAGES[:2], PASSAGES[2:4]], (size[0] + size[2] + 3) // 4)
    assert [[item.number for item in group] for group in kept] == [[1], [3]] and left == 2


@given(st.lists(st.lists(st.sampled_from(PASSAGES), max_size=5), max_size=4), st.integers(0, 200))
def test_what_is_kept_fits_and_nothing_is_told_twice(groups, tokens):
    kept, left = within_tokens(groups, tokens)
    shown = [item.number for group in kept for item in group]
    assert len(shown) == len(set(shown)) and len(kept) == len(groups)
    assert len(shown) == 1 or sum(len(passage_text(PASSAGES[n - 1]).encode()) for n in shown) <= tokens * 4
    assert bool(shown) == any(groups)
    assert {item.number for group in groups for item in group} == set(shown) or left > 0


def test_turns_without_tools_are_what_people_and_the_bot_said():
    call = ToolInvocation(id="c", name="search", arguments={})
    result = ToolResult(invocation_id="c", name="search", text="1 page", passages=(PASSAGES[0], PASSAGES[0]))
    turns = [
        ChatMessage(role=ChatRole.USER, text="Where?", speaker="Ada"),
        ChatMessage(role=ChatRole.ASSISTANT, text="Let me look.", tool_invocations=(call,), native=("x",)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
        ChatMessage(role=ChatRole.ASSISTANT, text="There."),
    ]
    spoken, shown = without_tool_turns(turns)
    assert [(turn.role.value, turn.text, turn.speaker) for turn in spoken] == [
        ("user", "Where?", "Ada"),
        ("assistant", "Let me look.", None),
        ("assistant", "There.", None),
    ]
    assert not any(turn.tool_invocations or turn.native for turn in spoken)
    assert shown == [PASSAGES[0]]
