"""What every platform says of an answer's references: what its question named, and what was looked at besides. Pure.

Words come plain, or escaped piece by piece by the `escape` that is given. At most SHOWN are named below an answer;
where there are more, a button (or `--verbose`) opens all of them.

Names: `named_lines`, `also_looked_at`, `hidden_count`, `ReferenceRow`, `reference_rows`, `row_words`,
`references_markdown`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.showing.rendering import clip
from core.domain.answer import Answer, Reference, ReferenceType
from core.references.listing import SHOWN, direct_of, looked_at

_WIKILINK = re.compile(r"!?\[\[([^\[\]]+)\]\]")
Escape = Callable[[str], str]

LABEL_LENGTH = 80  # units
PATH_LENGTH = 160
SUMMARY_LENGTH = 100
MORE_LABEL = "All references"
NO_REFERENCES = "This answer refers to no documents."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRow:
    """A reference in a list, as plain words."""

    label: str
    detail: str = ""  # where it is, or what is wrong with it
    summary: str = ""
    is_cited: bool = False
    is_named: bool = False  # by the question
    document_id: str | None = None


def named_lines(answer: Answer, escape: Escape = str, *, most: int = SHOWN) -> list[str]:
    """A line for each document that the question named, at most `most`: `House: house.md — Where we live.`"""
    rows = [_to_row(reference, answer) for reference in _named(answer)[:most]]
    return [row_words(row, escape) for row in rows]


def also_looked_at(answer: Answer, escape: Escape = str, *, most: int = SHOWN, more: str = "") -> str:
    """What was found and not used, as one line; "" for nothing. `more` says how to see those that are only counted."""
    seen = _seen(answer)
    named = _named(answer)
    room = max(0, most - len(named))
    shown = [escape(clip(reference.label, LABEL_LENGTH) or "a document") for reference in seen[:room]]
    left = len(seen) - len(shown) + max(0, len(named) - most)
    if not shown:
        return f"And {left} more{more}" if left else ""
    return f"Also looked at: {', '.join(shown)}" + (f" and {left} more{more}" if left else "")


def hidden_count(answer: Answer, most: int = SHOWN) -> int:
    """How many references are only counted."""
    return max(0, len(_named(answer)) + len(_seen(answer)) - most)


def reference_rows(answer: Answer) -> list[ReferenceRow]:
    """All that the answer refers to: named, cited, looked at, in this order."""
    named, seen = _named(answer), _seen(answer)
    told = {id(reference) for reference in (*named, *seen)}
    cited = [reference for reference in answer.references if id(reference) not in told]
    return [_to_row(reference, answer) for reference in _once([*named, *cited, *seen])]


def references_markdown(answer: Answer, escape: Escape) -> str:
    """All of them as a list in Markdown; not yet harmless but for what `escape` was given."""
    rows = [f"{number}. {row_words(row, escape)}" for number, row in enumerate(reference_rows(answer), start=1)]
    return "\n".join(rows) or NO_REFERENCES


def _named(answer: Answer) -> list[Reference]:
    return _once(direct_of(answer.references))


def _seen(answer: Answer) -> list[Reference]:
    return _once(looked_at(answer.references, answer.citations))


def _once(references: Sequence[Reference]) -> list[Reference]:
    return list(
        {(item.document_id or item.document or "", item.heading, item.label): item for item in references}.values()
    )


def _to_row(reference: Reference, answer: Answer) -> ReferenceRow:
    cited = {citation.document_id for citation in answer.citations} | {item.document for item in answer.citations}
    row = ReferenceRow(
        label=clip(_unlinked(reference.label), LABEL_LENGTH) or "a document",
        detail=clip(reference.document or "", PATH_LENGTH),
        summary=clip(reference.summary, SUMMARY_LENGTH),
        is_cited=bool({reference.document_id, reference.document} & cited),
        is_named=reference.type is ReferenceType.DIRECT,
        document_id=reference.document_id,
    )
    guesses = " or ".join(clip(_unlinked(label), LABEL_LENGTH) for label in reference.near)
    near = f"Did you mean {guesses}?" if guesses else ""
    if reference.broken:
        why = f" ({row.summary})" if row.summary else ""
        return replace(row, detail=f"leads nowhere{why}", summary=near)
    return replace(row, detail=f"{row.detail} has no such heading", summary=near) if near else row


def _unlinked(label: str) -> str:
    """`House#Keys`, of `[[House#Keys]]`: brackets are for who writes links."""
    link = _WIKILINK.fullmatch(label)
    return link[1] if link else label


def row_words(row: ReferenceRow, escape: Escape = str) -> str:
    """`House: house.md, cited — where we live`."""
    said = f"{escape(row.label)}: {escape(row.detail)}" if row.detail else escape(row.label)
    about = f" — {escape(row.summary)}" if row.summary else ""
    return f"{said}{', cited' if row.is_cited else ''}{about}"
