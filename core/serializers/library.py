"""JSON shapes of the library: pages, documents, extracts and facts. Keys are fixed, as in objects.py."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.domain.corpus import Document, Page, PageHit, PagePlace
from core.domain.extracts import Extract, ExtractType
from core.domain.footnotes import fill_template
from core.serializers.objects import Json, citation_json, time_json
from core.text.words import shorten

if TYPE_CHECKING:
    from core.knowledge.facts import FoundFacts, KindCount, Ontology, Trouble
    from core.knowledge.library import PageView

SNIPPET_LENGTH = 300


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
        "crawled_at": time_json(document.crawled_at),
        "extracted_at": time_json(document.extracted_at),
        "failed_reason": document.failed_reason,
    }


def _surest(found: Iterable[Extract]) -> Mapping[str, object]:
    """Return the more confident one of a rule's and a model's extract; the first on a tie."""
    surest = max(found, key=lambda item: item.confidence, default=None)
    return surest.data if surest is not None else {}


def extract_json(extract: Extract) -> Json:
    return {
        "type": extract.type.value,
        "schema": extract.schema,
        "document": extract.document,
        "document_title": extract.document_title,
        "page_id": extract.page_id,
        "page_number": extract.page_number,
        "span": [extract.span.start, extract.span.end],
        "confidence": extract.confidence,
        "extractor": extract.extractor,
        "revision": extract.revision,
        "data": dict(extract.data),
    }


def troubles_json(troubles: Iterable["Trouble"]) -> list[Json]:
    """Return the failures, refusals and omissions of extractors."""
    return [{"document": item.document, "extractor": item.extractor, "reason": item.reason} for item in troubles]


def facts_json(found: "FoundFacts") -> Json:
    """`query` is the parsed query, in a form that can be run again."""
    return {
        "query": str(found.query),
        "facts": [
            {
                "type": row.fact.type.value,
                "document": row.citation.document,
                "page_number": row.fact.page_number,
                "span": [row.fact.span.start, row.fact.span.end],
                "confidence": row.fact.extract.confidence,
                "fields": dict(row.fact.fields),
                "citation": citation_json(row.citation),
            }
            for row in found.rows
        ],
        "total": found.total,
        "not_comparable": found.unknown,
    }


def ontology_json(ontology: "Ontology") -> Json:
    return {
        "entity_types": [_kind_json(item) for item in ontology.entities],
        "relation_types": [_kind_json(item) for item in ontology.relations],
        "aliases": {name: list(others) for name, others in ontology.aliases.items()},
        "extracts": {kind.value: count for kind, count in ontology.extracts.items()},
    }


def _kind_json(item: "KindCount") -> Json:
    return {"type": item.kind, "count": item.count, "examples": list(item.examples)}
