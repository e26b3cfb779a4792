"""Claims without support are marked; what is no claim is left alone."""

import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.citations import ProvedText, escape_brackets
from core.answering.grounding import (
    UNSUPPORTED_MARK,
    UNSUPPORTED_NOTE,
    Basis,
    Change,
    Checked,
    Grounding,
    change,
    check_text,
    is_backed,
    is_quoted,
    mark,
)
from core.answering.support.check import SupportCheck
from core.domain.answer import Citation, Draft, Evidence
from core.domain.chat import ChatMessage, ChatRole, ToolResult
from core.domain.passages import Span
from core.domain.replies import PassageCitation
from core.domain.support import Verdict
from tests.unit.core.answering.providers.extractive.small_library import NearModel

BEHIND = {1: ["The ferry carried 148,310 passengers in 2025."], 2: ["Ann has the spare key."]}
NO_DRAFT = Draft(segments=(), evidence=Evidence())


def proved(text: str, behind: Mapping[int, Sequence[str]]) -> ProvedText:
    citations = tuple(
        Citation(
            number=number,
            source="s",
            document="d.md",
            document_id="d",
            document_title="D",
            page_id=f"p{number}",
            page_number=1,
            heading_path=(),
            quote=quotes[0],
            span=Span(0, len(quotes[0])),
            revision="r",
            passage_id=f"passage{number}",
        )
        for number, quotes in behind.items()
    )
    return ProvedText(text=text, citations=citations, dropped=0)


async def check(
    text: str, behind: Mapping[int, Sequence[str]] = BEHIND, question: str = "", draft: Draft = NO_DRAFT
) -> list[Checked]:
    return await check_text(draft, proved(text, behind), SupportCheck(NearModel()), question)


async def ground(text: str, behind: Mapping[int, Sequence[str]] = BEHIND, question: str = "") -> Grounding:
    return mark(text, await check(text, behind, question))


async def test_a_claim_with_a_footnote_is_supported() -> None:
    text = "The ferry carried 148,310 passengers.[1] Ann has the spare key. [2]"

    assert await ground(text) == Grounding(text=text, unsupported=())


async def test_a_claim_without_a_footnote_is_marked_in_text_and_span() -> None:
    result = await ground("Ann has the spare key.[2]\n\nBob lost another one yesterday.")

    assert result.text == f"Ann has the spare key.[2]\n\nBob lost another one yesterday. [?]\n\n{UNSUPPORTED_NOTE}"
    assert [span.of(result.text) for span in result.unsupported] == ["Bob lost another one yesterday."]


@pytest.mark.parametrize(
    ("said", "text", "is_there"),
    [
        ("Ann keeps the key.", "The shed is locked. **Ann keeps the key.** Ask her.", True),
        ("Ann keeps the key. Ask her!", "Who has it? Ann keeps the key. Ask her!", True),
        ("Everyone is soaked", "6\tSquall\tEveryone is soaked", True),
        ("- Ann keeps the key", "Keys\n- Ann keeps the key\n- Bob does not", True),
        ("Ann keeps the key.", "Nobody believes that Ann keeps the key.", False),
        ("Ann keeps the key.", "Ann keeps the key only on Mondays.", False),
        ("In the salt barrel.", "The keeper hides a key in the salt barrel.", True),
        ("Under the stairs, in a jar.", "Look under the stairs, in a jar of beans.", True),
        ("Ann keeps the key.", "He denies that Ann keeps the key.", False),
        ("the key under the stairs", "Ann keeps the key. Under the stairs is a jar.", False),
    ],
)
def test_words_need_no_judgement_where_a_text_says_them(said: str, text: str, *, is_there: bool) -> None:
    assert is_quoted(text, said) == is_there


async def test_words_torn_out_of_a_sentence_are_judged() -> None:
    torn = await ground("Ann keeps the key.[1]", {1: ["Nobody believes that Ann keeps the key."]})
    assert torn.unsupported


async def test_a_footnote_covers_every_sentence_of_its_block() -> None:
    behind = {1: ["Ann has the spare key and Bob lost another key yesterday."]}
    text = "Ann has the spare key. Bob lost another key yesterday.[1]"

    assert [item.numbers for item in await check(text, behind)] == [(1,), (1,)]
    assert (await ground(text, behind)).unsupported == ()
    assert (await ground("Ann lost 3 spare keys. Bob lost another key yesterday.[1]", behind)).unsupported != ()
    assert [item.numbers for item in await check(text + " Ann has the spare key again.", behind)][-1] == ()


@pytest.mark.parametrize(
    "text",
    ["The ferry carried 150,000 passengers.[1]", "Ann has 12 spare keys.[2]", "Ann has 2 spare keys.[2]"],
)
async def test_a_number_of_any_size_that_the_quote_does_not_have_is_a_fault(text: str) -> None:
    (checked,) = await check(text)

    assert checked.is_faulty


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The ferry carried 148310 passengers in 2025.[1]", ""),  # thousands separators do not matter
        ("In 2031 the ferry carried passengers.[1]", "What about 2031?"),  # the question named it
    ],
)
async def test_numbers_that_are_not_held_against_a_claim(text: str, question: str) -> None:
    assert (await ground(text, question=question)).unsupported == ()


async def test_code_is_no_claim() -> None:
    text = "```\nferry carried many passengers north\n```"

    assert await ground(text) == Grounding(text=text, unsupported=())


async def test_list_items_are_claims_of_their_own() -> None:
    result = await ground("- Ann has the spare key [2]\n- Bob has another spare key\n")

    assert [span.of(result.text) for span in result.unsupported] == ["- Bob has another spare key"]


async def test_the_number_of_a_list_item_is_no_figure_of_its_sentence() -> None:
    text = "2. Ann has the spare key [2]\n3. The ferry carried 148,310 passengers in 2025 [1]\n"
    assert (await ground(text)).unsupported == ()

    wrong = await ground("2. The ferry carried 3 passengers in 2025 [1]\n")
    assert [span.of(wrong.text) for span in wrong.unsupported] == ["The ferry carried 3 passengers in 2025 [1]"]


async def test_a_sentence_about_the_library_rests_on_what_its_tools_said() -> None:
    told = ToolResult(invocation_id="1", name="get_page", text="The journal has no page 99: 1 to 3.", is_error=True)
    draft = Draft(
        segments=(), evidence=Evidence(), new_messages=(ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(told,)),)
    )

    (true,) = await check("There is no page 99; the journal has three pages.", {}, draft=draft)
    (false,) = await check("There is no page 99; the journal has seven pages.", {}, draft=draft)

    assert (true.judgement.verdict, true.basis) == (Verdict.SUPPORTED, Basis.LIBRARY)
    assert (false.is_faulty, false.basis) == (True, Basis.NOTHING)


@given(
    st.lists(
        st.sampled_from(["Ann has keys. ", "Bob lost three keys.[2] ", "In 1999 all keys vanished.[1]\n", "Why? "])
    )
)
async def test_spans_point_at_the_marked_sentences(parts: list[str]) -> None:
    result = await ground("".join(parts))

    assert result.text.count(f" {UNSUPPORTED_MARK}") == len(result.unsupported)
    for span in result.unsupported:
        assert result.text[span.end :].startswith(f" {UNSUPPORTED_MARK}")
        assert span.of(result.text).strip() == span.of(result.text) != ""


def test_a_change_keeps_the_citations_around_it() -> None:
    text = proved("The ferry carried 9 passengers.[1] Ann has the spare key.[2] Smith \\[1\\].", BEHIND)
    quote = PassageCitation(passage_id="passage1", span=Span(0, 45), cited_text=BEHIND[1][0])

    segments = change(text, [Change(span=Span(0, 34), text="“The ferry”", citations=(quote,))])

    assert [(part.text, [c.passage_id for c in part.citations]) for part in segments] == [
        ("“The ferry”", ["passage1"]),
        (" Ann has the spare key.", ["passage2"]),
        (f" Smith {escape_brackets('[1]')}.", []),
    ]


@pytest.mark.parametrize(
    ("text", "backed", "backed_where_none_is_needed"),
    [
        ("Ann has the spare key.[2]", True, True),
        ("The ferry carried 148310 passengers.[2, 1]", True, True),
        ("The ferry carried 148,310 passengers.[2]", False, False),  # the number stands behind another footnote
        ("Ann has 12 keys.[2]", False, False),
        ("Ann has 2 keys.[2]", False, False),
        ("Ann has the spare key.", False, False),
        ("Here it is.", False, True),
        ("The documents do not say when it was built.", False, True),
        ("", False, True),
    ],
)
def test_a_statement_as_a_whole_stands_on_its_footnotes_or_says_nothing(
    text: str, backed: bool, backed_where_none_is_needed: bool
) -> None:
    assert is_backed(text, BEHIND) is backed
    assert is_backed(text, BEHIND, needs_footnote=False) is backed_where_none_is_needed


TABLE = "| Ferry | Passengers carried | Year sold |\n|---|:-:|---|\n| North | 148,310 [1] | 2025 [1] |\n"


@pytest.mark.parametrize(
    "table",
    [
        TABLE.replace("North", "Ferry"),
        "Ferry | Passengers carried | Year sold\n--- | --- | ---\nFerry | many [1] | 2025 [1]\n",
    ],
)
async def test_the_head_of_a_table_is_no_claim(table: str) -> None:
    assert (await ground(table)).text == table


async def test_a_row_without_support_keeps_its_cells() -> None:
    row = "| South | 99,000 passengers | 2031 |"
    result = await ground(f"{TABLE}{row}\n| Ferry | 2025 [1] | |\n")

    assert f"{row[:-2]} {UNSUPPORTED_MARK} |\n| Ferry | 2025 [1] | |\n" in result.text
    assert row[:-2] in [span.of(result.text) for span in result.unsupported]


@pytest.mark.parametrize("row", [".", " ", "|", "- ", "|-", " \t"])
async def test_a_model_that_says_one_thing_without_an_end_stops_nobody(row: str) -> None:
    said = "\n".join(f"{begin}{row * 50_000}x" for begin in ("The cost rose", "a|b\n", "a|b\n|-"))
    started = time.process_time()
    assert (await ground(said, {})).unsupported
    assert time.process_time() - started < 2.0
