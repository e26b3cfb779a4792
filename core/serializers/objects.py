"""JSON shapes of answers and jobs, shared by the command line and the API.

The design fixes their keys: add keys, never rename them.
"""

from collections.abc import Sequence
from datetime import datetime

from core.domain.answer import Answer, Citation, Reference
from core.domain.jobs import FoundText, Job, JobTree

Json = dict[str, object]


def answer_json(answer: Answer, line_id: str | None = None) -> Json:
    """The answer object; `id` only for lines of a batch."""
    return {
        **({"id": line_id} if line_id is not None else {}),
        "status": answer.status.value,
        "answer": answer.text,
        "partial": answer.partial,
        "grounded": answer.grounded,
        "unsupported": [[span.start, span.end] for span in answer.unsupported],
        "citations": [citation_json(citation) for citation in answer.citations],
        "references": [reference_json(reference) for reference in answer.references],
        "choices": list(answer.choices),
        "suggestions": list(answer.suggestions),
        "response_type": answer.response_type,
        "data": dict(answer.data) if answer.data is not None else None,
        "data_sources": list(answer.data_sources),
        "data_gaps": list(answer.data_gaps),
        "conversation_id": answer.conversation_id,
        "message_id": answer.message_id,
        "jobs": [job_json(job, answer.jobs) for job in answer.jobs],
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "cache_read_tokens": answer.usage.cache_read_tokens,
        },
        "timings_ms": {"total": 0, "retrieval": 0, "model": 0, **answer.timings_ms},
    }


def citation_json(citation: Citation) -> Json:
    return {
        "number": citation.number,
        "source": citation.source,
        "document": citation.document,
        "document_title": citation.document_title,
        "page_id": citation.page_id,
        "page_number": citation.page_number,
        "heading_path": list(citation.heading_path),
        "quote": citation.quote,
        "span": [citation.span.start, citation.span.end],
        "revision": citation.revision,
        "url": citation.url,
        "deep_link": citation.deep_link,
        "proved": citation.proved,
    }


def reference_json(reference: Reference) -> Json:
    return {
        "type": reference.type.value,
        "label": reference.label,
        "document": reference.document,
        "summary": reference.summary,
        "snippet": reference.snippet,
        "broken": reference.broken,
        "heading": reference.heading,
        "near": list(reference.near),
    }


def job_tree_json(tree: JobTree) -> list[Json]:
    """Jobs with the texts that their tools found."""
    return [{**job_json(job, tree.jobs), "found": found_json(tree.found.get(job.id, ()))} for job in tree.jobs]


def found_json(found: Sequence[FoundText]) -> list[Json]:
    return [
        {
            "page_id": item.page_id,
            "document_title": item.document_title,
            "page_number": item.page_number,
            "snippet": item.snippet,
        }
        for item in found
    ]


def job_json(job: Job, tree: Sequence[Job]) -> Json:
    """A job with the ids of its children, looked up in the tree it belongs to."""
    return {
        "id": job.id,
        "parent_id": job.parent_id,
        "children": [child.id for child in tree if child.parent_id == job.id],
        "kind": job.kind.value,
        "name": job.name,
        "status": job.status.value,
        "input": dict(job.input),
        "output": dict(job.public_output),
        "error": job.error,
        "attempts": job.attempts,
        "created_at": time_json(job.created_at),
        "started_at": time_json(job.started_at),
        "completed_at": time_json(job.completed_at),
        "duration_ms": round(job.duration_ms, 1) if job.duration_ms is not None else None,
    }


def time_json(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
