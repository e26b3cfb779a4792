import pytest

from core.domain.corpus import Page
from storage.documents.meetings.lines import read_lines
from storage.documents.meetings.parts import split_labels


def split(text: str) -> list[str]:
    (line,) = read_lines([Page(id="p", document_id="d", revision="r", number=1, title="", text=text)])
    parts = split_labels(line)
    assert [text[part.span.start : part.span.end] for part in parts] == [part.raw for part in parts]
    return [part.raw for part in parts]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Chair: Ann. Present: Ben, Carla. Apologies: Dan", ["Chair: Ann.", "Present: Ben, Carla.", "Apologies: Dan"]),
        ("Date: 3 May 2024 | Present: Ann, Ben", ["Date: 3 May 2024", "Present: Ann, Ben"]),
        ("**Present:** Ann, Ben **Regrets:** Carla", ["**Present:** Ann, Ben", "Regrets:** Carla"]),
        ("Place: Pier 3; Attendees: Ann", ["Place: Pier 3", "Attendees: Ann"]),
        ("Present: Ann, Ben", ["Present: Ann, Ben"]),
        ("Ann: we met. Present: nobody", ["Ann: we met. Present: nobody"]),
        ("Decision: we keep it. Date: open", ["Decision: we keep it. Date: open"]),
    ],
)
def test_a_line_of_several_labels_is_several_lines(text: str, parts: list[str]) -> None:
    assert split(text) == parts
