"""What every platform says of an answer, its sources and its steps; each adapter sets the words in its own way. Pure.

Words come plain, or, where they are put together here, escaped piece by piece by the `escape` that is given.

Names: `SourceLink`, `QuoteContext`, `ThreadItem`; `answer_markdown`, `ask_again_label`, `gaps_line`,
 `suggestion_lines`; `source_title`, `source_path`, `source_quote`; `passage_lines`; `job_tree`,
`job_line`, `remove_space_before_markers`; `pack_items`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.presentation.rendering import clean, clip, safe_cut, units
from core.answering.answers.building import PARTIAL_NOTE
from core.answering.grounding import UNSUPPORTED_NOTE
from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.jobs import Job, JobStatus
from core.knowledge.references.service import SHOWN, direct_of, looked_at
from core.text.words import collapse, took

SourceLink = Callable[[Citation], str | None]  # where a footnote leads; None: nowhere that can be clicked
Escape = Callable[[str], str]
Item = TypeVar("Item")

# Units. Whatever they hold, heading, path and quote of one entry fit well into one message.
TITLE_LENGTH = 100
PATH_LENGTH = 160
QUOTE_LENGTH = 220
GAP_LENGTH = 100
QUESTION_LENGTH = 300
ASKED_LENGTH = 80
ERROR_LENGTH = 160
GAPS_LISTED = 10

LABEL_LENGTH = 80  # units
SUMMARY_LENGTH = 100
ALL_REFERENCES_LABEL = "All references"
NO_REFERENCES = "This answer refers to no documents."
NO_TEXT = "This answer has no text."
NO_STEPS = "No steps were recorded for this answer."
NO_PASSAGES = "This answer has no passages to show."
STEPS_LABEL = "Show steps"
STEPS_HEADING = "Steps"
WORKING = "Working on it"
MORE_COMING = "More is being written."
EMPTY = "There is nothing here yet."
TRUNCATED = "There is more to this than a message holds."
RATED_STATUSES = (AnswerStatus.ANSWERED, AnswerStatus.NOT_FOUND)  # whose readers are asked whether it helped
STATUS_SIGNS: Mapping[JobStatus, str] = {
    JobStatus.QUEUED: "○",
    JobStatus.RUNNING: "▸",
    JobStatus.WAITING: "○",
    JobStatus.DONE: "✓",
    JobStatus.FAILED: "✗",
    JobStatus.CANCELLED: "–",
}
_STATUS_LINES: Mapping[AnswerStatus, str] = {
    AnswerStatus.NOT_FOUND: "Not found in the documents",
    AnswerStatus.CLARIFY: "Please choose",
    AnswerStatus.REFUSED: "Not answered",
    AnswerStatus.STOPPED: "Stopped",
    AnswerStatus.ERROR: "This did not work",
}
_WIKILINK = re.compile(r"!?\[\[([^\[\]]+)\]\]")
_BEFORE_NOTE = re.compile(r"[ \t]+(?=\[\d{1,3}\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteContext:
    """Text of the page before and behind a quote; "" at the page's ends, “…” where it goes on."""

    before: str = ""
    behind: str = ""
    note: str = ""  # "changed since this answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadItem:
    """A conversation in a list."""

    title: str
    detail: str = ""  # "12 messages, last used 2026-11-20"
    url: str | None = None  # where it can be opened


# ---------------------------------------------------------------------- the text and what stands around it


def answer_markdown(answer: Answer, escape: Escape, *, menu_holds: int, longest_option: int) -> str:
    """Status, text, what has to be said of the text, and choices that menus cannot hold; Markdown, not yet harmless.

    Menus hold `menu_holds` choices of at most `longest_option` units.
    """
    said = collapse(answer.text).lower()
    status = _STATUS_LINES.get(answer.status, "")
    pieces = [f"**{status}**" if status and not said.startswith(status.lower()) else "", answer.text.strip("\n")]
    if not any(piece.strip() for piece in pieces):
        pieces = [NO_TEXT]
    if answer.partial and PARTIAL_NOTE not in answer.text:
        pieces.append(PARTIAL_NOTE)
    if answer.unsupported and UNSUPPORTED_NOTE not in answer.text:
        pieces.append(UNSUPPORTED_NOTE)
    pieces.append(_choices(answer, escape, menu_holds, longest_option))
    return "\n\n".join(piece for piece in pieces if piece.strip())


def ask_again_label(question: str, *, alone: bool) -> str:
    """Of the button that asks a stale answer's question again; one among several says which."""
    return "Ask again" if alone else f"Ask again: {collapse(question)}"


def gaps_line(answer: Answer, escape: Escape = str) -> str:
    """As one line; "" where nothing was missing, or the text says so itself."""
    gaps = [escape(clip(gap, GAP_LENGTH)) for gap in answer.data_gaps if gap not in answer.text]
    more = f" and {len(gaps) - GAPS_LISTED} more" if len(gaps) > GAPS_LISTED else ""
    return f"Asked and not found: {'; '.join(gaps[:GAPS_LISTED])}{more}" if gaps else ""


def suggestion_lines(answer: Answer, escape: Escape = str, *, buttons: int, longest_label: int) -> list[str]:
    """A line for each suggestion that no button shows whole: beyond the first `buttons`, or longer than a label."""
    return [
        f"You could also ask: {escape(clip(text, QUESTION_LENGTH))}"
        for place, text in enumerate(answer.suggestions)
        if units(collapse(text)) > longest_label or place >= buttons or not answer.message_id
    ]


def _choices(answer: Answer, escape: Escape, menu_holds: int, longest_option: int) -> str:
    """Choices as a list, where menus would cut or drop some, or cannot be used."""
    fits = all(units(collapse(choice)) <= longest_option for choice in answer.choices)
    if fits and len(answer.choices) <= menu_holds and answer.message_id:
        return ""
    lines = [f"{place}. {escape(collapse(choice))}" for place, choice in enumerate(answer.choices, start=1)]
    if len(answer.choices) > menu_holds:
        lines.append(f"\nThe menus hold the first {menu_holds}; for another, write its name.")
    return "\n".join(lines)


# ---------------------------------------------------------------------- sources and passages


def source_title(citation: Citation) -> str:
    """Page and title; a document without a title goes by its file's name."""
    title = clip(citation.document_title, TITLE_LENGTH)
    name = title or clip(citation.document.rsplit("/", 1)[-1], TITLE_LENGTH) or "a document"
    return f"Page {citation.page_number} of “{name}”"


def source_path(citation: Citation) -> str:
    """`Chapter > Section`, without the document's own title; "" for none."""
    title = clip(citation.document_title, TITLE_LENGTH)
    path = [clip(part, TITLE_LENGTH) for part in citation.heading_path]
    path = path[1:] if path[:1] == [title] else path
    return clip(" > ".join(path), PATH_LENGTH) if any(path) else ""


def source_quote(citation: Citation) -> str:
    """The beginning of the quote, on one line."""
    return clip(citation.quote, QUOTE_LENGTH)


def passage_lines(text: str, longest: int) -> Iterator[str]:
    """The text's lines, without those of white space; longer ones than `longest` units are cut between words."""
    for line in clean(text).split("\n"):
        rest = line.strip()
        while rest:
            end = len(rest) if units(rest) <= longest else safe_cut(rest[: longest + 1], longest)
            space = rest.rfind(" ", 0, end) if end < len(rest) else -1
            end = space if space > 0 else end
            yield rest[:end].rstrip()
            rest = rest[end:].lstrip()


# ---------------------------------------------------------------------- references


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRow:
    """A reference in a list, as plain words."""

    label: str
    detail: str = ""  # where it is, or what is wrong with it
    summary: str = ""
    is_cited: bool = False
    is_named: bool = False  # by the question
    document_id: str | None = None


def named_reference_lines(answer: Answer, escape: Escape = str, *, most: int = SHOWN) -> list[str]:
    """A line for each document that the question named, at most `most`: `House: house.md — Where we live.`"""
    rows = [_to_row(reference, answer) for reference in _named(answer)[:most]]
    return [reference_line(row, escape) for row in rows]


def other_references_line(answer: Answer, escape: Escape = str, *, most: int = SHOWN, more: str = "") -> str:
    """What was found and not used, as one line; "" for nothing. `more` says how to see those that are only counted."""
    seen = _seen(answer)
    named = _named(answer)
    room = max(0, most - len(named))
    shown = [escape(clip(reference.label, LABEL_LENGTH) or "a document") for reference in seen[:room]]
    left = len(seen) - len(shown) + max(0, len(named) - most)
    if not shown:
        return f"And {left} more{more}" if left else ""
    return f"Also looked at: {', '.join(shown)}" + (f" and {left} more{more}" if left else "")


def hidden_reference_count(answer: Answer, most: int = SHOWN) -> int:
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
    rows = [f"{number}. {reference_line(row, escape)}" for number, row in enumerate(reference_rows(answer), start=1)]
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


def reference_line(row: ReferenceRow, escape: Escape = str) -> str:
    """`House: house.md, cited — where we live`."""
    said = f"{escape(row.label)}: {escape(row.detail)}" if row.detail else escape(row.label)
    about = f" — {escape(row.summary)}" if row.summary else ""
    return f"{said}{', cited' if row.is_cited else ''}{about}"


# ---------------------------------------------------------------------- steps and drafts


def job_tree(jobs: Sequence[Job]) -> Iterator[tuple[int, Job]]:
    """Depth (from 0) and job, depth first, children in the order given; jobs whose parent is not there are roots."""
    known = {job.id for job in jobs}
    children: dict[str | None, list[Job]] = {}
    for job in jobs:
        parent = job.parent_id if job.parent_id in known and job.parent_id != job.id else None
        children.setdefault(parent, []).append(job)
    open_jobs = [(job, 0) for job in reversed(children.get(None, []))]
    while open_jobs:
        job, depth = open_jobs.pop()
        yield depth, job
        open_jobs += [(child, depth + 1) for child in reversed(children.get(job.id, []))]


def job_line(job: Job, escape: Escape = str) -> str:
    """`✓ search “keys” (3 passages, 120 ms)`: a sign, and in words whatever is not simply done."""
    said = ", ".join(job_details(job, escape))
    words = f"{STATUS_SIGNS[job.status]} {job_title(job, escape)}"
    return f"{words} ({said})" if said else words


def job_title(job: Job, escape: Escape = str) -> str:
    """`search “keys”`."""
    asked = clip(job.asked, ASKED_LENGTH)
    name = escape(clip(job.name, ASKED_LENGTH) or job.kind.value)
    return f"{name} “{escape(asked)}”" if asked else name


def job_details(job: Job, escape: Escape = str) -> list[str]:
    """What came of it, and how long it took; its status in words, but for done."""
    passages = job.output.get("passages")
    details = [
        job.status.value if job.status is not JobStatus.DONE else "",
        f"{passages} {'passage' if passages == 1 else 'passages'}" if isinstance(passages, int) else "",
        f"try {job.attempts}" if job.attempts > 1 else "",
        took(job.duration_ms) if job.duration_ms is not None else "",
        escape(clip(job.error, ERROR_LENGTH)) if job.error else "",
    ]
    return [detail for detail in details if detail]


def earlier_steps_line(count: int) -> str:
    """For those that are left out."""
    return f"… {count} earlier {'step' if count == 1 else 'steps'}"


def remove_space_before_markers(draft: str) -> str:
    """A draft whose footnotes can be taken out without leaving a space before a point: they come with the proof."""
    return _BEFORE_NOTE.sub("", draft)


# ---------------------------------------------------------------------- room


def pack_items(items: Iterable[Item], size: Callable[[Item], int], first: int, limit: int) -> list[list[Item]]:
    """Items in order, in lists whose sizes sum up to at most `limit`; the first list has `first`.

    Only the first list may be empty: where not even one item fits into it.
    """
    lists: list[list[Item]] = [[]]
    room = first
    for item in items:
        if size(item) > room:
            lists.append([])
            room = limit
        lists[-1].append(item)
        room -= size(item)
    return lists
