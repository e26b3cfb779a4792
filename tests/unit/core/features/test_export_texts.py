import json
from dataclasses import replace

import pytest

from core.answering.redaction import BEYOND, CLOSED
from core.domain.answer import Reference, ReferenceType
from core.domain.chat import ToolInvocation
from core.domain.conversation import Role, ToolCallRecord
from core.features.export import LEFT_OUT, footnote_label, to_json, to_markdown
from tests.builders import build_citation, build_conversation, build_message

CONVERSATION = build_conversation(title="Keys")
MESSAGES = [
    build_message("m1", "Where is the key?"),
    build_message(
        "m2",
        "search: 2 passages",
        role=Role.TOOL_RESULT,
        author="tools",
        tool_calls=(
            ToolCallRecord(
                invocation=ToolInvocation(id="t", name="search", arguments={"query": "key"}),
                text="2 pages",
                passage_ids=("a",),
            ),
        ),
    ),
    build_message(
        "m3",
        "Under the mat.[1]",
        role=Role.ASSISTANT,
        author="footnote",
        citations=(build_citation(url="https://x.example/guide"),),
        references=(Reference(type=ReferenceType.SEARCH, label="Guide", document="guide.md"),),
    ),
]


def test_markdown_has_questions_answers_and_numbered_sources_but_no_tool_calls() -> None:
    text = to_markdown(CONVERSATION, MESSAGES)

    assert text.startswith("# Keys\n")
    assert "Under the mat.[1]" in text
    assert '- [1] Page 1 of "Guide" > Keys: “under the mat” <https://x.example/guide>' in text
    assert "search" not in text


def test_json_has_all_messages_with_their_tool_calls() -> None:
    shown = json.loads(to_json(CONVERSATION, MESSAGES))

    assert [message["role"] for message in shown["messages"]] == ["user", "tool_result", "assistant"]
    assert shown["messages"][1]["tool_calls"][0]["tool"] == "search"
    assert shown["messages"][2]["citations"][0]["quote"] == "under the mat"
    assert shown["messages"][2]["references"][0]["type"] == "search"


@pytest.mark.parametrize("reason", [BEYOND, CLOSED])
def test_a_file_says_that_answers_were_left_out(reason: str) -> None:
    taken_out = [MESSAGES[0], build_message("m3", reason, role=Role.ASSISTANT, author="footnote")]

    assert f"*{LEFT_OUT}*\n" in to_markdown(CONVERSATION, taken_out)
    assert json.loads(to_json(CONVERSATION, taken_out))["left_out"] == LEFT_OUT


def test_a_file_of_everything_says_nothing_about_gaps() -> None:
    quoted = [build_message("m1", CLOSED), *MESSAGES[1:]]  # a person who writes the same left nothing out

    assert LEFT_OUT not in to_markdown(CONVERSATION, quoted)
    assert "left_out" not in json.loads(to_json(CONVERSATION, quoted))


def test_a_footnote_reads_as_page_document_and_headings() -> None:
    citation = build_citation(document="a/report.pdf", page_number=5, heading_path=("Chapter", "Section"))

    assert footnote_label(citation) == 'Page 5 of "Guide" > Chapter > Section'
    assert footnote_label(replace(citation, document_title="")) == 'Page 5 of "report.pdf" > Chapter > Section'
    assert footnote_label(replace(citation, heading_path=("Guide", "Keys"))) == 'Page 5 of "Guide" > Keys'


def test_a_file_shows_no_direction_marks_and_runs_no_terminal_codes() -> None:
    marks = "\u202e\u2066\u200f\x1b[31m\x9b2J\x07"
    messages = [build_message("m1", f"a{marks}b", author=f"Ann{marks}")]
    titled = build_conversation(title=f"Keys{marks}")

    assert not set(marks.replace("[31m", "").replace("2J", "")) & set(to_markdown(titled, messages))
    written = to_json(titled, messages)
    assert not set("\u202e\u2066\u200f\x1b\x9b\x07") & set(written)
    assert json.loads(written)["messages"][0]["content"] == f"a{marks}b"  # the same values
