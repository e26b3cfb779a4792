"""JSON shapes of extracts: data rows, the result of a facts query, and the kinds of extracts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.domain.extracts import Extract
from core.serializers.objects import Json, citation_json

if TYPE_CHECKING:
    from core.knowledge.facts import FoundFacts, KindCount, Ontology, Trouble


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
