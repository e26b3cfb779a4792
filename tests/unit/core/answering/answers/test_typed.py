"""Assembled, proved and kept: what of a typed answer is shown is what its data says, and is backed."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.answers.building import prove_draft
from core.answering.answers.typed import prove_typed
from core.answering.citations import MARKER
from core.answering.strategies.synthesis import assemble
from core.domain.answer import Draft, Evidence
from core.domain.chat import NumberedPassage
from core.domain.corpus import Page, SourcedPassage
from core.domain.replies import CitedText
from core.domain.response_data import RESPONSE_TYPES, ResponseData
from tests.builders import build_document, build_pages, build_passages

DOCUMENT = build_document("pier.md")
TEXTS = ("The pier opened on 3 May 1901.", "Repairs cost 18,400 crowns in 2026.")
PAGES = build_pages(DOCUMENT, *TEXTS)


def evidence() -> Evidence:
    passages = build_passages(PAGES)
    return Evidence(
        passages={
            passage.id: NumberedPassage(
                number=number, source=SourcedPassage(document=DOCUMENT, passage=passage, page_title="Page")
            )
            for number, passage in enumerate(passages, start=1)
        }
    )


def pages() -> dict[str, Page]:
    return {page.id: page for page in PAGES}


def typed(response_type: str, **data: object) -> Draft:
    read = RESPONSE_TYPES[response_type].model.model_validate(data)
    return draft_of(read)


def test_a_date_that_only_the_title_or_the_file_name_gives_is_kept():
    for document in (build_document("pier.md", title="Minutes of 12 May 2024"), build_document("2024-05-12.md")):
        rest = build_pages(document, "The pier was closed.")
        [passage] = build_passages(rest)
        sourced = SourcedPassage(document=document, passage=passage, page_title="Page")
        draft = replace(
            typed("timeline", summary="", events=[{"date": "12 May 2024", "event": "It closed [1]."}]),
            evidence=Evidence(passages={passage.id: NumberedPassage(number=1, source=sourced)}),
        )
        settled, _ = prove_typed(draft, {page.id: page for page in rest})

        assert settled.data is not None and settled.data_gaps == ()
        assert settled.data["events"] == [{"date": "12 May 2024", "event": "It closed[1]."}]


def draft_of(read: ResponseData) -> Draft:
    assembled = assemble(read)
    return Draft(
        segments=assembled.segments,
        evidence=evidence(),
        data=read.model_dump(mode="json", exclude={"data_sources", "data_gaps"}),
        data_items=assembled.items,
    )


def test_numbers_in_the_data_are_those_of_the_text():
    draft = typed(
        "timeline",
        summary="The repairs came late [2].",
        events=[{"date": "3 May 1901", "event": "It opened [1]."}, {"date": "2026", "event": "Repairs [2]."}],
    )
    settled, proved = prove_typed(draft, pages())
    assert proved.text == "The repairs came late[1].\n- **3 May 1901**: It opened[2].\n- **2026**: Repairs[1]."
    assert settled.data == {
        "summary": "The repairs came late[1].",
        "events": [{"date": "3 May 1901", "event": "It opened[2]."}, {"date": "2026", "event": "Repairs[1]."}],
    }
    assert settled.data_gaps == () and [citation.number for citation in proved.citations] == [1, 2]


def test_an_event_with_a_date_that_no_passage_has_goes_and_leaves_no_gap_in_the_numbers():
    draft = typed(
        "timeline",
        summary="Two events [2].",
        events=[{"date": "1899", "event": "It opened [1]."}, {"date": "2026", "event": "Repairs [2]."}],
    )
    settled, proved = prove_typed(draft, pages())
    assert "1899" not in proved.text
    assert settled.data["events"] == [{"date": "2026", "event": "Repairs[1]."}]
    assert settled.data_gaps == ("One statement was left out, because no passage backs it.",)
    assert [citation.number for citation in proved.citations] == [1]


def test_a_date_may_be_written_with_leading_zeros():
    draft = typed("timeline", summary="", events=[{"date": "1901-05-03", "event": "It opened [1]."}])
    assert prove_typed(draft, pages())[0].data["events"] == [{"date": "1901-05-03", "event": "It opened[1]."}]


def test_a_heading_goes_with_all_that_stood_below_it():
    draft = typed(
        "meeting_brief",
        summary="The pier opened [1].",
        decisions=["Paint it green"],
        topics=["Repairs [2]"],
        action_items=[{"description": "Pay 18,400 crowns [2]", "owner": "Ann", "due": "2026"}],
    )
    settled, proved = prove_typed(draft, pages())
    assert "Decisions" not in proved.text and "**Topics**:\n- Repairs[2]" in proved.text
    assert "- Pay 18,400 crowns[2], owner: Ann, due: 2026" in proved.text
    assert (settled.data["decisions"], settled.data["topics"]) == ([], ["Repairs[2]"])


def test_cells_of_a_comparison_keep_their_places():
    draft = typed(
        "comparison",
        summary="They differ [1].",
        subjects=["Opening", "Repairs"],
        aspects=[
            {"aspect": "Year", "values": ["1850 [1]", "2026 [2]"]},
            {"aspect": "Colour", "values": ["green", "blue"]},
        ],
    )
    settled, proved = prove_typed(draft, pages())
    assert settled.data["aspects"] == [{"aspect": "Year", "values": ["", "2026[2]"]}]
    assert proved.text.endswith("**Year**:\n- Repairs: 2026[2]")
    assert settled.data_gaps == ("3 statements were left out, because no passage backs them.",)


def test_the_other_forms_show_each_string_once():
    stats = typed(
        "stat_block",
        summary="A pier [1].",
        name="The pier",
        stats=[{"name": "Age", "value": "1901 [1]"}],
        abilities=[{"name": "Open", "text": "It opened in May [1]."}],
    )
    _, proved = prove_typed(stats, pages())
    assert proved.text == (
        "A pier[1].\n\nThe pier\n\n**Stats**:\n- Age: 1901[1]\n\n**Abilities**:\n- **Open**: It opened in May[1]."
    )
    money = typed(
        "financial_summary",
        summary="Repairs [2].",
        subject="Harbour [2]",
        figures=[{"period": "2026", "metric": "Repairs", "value": "18,400 crowns [2]"}],
        notes=["None in May [1]."],
    )
    settled, proved = prove_typed(money, pages())
    assert "**Harbour[1]**:\n- 2026, Repairs: 18,400 crowns[1]\n\n**Notes**:\n- None in May[2]." in proved.text
    assert settled.data["subject"] == "Harbour[1]"
    general = typed("general", summary="The documents do not say when.", points=["Repairs [2].", ""])
    settled, proved = prove_typed(general, pages())
    assert proved.text == "The documents do not say when.\n- Repairs[1]."
    assert settled.data["points"] == ["Repairs[1].", ""]


def test_what_nothing_is_proved_of_has_no_data():
    settled, proved = prove_typed(typed("general", summary="It is 99 years old."), pages())
    assert (settled.data, proved.citations, proved.text.strip()) == (None, (), "")


def test_a_draft_without_data_stays_as_it_is():
    draft = Draft(segments=(CitedText(text="It opened [1]."),), evidence=evidence())
    settled, proved = prove_draft(draft, pages())
    assert settled is draft and proved.text == "It opened[1]."


STATEMENTS = st.builds(
    lambda words, markers: f"{words} {markers}".strip(),
    st.sampled_from(["It opened in 1901.", "18,400 crowns", "Made in 1777", "Green", "[x] `code`", "", "in 2026 | *"]),
    st.sampled_from(["", "[1]", "[2]", "[1][2]", "[7]", "[1, 2]"]),
)
WORDS = st.sampled_from(["1901", "Ann", "", "3 May 1901", "2031 [1]"])


def _data(model: type[ResponseData]) -> st.SearchStrategy[dict[str, object]]:
    """Any data of a model: statements and words by what its schema says."""

    def of(schema: dict[str, object], definitions: dict[str, dict[str, object]]) -> st.SearchStrategy[object]:
        if "$ref" in schema:
            return of(definitions[str(schema["$ref"]).rpartition("/")[2]], definitions)
        if schema["type"] == "string":
            return WORDS if schema.get("maxLength") == 200 else STATEMENTS
        if schema["type"] == "array":
            return st.lists(of(schema["items"], definitions), max_size=3)
        return st.fixed_dictionaries({name: of(part, definitions) for name, part in schema["properties"].items()})

    schema = model.model_json_schema()
    return of(schema, schema.get("$defs", {}))


@pytest.mark.parametrize("response_type", RESPONSE_TYPES)
@given(choice=st.data())
def test_any_data_keeps_only_what_is_proved_and_says_the_same_as_its_text(response_type, choice):
    kind = RESPONSE_TYPES[response_type]
    draft = draft_of(kind.model.model_validate(choice.draw(_data(kind.model))))
    settled, proved = prove_typed(draft, pages())
    numbers = [citation.number for citation in proved.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(citation.proved and citation.quote in TEXTS for citation in proved.citations)
    assert "1777" not in proved.text and "2031" not in proved.text
    if settled.data is None:
        assert not proved.citations
        return
    written = json.dumps(settled.data, ensure_ascii=False)
    assert "1777" not in written
    used = {int(number) for match in MARKER.finditer(written) for number in re.findall(r"\d+", match[1])}
    assert used <= set(numbers)
    kind.model.model_validate(settled.data)
