"""Pages of jobs: recent requests, and the tree of an answer with each step's time, parameters and raw output."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.parts import PARTS, WebParts
from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import NotFound
from core.text.words import shorten

RECENT = 50
# How long to wait for a retried question to start before showing the list of jobs instead of its tree.
BEGIN_TRIES = 20
BEGIN_PAUSE_SECONDS = 0.05
_SHORT = 160  # characters of a question in a list
_ASKED = ("question", "query", "text", "document", "name")  # best descriptions of a step, in order
_LONGEST_RAW = 20_000  # characters of a step's raw input or output


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A step and its children."""

    job: Job
    about: str
    parameters: str  # JSON, as recorded
    output: str
    share: tuple[float, float]  # start and length of its bar, in percent
    children: tuple["Node", ...]


def job_path(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


async def show_recent(request: web.Request) -> web.Response:
    """Show requests, newest first."""
    parts = request.app[PARTS]
    trees = await parts.jobs.recent(parts.workspace, RECENT)
    rows = [
        {"job": root, "about": _about(root) or root.name, "steps": len(below), "href": job_path(root.id)}
        for root, *below in trees
    ]
    live = any(not tree[0].status.is_final for tree in trees)
    return render_template("jobs.html", request, {"rows": rows, "live": live})


async def show_tree(request: web.Request) -> web.Response:
    """Show the whole tree that a job belongs to."""
    parts = request.app[PARTS]
    tree = await parts.jobs.tree(request.match_info["job"], parts.workspace)
    root = tree[0]
    context = {
        "root": to_node(tree),
        "live": not root.status.is_final,
        "path": job_path(root.id),
        "can_retry": root.kind is JobKind.REQUEST and root.status in (JobStatus.FAILED, JobStatus.CANCELLED),
    }
    return render_template("job.html", request, context)


async def cancel(request: web.Request) -> web.Response:
    """Stop a running request, and return to its tree."""
    parts = request.app[PARTS]
    tree = await parts.jobs.tree(request.match_info["job"], parts.workspace)
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


def to_node(tree: Sequence[Job]) -> Node:
    """Return the view of a tree, relative to the time of its root, the first job."""
    children: dict[str | None, list[Job]] = {}
    for item in tree:
        children.setdefault(item.parent_id, []).append(item)

    def node(job: Job) -> Node:
        return Node(
            job=job,
            about=_about(job),
            parameters=_raw(job.input),
            output=_raw(job.public_output),
            share=_share(job, tree[0]),
            children=tuple(map(node, children.get(job.id, ()))),
        )

    return node(tree[0])


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
