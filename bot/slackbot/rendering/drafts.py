"""An answer in progress: the draft, its stream chunks and the live job tree; and the tree of a finished answer."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from bot.presentation.answer_buttons import HOW_LABEL
from bot.presentation.answer_text import (
    MORE_COMING,
    NO_STEPS,
    STEPS_LABEL,
    WORKING,
    Step,
    job_details,
    job_steps,
    job_title,
    remove_space_before_markers,
)
from bot.presentation.markdown import clean, split_markdown
from bot.slackbot.rendering import blocks as kit
from bot.slackbot.rendering.answers import running_actions
from bot.slackbot.rendering.blocks import MAX_TASK_TEXT, Block, Element, Row, SlackMessage, View
from core.domain.jobs import Job, JobStatus

Chunk = Element  # of a stream, as chat.startStream and chat.appendStream take it
TREE_BUDGET = 1_500  # characters of the live tree; the draft has most of the message
_DRAFT_LENGTH = 7_000
_HOW_ROWS = 500  # of a view; a rich_text holds more
_TASK_STATUS: Mapping[JobStatus, str] = {
    JobStatus.QUEUED: "pending",
    JobStatus.RUNNING: "in_progress",
    JobStatus.WAITING: "pending",
    JobStatus.DONE: "complete",
    JobStatus.FAILED: "error",
    JobStatus.CANCELLED: "error",
}
# A draft's numbers aren't final, and its links aren't checked.
_DRAFT = replace(kit.FLAVOUR, footnote=lambda number: "")
DRAFT_LENGTH = 8_000  # characters; the final post has the whole text
_BREAKER = "\u200b"
_NOTE = r"\[\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*\]"
_IN_NOTE = "0123456789,; \t"
# Each rule looks ahead within one word, and words here are complete, so earlier results stay valid.
_PIECE = re.compile(
    rf"(?P<notes>(?:[ \t]{{0,8}}{_NOTE})+)"
    r"|[<@]|&(?=#?\w)|\](?=\()|:(?=//)|(?<=[\w-])\.(?=[^\W\d_]{2})|\\\.(?=[^\W\d_]{2})"
)


def running_message(draft: str, jobs: Sequence[Job], *, post_id: str) -> SlackMessage:
    """Return the draft without footnotes, the steps so far, and buttons. A long draft is cut."""
    parts = split_markdown(remove_space_before_markers(draft), _DRAFT_LENGTH, _DRAFT)
    shown = parts[0].text if parts else f"**{WORKING}**"
    blocks: list[Block] = [kit.markdown(shown)]
    if len(parts) > 1:
        blocks.append(kit.rich_text(*kit.stack([Row((kit.text(MORE_COMING, italic=True),))])))
    if steps := job_steps(jobs, most_units=TREE_BUDGET):
        blocks.append(kit.rich_text(*_nested(steps)))
    return SlackMessage(text=kit.fallback(kit.unmarked(shown)), blocks=(*blocks, running_actions(post_id)))


def start_chunks(post_id: str) -> list[Chunk]:
    """Return the first chunks of a stream: the marked buttons, and a plan's title."""
    return [
        {"type": "blocks", "blocks": [running_actions(post_id)]},
        {"type": "plan_update", "title": WORKING},
    ]


def task_chunks(jobs: Sequence[Job]) -> list[Chunk]:
    """Return a chunk for each changed job; the request's own job sets the plan's title."""
    return [
        _task(job)
        if job.parent_id is not None
        else {"type": "plan_update", "title": STEPS_LABEL if job.status.is_final else WORKING}
        for job in jobs
    ]


def text_chunk(piece: str) -> Chunk:
    """Return the next piece of `draft_text`."""
    return {"type": "markdown_text", "text": piece}


def how_view(jobs: Sequence[Job]) -> View:
    """Return a modal of the job tree; of too many steps the latest."""
    steps = job_steps(jobs, most_units=kit.VIEW_BUDGET, most_rows=_HOW_ROWS)
    elements = _nested(steps) if steps else kit.stack([Row((kit.text(NO_STEPS),))])
    return kit.modal(HOW_LABEL, [kit.rich_text(*elements)])


def _task(job: Job) -> Chunk:
    """The output is sent once, at the end: Slack may show repeated output twice."""
    task = {
        "type": "task_update",
        "id": job.id if len(job.id) <= kit.MAX_TASK_ID else hashlib.sha256(job.id.encode()).hexdigest(),
        "title": kit.fitted(job_title(job), MAX_TASK_TEXT),
        "status": _TASK_STATUS[job.status],
    }
    output = kit.fitted(", ".join(job_details(job)), MAX_TASK_TEXT) if job.status.is_final else ""
    return task | ({"output": output} if output else {})


def _nested(steps: Iterable[Step]) -> tuple[Element, ...]:
    """Return a list for each run of steps of one depth."""
    runs = groupby(steps, lambda step: step[0])
    return tuple(kit.bullets((Row((kit.text(words),)) for _, words in run), depth) for depth, run in runs)


def draft_text(text: str) -> str:
    """Return the draft, harmless and without footnotes, up to its last whole word, at most DRAFT_LENGTH characters.

    The result for a beginning of a text is a beginning of the result for the text, so a stream that was sent `sent`
    gets `draft_text(text)[len(sent):]` next.
    """
    draft = _PIECE.sub(_harmless, _stable(clean(text)))
    return draft if len(draft) <= DRAFT_LENGTH else f"{draft[:DRAFT_LENGTH]}\n\n{MORE_COMING}"


def _stable(text: str) -> str:
    """Return the whole words, up to a footnote that may be incomplete."""
    whole = _without_last_word(text)
    while (bracket := whole.rfind("[")) >= 0 and not whole[bracket + 1 :].strip(_IN_NOTE):
        whole = _without_last_word(whole[:bracket])
    return whole


def _without_last_word(text: str) -> str:
    """Return the text before its last or final white space."""
    if text and not text[-1].isspace():
        text = text[: -len(text.rsplit(maxsplit=1)[-1])]
    return text.rstrip()


def _harmless(match: re.Match[str]) -> str:
    """Replace notes by a break, so that the text around them doesn't join; break up other signs."""
    if match["notes"] is None:
        return f"{match[0]}{_BREAKER}"
    behind = match.string[match.end() : match.end() + 2]
    ends_word = not behind[:1].strip() or (behind[0] in ".,!?)" and not behind[1:].strip())
    return "" if ends_word else _BREAKER
