"""The printed conversation: what is in it is read back from the PDF."""

import ctypes
from collections.abc import Sequence

import pypdfium2
import pypdfium2.raw as raw
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.redaction import CLOSED
from core.domain.conversation import Message, Role
from core.features.export import LEFT_OUT, to_pdf
from tests.builders import build_citation, build_conversation, build_message

CONVERSATION = build_conversation(title="Keys & locks")
RICH = """\
| who | when |
|---|---|
| Ann | *May* [1] |

3. three
   - inner

> said

```
x = 1
```
"""
LETTERS = "ab1 \n#*_`>|-[]()\\~!$@<>&\t\u0301א文😀"
HOSTILE = '#panic("no") $x$ @label <b>bold</b> \\ *star* #import "@preview/x:0.1.0" \ud800 \x00 [99]'


def answered(text: str, *numbers: int, url: str | None = None) -> list[Message]:
    citations = tuple(build_citation(number=number, url=url) for number in numbers)
    return [
        build_message("q1", "Where is the key?"),
        build_message("t1", "search: 2 passages", role=Role.TOOL_RESULT, author="tools"),
        build_message("a1", text, role=Role.ASSISTANT, author="footnote", citations=citations),
    ]


def words_of(data: bytes) -> str:
    document = pypdfium2.PdfDocument(data)
    return " ".join(" ".join(page.get_textpage().get_text_range() for page in document).split())


def links_of(data: bytes) -> list[str]:
    """Addresses that can be clicked."""
    document = pypdfium2.PdfDocument(data)
    found = []
    for page in document:
        place, link = ctypes.c_int(0), raw.FPDF_LINK()
        while raw.FPDFLink_Enumerate(page, place, link):
            action = raw.FPDFLink_GetAction(link)
            if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
                address = ctypes.create_string_buffer(200)
                raw.FPDFAction_GetURIPath(document, action, address, 200)
                found.append(address.value.decode())
    return found


def test_questions_answers_and_numbered_sources_are_printed_but_no_tool_calls() -> None:
    text = words_of(to_pdf(CONVERSATION, answered("Under the **mat**.[1]", 1)))

    assert text.startswith("Keys & locks Started 2026-03-01")
    assert "Where is the key?" in text
    assert "Under the mat.[1]" in text
    assert '[1] Page 1 of "Guide" > Keys: “under the mat”' in text
    assert "search: 2 passages" not in text


def test_a_file_says_that_answers_were_left_out() -> None:
    assert LEFT_OUT in words_of(to_pdf(CONVERSATION, answered(CLOSED)))
    assert LEFT_OUT not in words_of(to_pdf(CONVERSATION, answered("Under the mat.")))


def test_tables_lists_quotes_and_code_keep_their_words() -> None:
    text = words_of(to_pdf(CONVERSATION, answered(RICH, 1)))

    for words in ("who when", "Ann May [1]", "3. three", "inner", "said", "x = 1"):
        assert words in text


def test_only_sources_can_be_clicked() -> None:
    data = to_pdf(
        CONVERSATION,
        answered(
            "[a](https://a.example/x) [b](javascript:alert(1)) [c](file:///etc/passwd)", 1, url="https://src.example/1"
        ),
    )

    assert sorted(links_of(data)) == ["https://src.example/1"]


def test_what_people_write_is_never_run_as_markup() -> None:
    text = words_of(to_pdf(CONVERSATION, answered(HOSTILE)))

    assert '#panic("no") $x$ @label <b>bold</b>' in text
    assert "[99]" in text


def test_the_same_conversation_gives_the_same_bytes() -> None:
    assert to_pdf(CONVERSATION, answered("Yes.[1]", 1)) == to_pdf(CONVERSATION, answered("Yes.[1]", 1))


def test_an_empty_conversation_is_a_page_with_its_title() -> None:
    assert "Keys & locks" in words_of(to_pdf(CONVERSATION, []))


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text(alphabet=LETTERS, max_size=60), min_size=1, max_size=3),
    numbers=st.sets(st.integers(1, 3)),
)
def test_any_text_can_be_printed(texts: Sequence[str], numbers: set[int]) -> None:
    messages = [
        message
        for place, text in enumerate(texts)
        for message in (
            build_message(f"q{place}", text),
            build_message(
                f"a{place}",
                f"{text}[1][2]",
                role=Role.ASSISTANT,
                author="footnote",
                citations=tuple(build_citation(number=number) for number in sorted(numbers)),
            ),
        )
    ]

    text = words_of(to_pdf(CONVERSATION, messages))

    assert text.count('of "Guide"') == len(texts) * len(numbers)
