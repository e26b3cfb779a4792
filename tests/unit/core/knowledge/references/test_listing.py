from core.domain.answer import (
    ChatMessage,
    ChatRole,
    Citation,
    CitedText,
    Draft,
    Evidence,
    NumberedPassage,
    Reference,
    ReferenceType,
    ToolInvocation,
    ToolResult,
)
from core.domain.corpus import SourcedPassage
from core.knowledge.references.linked_context import OPENED
from core.knowledge.references.listing import MOST_KEPT, all_references, labels, looked_at, search_references
from tests.builders import build_citation, build_document, build_pages, build_passages


def build_shown(path: str, number: int) -> NumberedPassage:
    document = build_document(path, title=path.removesuffix(".md").title())
    [passage] = build_passages(build_pages(document, f"Text of {path}."))
    return NumberedPassage(number=number, source=SourcedPassage(passage=passage, document=document, page_title=""))


def build_round(*shown: NumberedPassage, name: str = "search") -> tuple[ChatMessage, ChatMessage]:
    call = ToolInvocation(id="t", name=name, arguments={})
    result = ToolResult(invocation_id="t", name=name, text="", passages=shown)
    return (
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(call,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
    )


def build_draft(*rounds: tuple[ChatMessage, ...], adopted: tuple[NumberedPassage, ...] = ()) -> Draft:
    new = tuple(turn for turns in rounds for turn in turns)
    shown = [item for turn in new for result in turn.tool_results for item in result.passages]
    evidence = Evidence(passages={item.source.passage.id: item for item in [*adopted, *shown]})
    return Draft(segments=(CitedText(text="Yes."),), evidence=evidence, new_messages=new)


def cite(item: NumberedPassage) -> Citation:
    return build_citation(item.source.document.id, document=item.source.document.path)


A, B, C = (build_shown(f"{name}.md", number) for number, name in enumerate("abc", 1))


def paths(references: list[Reference]) -> list[str | None]:
    return [reference.document for reference in references]


def test_what_tools_returned_in_the_whole_loop_is_listed_cited_ones_first() -> None:
    draft = build_draft(build_round(A, B), build_round(C))

    assert paths(search_references(draft, [cite(C)])) == ["c.md", "a.md", "b.md"]


def test_tool_calls_that_return_no_results_give_no_references() -> None:
    assert search_references(build_draft(build_round(), build_round()), []) == []
    assert search_references(build_draft(), []) == []


def test_what_earlier_turns_showed_counts_only_where_it_is_cited() -> None:
    draft = build_draft(build_round(A), adopted=(B, C))

    assert paths(search_references(draft, [cite(B)])) == ["b.md", "a.md"]


def test_what_was_offered_is_named_and_not_found() -> None:
    draft = build_draft(build_round(A, name=OPENED), build_round(B))

    assert paths(search_references(draft, [])) == ["b.md"]


def test_multiple_references_to_same_document_are_one() -> None:
    direct = Reference(
        type=ReferenceType.DIRECT, label="[[A]]", document="a.md", document_id=A.source.document.id, heading="Keys"
    )
    found = all_references([direct], build_draft(build_round(A, B), build_round(A, B)), [cite(A)])

    assert [(item.type, item.document) for item in found] == [
        (ReferenceType.DIRECT, "a.md"),
        (ReferenceType.SEARCH, "b.md"),
    ]


def test_large_numbers_of_references_are_bounded() -> None:
    many = [build_shown(f"{number}.md", number) for number in range(1, 3 * MOST_KEPT)]

    assert len(all_references([], build_draft(build_round(*many)), [])) == MOST_KEPT


def test_only_what_was_not_used_is_also_looked_at() -> None:
    found = [*all_references([], build_draft(build_round(A, B, C)), [cite(B)])]
    old = [Reference(type=ReferenceType.SEARCH, label=name, document=f"{name}.md") for name in "abc"]

    assert paths(looked_at(found, [cite(B)])) == ["a.md", "c.md"]
    assert paths(looked_at(old, [cite(B)])) == ["a.md", "c.md"]  # of the time before references had ids


def test_labels_make_a_sentence() -> None:
    references = [Reference(type=ReferenceType.SEARCH, label=name, document=None) for name in "abc"]

    assert [labels(references[:count]) for count in range(4)] == ["", "“a”", "“a” and “b”", "“a”, “b” and “c”"]
