"""Pages of activity: recent questions and reading in words, and the tree of one with all details of its steps.

The owner sees all of it, admins the reading of documents, others only their own questions.
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.presentation.answer_text import step_label
from bot.web.pages.documents import ago
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of, visit
from bot.web.security import is_admin, is_owner
from core.answering.redaction import Histories
from core.domain.jobs import FoundText, Job, JobKind, JobStatus, JobTree
from core.errors import NotFound
from core.text.words import shorten

RECENT = 50
LOOKED_AT = 200  # the newest jobs of all kinds, to choose from
# How long to wait for a retried question to start before showing the list of jobs instead of its tree.
BEGIN_TRIES = 20
BEGIN_PAUSE_SECONDS = 0.05
_SHORT = 160  # characters of a question in a list
_ASKED = ("question", "query", "text", "document", "name")  # best descriptions of a step, in order
_ALL = frozenset({JobKind.REQUEST, JobKind.INGEST, JobKind.SYNC})  # shown by default, with all failed jobs
_SHOWN = {
    "questions": ("Questions", frozenset({JobKind.REQUEST})),
    "documents": ("Documents", frozenset({JobKind.INGEST, JobKind.SYNC})),
    "data": ("Data", frozenset({JobKind.EXTRACTION})),
}
_WORK = {  # (during, afterwards)
    JobKind.INGEST: ("Reading {}", "Read {}"),
    JobKind.SYNC: ("Looking for changes in {}", "Looked for changes in {}"),
    JobKind.EXTRACTION: ("Collecting dates, tasks and other data", "Collected dates, tasks and other data"),
}
_STATUS_WORDS = {
    JobStatus.QUEUED: "Waiting", JobStatus.RUNNING: "Working", JobStatus.WAITING: "Trying again soon",
    JobStatus.FAILED: "Failed", JobStatus.CANCELLED: "Stopped",
}  # fmt: skip
_LONGEST_RAW = 20_000  # characters of a step's raw input or output


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A step and its children."""

    job: Job
    words: str
    status: str
    about: str
    parameters: str  # JSON, as recorded
    output: str
    share: tuple[float, float]  # start and length of its bar, in percent
    found: Sequence[FoundText]
    children: tuple["Node", ...]


def job_path(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


async def show_recent(request: web.Request) -> web.Response:
    """Show recent work, newest first: all of it, or one kind with `?show=`."""
    parts = request.app[PARTS]
    show = request.query.get("show", "")
    recent = [tree[0] for tree in await parts.jobs.recent(parts.workspace, LOOKED_AT)]
    own = await _own_conversations(request)
    roots = [root for root in recent if _may_see(request, root, own)]
    kinds = _SHOWN[show][1] if show in _SHOWN else _ALL
    is_all = show not in _SHOWN
    chosen = [root for root in roots if root.kind in kinds or (is_all and root.status is JobStatus.FAILED)]
    now = parts.clock.now()
    rows = [
        {
            "job": root,
            "about": job_words(root),
            "status": status_words(root),
            "when": ago(root.created_at, now),
            "href": job_path(root.id),
        }
        for root in chosen[:RECENT]
    ]
    tabs = [
        ("All", "/jobs", is_all),
        *((label, f"/jobs?show={key}", show == key) for key, (label, _) in _SHOWN.items()),
    ]
    live = any(not root.status.is_final for root in chosen)
    return render_template("jobs.html", request, {"rows": rows, "live": live, "tabs": tabs})


async def _own_conversations(request: web.Request) -> Collection[str]:
    """Return the IDs of the conversations that this person began; the owner needs none."""
    parts, author = request.app[PARTS], person_of(request)
    if author is None or is_owner(request):
        return ()
    return {item.id for item in await parts.conversations.list_conversations(parts.workspace, owner=author)}


def _may_see(request: web.Request, root: Job, own: Collection[str]) -> bool:
    if root.kind is JobKind.REQUEST:
        return is_owner(request) or root.input.get("conversation_id") in own
    return is_admin(request)


async def _tree(request: web.Request) -> list[Job]:
    """Return the tree of the request's job. NotFound if it isn't there for this person."""
    parts = request.app[PARTS]
    tree = await parts.jobs.tree(request.match_info["job"], parts.workspace)
    if not _may_see(request, tree[0], await _own_conversations(request)):
        raise NotFound("This job isn't there.")
    return tree


def job_words(job: Job) -> str:
    """Return the subject of a job in words: a question as it was asked, else the files or the source."""
    if job.kind is JobKind.REQUEST:
        return _about(job) or "A question"
    if job.parent_id is None and job.kind in _WORK:
        during, done = _WORK[job.kind]
        thing = f"“{job.input.get('source', 'a source')}”" if job.kind is JobKind.SYNC else _files_words(job)
        return (done if job.status is JobStatus.DONE else during).format(thing)
    return _about(job) or job.name


def _files_words(job: Job) -> str:
    given = job.input.get("names")
    names = [str(name) for name in given] if isinstance(given, list) else []
    count = job.input.get("files")
    left = (count if isinstance(count, int) else len(names)) - 2
    if not names:
        return "added files"
    if left <= 0:
        return " and ".join(names[:2])
    return f"{', '.join(names[:2])} and {left} more"


def status_words(job: Job) -> str:
    """Return the state of a job in words."""
    if job.status is JobStatus.DONE:
        return "Answered" if job.kind is JobKind.REQUEST else "Done"
    return _STATUS_WORDS[job.status]


async def show_tree(request: web.Request) -> web.Response:
    """Show the whole tree that a job belongs to."""
    tree = await _tree(request)
    parts, scope = await visit(request)
    root, shown = tree[0], await Histories(parts.conversations, parts.corpus).show_jobs(tree, scope)
    context = {
        "root": to_node(shown),
        "live": not root.status.is_final,
        "path": job_path(root.id),
        "title": job_words(root),
        "status": status_words(root),
        "is_question": root.kind is JobKind.REQUEST,
        "can_retry": root.kind is JobKind.REQUEST and root.status in (JobStatus.FAILED, JobStatus.CANCELLED),
    }
    return render_template("job.html", request, context)


async def cancel(request: web.Request) -> web.Response:
    """Stop a running request, and return to its tree."""
    parts = request.app[PARTS]
    tree = await _tree(request)
    key = tree[0].input.get("message_key")
    if isinstance(key, str) and tree[0].status is JobStatus.RUNNING:
        await parts.worker.cancel(key, await _asker(parts, tree[0]))
    else:
        await parts.jobs.cancel(tree[0].id, parts.workspace)
    raise web.HTTPSeeOther(job_path(tree[0].id))


async def _asker(parts: WebParts, request_job: Job) -> str:
    """Return the author of a request's question, on whose behalf these pages stop it."""
    conversation_id = str(request_job.input.get("conversation_id", ""))
    _, messages = await parts.conversations.show(conversation_id, parts.workspace)
    asked = request_job.input.get("message_id")
    return next((message.author for message in messages if message.id == asked), "")


async def retry(request: web.Request) -> web.Response:
    """Ask the question of a failed or cancelled request again, and open its tree."""
    parts = request.app[PARTS]
    if not is_owner(request):
        await _tree(request)
    new_job = await parts.ask_again(request.match_info["job"])
    raise web.HTTPSeeOther(job_path(new_job) if await _begins(parts, new_job) else "/jobs")


async def _begins(parts: WebParts, job_id: str) -> bool:
    """Return whether a request starts soon; earlier questions of its thread go first."""
    for _ in range(BEGIN_TRIES):
        try:
            await parts.jobs.tree(job_id, parts.workspace)
        except NotFound:
            await asyncio.sleep(BEGIN_PAUSE_SECONDS)
        else:
            return True
    return False


def to_node(tree: JobTree) -> Node:
    """Return the view of a tree, relative to the time of its root, the first job."""
    children: dict[str | None, list[Job]] = {}
    for item in tree.jobs:
        children.setdefault(item.parent_id, []).append(item)

    def node(job: Job) -> Node:
        return Node(
            job=job,
            words=_step_words(job),
            status=status_words(job),
            about=_about(job),
            parameters=_raw(job.input),
            output=_raw(job.public_output),
            share=_share(job, tree.jobs[0]),
            found=tree.found.get(job.id, ()),
            children=tuple(map(node, children.get(job.id, ()))),
        )

    return node(tree.jobs[0])


def _step_words(job: Job) -> str:
    if job.parent_id is None:
        return "Answering the question" if job.kind is JobKind.REQUEST else job_words(job)
    return step_label(job) or job.name


def _about(job: Job) -> str:
    for name in _ASKED:
        value = job.input.get(name)
        if isinstance(value, str) and value.strip():
            return shorten(value, _SHORT)
    return ""


def _raw(values: Mapping[str, object]) -> str:
    if not values:
        return ""
    text = json.dumps(dict(values), indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_RAW else f"{text[:_LONGEST_RAW]}\n… (cut: {len(text)} characters)"


def _share(job: Job, root: Job) -> tuple[float, float]:
    """Return (start, length) of a job in percent of its root's time; length 0 while either runs."""
    whole = root.duration_ms
    if not whole or job.started_at is None or root.started_at is None or job.duration_ms is None:
        return (0.0, 0.0)
    begin = (job.started_at - root.started_at).total_seconds() * 1000
    return (round(100 * begin / whole, 1), round(max(100 * job.duration_ms / whole, 0.5), 1))


ROUTES = (
    web.get("/jobs", show_recent),
    web.get("/jobs/{job:.+}", show_tree),
    web.post("/jobs/{job:.+}/cancel", cancel),
    web.post("/jobs/{job:.+}/retry", retry),
)
