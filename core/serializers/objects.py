"""The JSON shapes that the command line, the API and exports share. The design fixes their keys: add, never rename."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from core.domain.answer import Answer, Citation, Reference
from core.domain.conversation import Conversation, Focus, Message
from core.domain.corpus import Document, Page, PageHit, PagePlace, fill_template
from core.domain.extracts import Extract, ExtractType
from core.domain.jobs import Job
from core.text.words import shorten

if TYPE_CHECKING:
    from core.knowledge.library import PageView

Json = dict[str, object]
SNIPPET_LENGTH = 300


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
        "output": dict(job.told),
        "error": job.error,
        "attempts": job.attempts,
        "created_at": _time(job.created_at),
        "started_at": _time(job.started_at),
        "completed_at": _time(job.completed_at),
        "duration_ms": round(job.duration_ms, 1) if job.duration_ms is not None else None,
    }


def page_hit_json(hit: PageHit, summaries: Sequence[Extract] = ()) -> Json:
    """`summaries` are extracts of type page, of any pages."""
    said = _surest(item for item in summaries if item.page_id == hit.page_id)
    best = hit.passages[0] if hit.passages else None
    title = hit.heading_path[0] if hit.heading_path else ""
    return {
        "document": hit.document.path,
        "document_title": hit.document.title,
        "page_id": hit.page_id,
        "page_number": hit.page_number,
        "heading_path": list(hit.heading_path),
        "snippet": shorten(best.passage.text, SNIPPET_LENGTH) if best else "",
        "summary": said.get("summary", ""),
        "topics": said.get("topics", []),
        "matches": len(hit.passages),
        "score": round(hit.score, 4),
        "url": fill_template(
            hit.document.url, hit.document.path, hit.page_number, title, best.deep_link if best else None
        ),
    }


def page_json(view: "PageView", extracts: Sequence[Extract] = ()) -> Json:
    """`previous` and `next` are page IDs, None at the ends. `extracts` belong to the page."""
    document, page = view.document, view.page
    by_type = {kind: [dict(item.data) for item in extracts if item.type is kind] for kind in ExtractType}
    said = _surest(item for item in extracts if item.type is ExtractType.PAGE)
    return {
        "page_id": page.id,
        "document": document.path,
        "document_title": document.title,
        "source": document.source,
        "page_number": page.number,
        **_place_json(page),
        "heading_path": [*page.heading_path, *([page.title] if page.title else [])],
        "text": page.text,
        "summary": said.get("summary", ""),
        "topics": said.get("topics", []),
        "entities": by_type[ExtractType.ENTITY],
        "relations": by_type[ExtractType.RELATION],
        "anchors": _anchors_json(page, extracts),
        "revision": page.revision,
        "url": view.url,
        "deep_link": view.deep_link,
        "previous": view.previous,
        "next": view.next,
    }


def _place_json(page: Page) -> Json:
    """Return the page's place in its book; "" and None if the book has none."""
    place = page.place or PagePlace()
    return {
        "label": place.label,
        "part": place.part,
        "chapter": place.chapter,
        "chapter_title": place.chapter_title,
        "session_date": place.session_date,
    }


def _anchors_json(page: Page, extracts: Sequence[Extract]) -> list[Json]:
    """Return the reader's and the extractors' values in text order, without duplicates."""
    anchors: dict[tuple[str, int], Json] = {
        (name, start): {"name": name, "start": start} for name, start in page.anchors
    }
    for item in extracts:
        if item.type is ExtractType.ANCHOR:
            key = str(item.data["name"]), item.span.start
            anchors[key] = {"name": key[0], "start": key[1], "kind": item.data["kind"], "caption": item.data["caption"]}
    return [anchors[key] for key in sorted(anchors, key=lambda key: (key[1], key[0]))]


def document_json(document: Document) -> Json:
    return {
        "document": document.path,
        "source": document.source,
        "source_type": document.source_kind,
        "source_url": document.url,
        "title": document.title,
        "kind": document.kind,
        "revision": document.revision,
        "pages": document.pages,
        "passages": document.passages,
        "crawled_at": _time(document.crawled_at),
        "extracted_at": _time(document.extracted_at),
        "failed_reason": document.failed_reason,
    }


def _surest(found: Iterable[Extract]) -> Mapping[str, object]:
    """Return the more confident one of a rule's and a model's extract; the first on a tie."""
    surest = max(found, key=lambda item: item.confidence, default=None)
    return surest.data if surest is not None else {}


def conversation_json(conversation: Conversation, messages: Sequence[Message] | None = None) -> Json:
    """A conversation as listed; with `messages`, as shown."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "thread": str(conversation.address),
        "owner": conversation.owner,
        "focus": _focus_json(conversation.focus),
        "message_count": conversation.message_count,
        "created_at": _time(conversation.created_at),
        "last_message_at": _time(conversation.last_message_at),
        **({"messages": [message_json(message) for message in messages]} if messages is not None else {}),
    }


def message_json(message: Message) -> Json:
    return {
        "id": message.id,
        "role": message.role.value,
        "author": message.author,
        "content": message.content,
        "created_at": _time(message.created_at),
        "references": [reference_json(reference) for reference in message.references],
        "citations": [citation_json(citation) for citation in message.citations],
        "tool_calls": [
            {
                "tool": call.invocation.name,
                "arguments": dict(call.invocation.arguments),
                "result": call.text,
                "passages": list(call.passage_ids),
                "error": call.is_error,
            }
            for call in message.tool_calls
        ],
        "stale": message.stale,
        **({"note_on": list(message.outcome.note_on)} if message.is_note and message.outcome else {}),
    }


def _focus_json(focus: Focus | None) -> Mapping[str, object] | None:
    if focus is None:
        return None
    return {"document": focus.document, "title": focus.title, "sections": list(focus.sections)}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
