"""Tool results saved in their jobs, so that retries can reuse them. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.answer import ToolInvocation
from core.domain.jobs import Job
from core.work.steps import KEPT

if TYPE_CHECKING:
    from core.answering.tools.base import Finding, ToolContext

# A longer text is not kept but looked up again.
KEPT_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    text: str
    passage_ids: tuple[str, ...]
    searches: tuple[str, ...]


def to_digest(invocation: ToolInvocation, context: "ToolContext") -> str:
    """Return a key that two calls share if they ask the same within the same scope."""
    scope = context.scope
    decides = [
        [invocation.name, dict(invocation.arguments), scope.workspace, sorted(scope.sources)],
        [sorted(scope.positions.items()), sorted(context.document_ids), sorted(context.linked), context.rerank],
        [context.focus.document_id, *context.focus.sections] if context.focus is not None else [],
    ]
    written = json.dumps(decides, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(written.encode()).hexdigest()


def to_kept(finding: "Finding") -> dict[str, object]:
    """Return the finding for a restart, without its passages and choices (choices end the question)."""
    if finding.choices or len(finding.text) > KEPT_CHARACTERS:
        return {}
    return {KEPT: {"text": finding.text, "searches": list(finding.searches)}}


def kept_in(job: Job) -> Kept | None:
    """Return the finding that a job's output keeps, or None."""
    kept, ids = job.output.get(KEPT), job.output.get("passage_ids")
    if not isinstance(kept, Mapping) or not isinstance(ids, Sequence):
        return None
    return Kept(text=kept["text"], passage_ids=tuple(ids), searches=tuple(kept["searches"]))
