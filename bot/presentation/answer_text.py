"""The texts of an answer, its sources, references and steps, the same on every platform. Pure.

Texts are plain. Functions that combine several pieces escape each one with `escape`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from bot.presentation.markdown import clean, clip, safe_cut, units
from core.answering.answers.sentences import has_sentence, say
from core.answering.grounding import UNSUPPORTED_NOTE
from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.channels import is_said
from core.domain.jobs import Job, JobKind, JobStatus
from core.knowledge.references.lists import SHOWN, direct_of, looked_at
from core.text.notation import took
from core.text.words import collapse

SourceLink = Callable[[Citation], str | None]  # returns the address of a footnote, or None
Escape = Callable[[str], str]
Item = TypeVar("Item")
Step = tuple[int, str]  # depth from 0, text

# Units. Heading, path and quote of one entry always fit into one message.
TITLE_LENGTH = 100
PATH_LENGTH = 160
GAP_LENGTH = 100
ASKED_LENGTH = 80
ERROR_LENGTH = 160
GAPS_LISTED = 10
DEEPEST_STEP = 6  # indented levels

LABEL_LENGTH = 80  # units
SUMMARY_LENGTH = 100
ALL_REFERENCES_LABEL = "Also looked at"
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
_RATED_STATUSES = (AnswerStatus.ANSWERED, AnswerStatus.NOT_FOUND)
_STEP_WORDS = {
    "search": "Searching the documents",
    "get_page": "Reading a page",
    "find_extracts": "Looking up extracted data",
    "query_table": "Reading a table",
    "query_journal": "Reading a journal",
    "follow_relation": "Following links",
    "get_ontology": "Looking at how the documents are connected",
    "read a section": "Reading a section",
    "read what was said before": "Reading what was said before",
    "summarise earlier questions": "Reading what was said before",
    "look up references": "Reading the documents that you named",
    "sum up references": "Describing the documents it looked at",
    "verify": "Checking the quotes",
}
_STEP_WORDS_ABOUT = {
    "search": "Searching for",
    "find_extracts": "Looking up",
    "query_table": "Reading a table for",
    "query_journal": "Reading the journal for",
    "follow_relation": "Following links from",
}
_KIND_WORDS = {JobKind.PLANNING: "Choosing what to read", JobKind.SYNTHESIS: "Writing the answer"}
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
_BEFORE_NOTE = re.compile(r"(?<![ \t])[ \t]++(?=\[\d{1,3}\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteContext:
    """The page's text before and after a quote: "" at the page's ends, with “…” if there is more."""

    before: str = ""
    behind: str = ""
    note: str = ""  # "changed since this answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadItem:
    """A conversation in a list."""

    title: str
    detail: str = ""  # "12 messages, last used 2026-11-20"
    url: str | None = None


# ---------------------------------------------------------------------- text and notes


def can_be_rated(answer: Answer) -> bool:
    return answer.status in _RATED_STATUSES and answer.searched


def answer_markdown(answer: Answer, escape: Escape, *, menu_holds: int, longest_option: int) -> str:
    """Return status, text, notes, choices that don't fit into menus, and gaps, as Markdown; not yet harmless.

    Menus hold `menu_holds` choices of at most `longest_option` units.
    """
    said = collapse(answer.text).lower()
    status = _STATUS_LINES.get(answer.status, "") if answer.searched else ""
    pieces = [f"**{status}**" if status and not said.startswith(status.lower()) else "", answer.text.strip("\n")]
    if not any(piece.strip() for piece in pieces):
        pieces = [NO_TEXT]
    if answer.partial and not has_sentence("partial", answer.text):
        pieces.append(say("partial"))
    if answer.unsupported and UNSUPPORTED_NOTE not in answer.text:
        pieces.append(UNSUPPORTED_NOTE)
    pieces.append(_choices(answer, escape, menu_holds, longest_option))
    pieces += [*broken_reference_lines(answer, escape), gaps_line(answer, escape)]
    return "\n\n".join(piece for piece in pieces if piece.strip())


def ask_again_label(question: str, *, alone: bool) -> str:
    """Return the label that asks a stale answer's question again; one of several names the question."""
    return "Ask again" if alone else f"Ask again: {collapse(question)}"


def gaps_line(answer: Answer, escape: Escape = str) -> str:
    """Return the gaps on one line; "" without gaps, or if the text names them."""
    gaps = [escape(clip(gap, GAP_LENGTH)) for gap in answer.data_gaps if gap not in answer.text]
    more = f" and {len(gaps) - GAPS_LISTED} more" if len(gaps) > GAPS_LISTED else ""
    return f"Asked and not found: {'; '.join(gaps[:GAPS_LISTED])}{more}" if gaps else ""


def _choices(answer: Answer, escape: Escape, menu_holds: int, longest_option: int) -> str:
    """Return the choices as a list if they don't fit into menus; else ""."""
    fits = all(units(collapse(choice)) <= longest_option for choice in answer.choices)
    if fits and len(answer.choices) <= menu_holds and answer.message_id:
        return ""
    lines = [f"{place}. {escape(collapse(choice))}" for place, choice in enumerate(answer.choices, start=1)]
    if len(answer.choices) > menu_holds:
        lines.append(f"\nThe menus hold the first {menu_holds}; for another, write its name.")
    return "\n".join(lines)


# ---------------------------------------------------------------------- sources and passages


def source_title(citation: Citation) -> str:
    """Return page and title; the file name if there is no title; of a message in a channel, who said it."""
    if is_said(citation.document):
        return clip(citation.heading_path[-1], TITLE_LENGTH)
    title = clip(citation.document_title, TITLE_LENGTH)
    name = title or clip(citation.document.rsplit("/", 1)[-1], TITLE_LENGTH) or "a document"
    return f"Page {citation.page_number} of “{name}”"


def source_path(citation: Citation) -> str:
    """Return `Chapter > Section`, without the document's own title; "" if there is no path."""
    if is_said(citation.document):
        return ""
    title = clip(citation.document_title, TITLE_LENGTH)
    path = [clip(part, TITLE_LENGTH) for part in citation.heading_path]
    path = path[1:] if path[:1] == [title] else path
    return clip(" > ".join(path), PATH_LENGTH) if any(path) else ""


def passage_lines(text: str, longest: int) -> Iterator[str]:
    """Yield the text's lines, without blank ones; cut lines longer than `longest` units between words."""
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
    """A reference in a list, as plain text."""

    label: str
    detail: str = ""  # its path, or its fault
    summary: str = ""
    is_cited: bool = False
    is_named: bool = False  # in the question
    document_id: str | None = None


def named_reference_lines(answer: Answer, escape: Escape = str) -> list[str]:
    """Return a line for each document named in the question, at most ten: `House: house.md — Where we live.`"""
    rows = [_to_row(reference, answer) for reference in _named(answer)[:SHOWN]]
    return [reference_line(row, escape) for row in rows]


def broken_reference_lines(answer: Answer, escape: Escape = str) -> list[str]:
    """Return a line for each document named in the question that leads nowhere, with its suggestions."""
    rows = [_to_row(reference, answer) for reference in _named(answer)[:SHOWN] if reference.broken or reference.near]
    return [reference_line(row, escape) for row in rows]


def has_other_references(answer: Answer) -> bool:
    """Return whether documents were named in the question, or looked at and not cited."""
    return bool(_named(answer) or _seen(answer))


def reference_rows(answer: Answer) -> list[ReferenceRow]:
    """Return all references: named, cited, looked at, in this order."""
    named, seen = _named(answer), _seen(answer)
    told = {id(reference) for reference in (*named, *seen)}
    cited = [reference for reference in answer.references if id(reference) not in told]
    return [_to_row(reference, answer) for reference in _once([*named, *cited, *seen])]


def references_markdown(answer: Answer, escape: Escape) -> str:
    """Return all references as a Markdown list; only the pieces given to `escape` are harmless yet."""
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
    """Return `House#Keys` for `[[House#Keys]]`."""
    link = _WIKILINK.fullmatch(label)
    return link[1] if link else label


def reference_line(row: ReferenceRow, escape: Escape = str) -> str:
    """Return `House: house.md, cited — where we live`."""
    said = f"{escape(row.label)}: {escape(row.detail)}" if row.detail else escape(row.label)
    about = f" — {escape(row.summary)}" if row.summary else ""
    return f"{said}{', cited' if row.is_cited else ''}{about}"


# ---------------------------------------------------------------------- steps and drafts


def job_tree(jobs: Sequence[Job]) -> Iterator[tuple[int, Job]]:
    """Yield depth (from 0) and job, depth first, siblings in the given order; jobs without their parent are roots."""
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
    """Return `✓ Searching for “keys” (3 passages, 120 ms)`."""
    said = ", ".join(job_details(job, escape))
    words = f"{STATUS_SIGNS[job.status]} {job_title(job, escape)}"
    return f"{words} ({said})" if said else words


def step_label(job: Job) -> str:
    """Describe a kind of step in words; "" for kinds without meaning to readers."""
    return _STEP_WORDS.get(job.name) or _KIND_WORDS.get(job.kind, "")


def step_words(job: Job, escape: Escape = str) -> str:
    """Return `Searching for “keys”`; "" for steps that mean nothing to readers."""
    about = _STEP_WORDS_ABOUT.get(job.name) if job.kind is JobKind.TOOL and job.asked else None
    return f"{about} “{escape(clip(job.asked, ASKED_LENGTH))}”" if about else step_label(job)


def job_title(job: Job, escape: Escape = str) -> str:
    """Return a step in words, or its name: `answer “Where are the keys?”`."""
    if words := step_words(job, escape):
        return words
    asked = clip(job.asked, ASKED_LENGTH)
    name = escape(clip(job.name, ASKED_LENGTH) or job.kind.value)
    return f"{name} “{escape(asked)}”" if asked else name


def job_details(job: Job, escape: Escape = str) -> list[str]:
    """Return a job's result, duration and error, and its status unless it is done."""
    passages = job.output.get("passages")
    details = [
        job.status.value if job.status is not JobStatus.DONE else "",
        f"{passages} {'passage' if passages == 1 else 'passages'}" if isinstance(passages, int) else "",
        f"try {job.attempts}" if job.attempts > 1 else "",
        took(job.duration_ms) if job.duration_ms is not None else "",
        escape(clip(job.error, ERROR_LENGTH)) if job.error else "",
    ]
    return [detail for detail in details if detail]


def job_steps(
    jobs: Sequence[Job], escape: Escape = str, *, most_units: float = inf, most_rows: float = inf
) -> list[Step]:
    """Return the steps, parents first; of too many the first and the latest, with a line that counts the others."""
    steps = [(min(depth, DEEPEST_STEP), job_line(job, escape)) for depth, job in job_tree(jobs)]
    if sum(map(_step_size, steps)) <= most_units and len(steps) <= most_rows:
        return steps
    kept: list[Step] = []
    room = most_units - _step_size(steps[0]) - 40
    for step in reversed(steps[1:]):
        room -= _step_size(step)
        if room < 0 or len(kept) + 2 >= most_rows:
            break
        kept.insert(0, step)
    left_out = len(steps) - len(kept) - 1
    return [steps[0], (1, f"… {left_out} earlier {'step' if left_out == 1 else 'steps'}"), *kept]


def _step_size(step: Step) -> int:
    return 2 * step[0] + units(step[1]) + 3  # indentation, bullet and line end


def remove_space_before_markers(draft: str) -> str:
    """Return a draft without spaces before its markers, so that they can be removed: footnotes come with the proof."""
    return _BEFORE_NOTE.sub("", draft)


# ---------------------------------------------------------------------- room


def pack_items(items: Iterable[Item], size: Callable[[Item], int], first: int, limit: int) -> list[list[Item]]:
    """Return the items in order, in lists with a total size of at most `limit`; `first` for the first list.

    The first list is empty if its first item doesn't fit; others never are.
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
