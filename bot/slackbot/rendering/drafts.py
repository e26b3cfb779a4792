"""An answer in progress: the draft, its stream chunks and the live job tree; and the tree of a finished answer."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from bot.presentation.answer_text import (
    MORE_COMING,
    NO_STEPS,
    STEPS_LABEL,
    WORKING,
    earlier_steps_line,
    job_details,
    job_line,
    job_title,
    job_tree,
    remove_space_before_markers,
)
from bot.presentation.markdown import clean, split_markdown
from bot.slackbot.rendering.answers import running_actions
from bot.slackbot.rendering.blocks import (
    FLAVOUR,
    MAX_TASK_ID,
    MAX_TASK_TEXT,
    VIEW_BUDGET,
    Block,
    Element,
    Row,
    SlackMessage,
    View,
    bullets,
    fallback,
    fitted,
    markdown,
    modal,
    rich_text,
    stack,
    text,
    unmarked,
)
from core.domain.jobs import Job, JobStatus

Chunk = Element  # of a stream, as chat.startStream and chat.appendStream take it
Step = tuple[int, str]  # depth, words
TREE_BUDGET = 1_500  # characters of the live tree; most of the rest of the message is the draft's
_DRAFT_LENGTH = 7_000
_DEEPEST = 6  # levels that are set in
_HOW_ROWS = 500  # of a view: so many elements are well within what a rich_text holds
_TASK_STATUS: Mapping[JobStatus, str] = {
    JobStatus.QUEUED: "pending",
    JobStatus.RUNNING: "in_progress",
    JobStatus.WAITING: "pending",
    JobStatus.DONE: "complete",
    JobStatus.FAILED: "error",
    JobStatus.CANCELLED: "error",
}
# Numbers of a draft are not yet those of its footnotes, and no link in it has been checked.
_DRAFT = replace(FLAVOUR, footnote=lambda number: "")
DRAFT_LENGTH = 8_000  # characters: of a longer draft its beginning is enough, the final post has it all
_BREAKER = "\u200b"
_NOTE = r"\[\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*\]"
_IN_NOTE = "0123456789,; \t"
# Every rule looks ahead within a word at most, and words are whole here: that keeps what was given once.
_PIECE = re.compile(
    rf"(?P<notes>(?:[ \t]{{0,8}}{_NOTE})+)"
    r"|[<@]|&(?=#?\w)|\](?=\()|:(?=//)|(?<=[\w-])\.(?=[^\W\d_]{2})|\\\.(?=[^\W\d_]{2})"
)


def running_message(draft: str, jobs: Sequence[Job], *, post_id: str) -> SlackMessage:
    """The draft without footnotes (numbers come with the proved answer), the steps so far, Stop and How.

    Of a draft that is longer than a message, its beginning: the final post has it all.
    """
    parts = split_markdown(remove_space_before_markers(draft), _DRAFT_LENGTH, _DRAFT)
    shown = parts[0].text if parts else f"**{WORKING}**"
    blocks: list[Block] = [markdown(shown)]
    if len(parts) > 1:
        blocks.append(rich_text(*stack([Row((text(MORE_COMING, italic=True),))])))
    if steps := _latest(_steps(jobs), TREE_BUDGET, TREE_BUDGET):
        blocks.append(rich_text(*_nested(steps)))
    return SlackMessage(text=fallback(unmarked(shown)), blocks=(*blocks, running_actions(post_id)))


def start_chunks(post_id: str) -> list[Chunk]:
    """What a stream begins with: Stop and How in a block that marks it as the post's first part, and a plan's title."""
    return [
        {"type": "blocks", "blocks": [running_actions(post_id)]},
        {"type": "plan_update", "title": WORKING},
    ]


def task_chunks(jobs: Sequence[Job]) -> list[Chunk]:
    """A task_update for every job given (those that changed); for the request itself, the plan's title."""
    return [_task(job) if job.parent_id is not None else _plan(job) for job in jobs]


def text_chunk(piece: str) -> Chunk:
    """A piece of `draft_text`, behind what was sent of it before."""
    return {"type": "markdown_text", "text": piece}


def how_view(jobs: Sequence[Job]) -> View:
    """“How this was answered”: the tree in a modal; of too many steps the latest, with the number of the others."""
    steps = _latest(_steps(jobs), VIEW_BUDGET, _HOW_ROWS)
    elements = _nested(steps) if steps else stack([Row((text(NO_STEPS),))])
    return modal(STEPS_LABEL, [rich_text(*elements)])


def _plan(job: Job) -> Chunk:
    return {"type": "plan_update", "title": STEPS_LABEL if job.status.is_final else WORKING}


def _task(job: Job) -> Chunk:
    """What came of it is said once, at its end: what is sent twice may be shown twice."""
    task = {
        "type": "task_update",
        "id": job.id if len(job.id) <= MAX_TASK_ID else hashlib.sha256(job.id.encode()).hexdigest(),
        "title": fitted(job_title(job), MAX_TASK_TEXT),
        "status": _TASK_STATUS[job.status],
    }
    output = fitted(", ".join(job_details(job)), MAX_TASK_TEXT) if job.status.is_final else ""
    return task | ({"output": output} if output else {})


def _steps(jobs: Sequence[Job]) -> list[Step]:
    return [(min(depth, _DEEPEST), job_line(job)) for depth, job in job_tree(jobs)]


def _latest(steps: Sequence[Step], most_text: int, most_rows: int) -> list[Step]:
    """All of them, or the first and the latest with their number between."""
    if sum(len(words) + 1 for _, words in steps) <= most_text and len(steps) <= most_rows:
        return list(steps)
    kept: list[Step] = []
    room = most_text - len(steps[0][1]) - 40
    for step in reversed(steps[1:]):
        room -= len(step[1]) + 1
        if room < 0 or len(kept) + 2 >= most_rows:
            break
        kept.insert(0, step)
    return [steps[0], (1, earlier_steps_line(len(steps) - len(kept) - 1)), *kept]


def _nested(steps: Iterable[Step]) -> tuple[Element, ...]:
    """A list a run of steps of one depth."""
    runs = groupby(steps, lambda step: step[0])
    return tuple(bullets((Row((text(words),)) for _, words in run), depth) for depth, run in runs)


def draft_text(text: str) -> str:
    """The draft, harmless and without footnotes, up to its last whole word, and at most DRAFT_LENGTH characters of it.

    What it gives for the beginning of a text is the beginning of what it gives for the text: a stream that was sent
    `sent` is sent `draft_text(text)[len(sent):]` next.
    """
    draft = _PIECE.sub(_harmless, _stable(clean(text)))
    return draft if len(draft) <= DRAFT_LENGTH else f"{draft[:DRAFT_LENGTH]}\n\n{MORE_COMING}"


def _stable(text: str) -> str:
    """Whole words, up to where a footnote may be in the making. White space follows them, and is left for later."""
    whole = _without_last_word(text)
    while (bracket := whole.rfind("[")) >= 0 and not whole[bracket + 1 :].strip(_IN_NOTE):
        whole = _without_last_word(whole[:bracket])
    return whole


def _without_last_word(text: str) -> str:
    """What stands before the last white space, or before the white space that it ends with."""
    if text and not text[-1].isspace():
        text = text[: -len(text.rsplit(maxsplit=1)[-1])]
    return text.rstrip()


def _harmless(match: re.Match[str]) -> str:
    """Notes go, and part what they stood between, so that it can't become one word; else a sign is set apart."""
    if match["notes"] is None:
        return f"{match[0]}{_BREAKER}"
    behind = match.string[match.end() : match.end() + 2]
    ends_word = not behind[:1].strip() or (behind[0] in ".,!?)" and not behind[1:].strip())
    return "" if ends_word else _BREAKER
