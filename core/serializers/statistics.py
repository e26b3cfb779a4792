"""The JSON shape of statistics."""

from core.domain.corpus import Document
from core.domain.features import Statistics
from core.serializers.objects import Json


def statistics_json(found: Statistics) -> Json:
    """Lists are cut as they are in `found`; counts are of all."""
    return {
        "since": found.since.isoformat(),
        "questions": found.questions,
        "by_status": {status.value: count for status, count in found.by_status.items()},
        "helpful": found.helpful,
        "not_helpful": found.not_helpful,
        "usage": {
            "input_tokens": found.usage.input_tokens,
            "output_tokens": found.usage.output_tokens,
            "cache_read_tokens": found.usage.cache_read_tokens,
            "cache_hit_rate": found.cache_hit_rate,
        },
        "documents": found.documents,
        "most_cited": [{**_document(item.document), "answers": item.answers} for item in found.most_cited],
        "never_cited": [_document(item) for item in found.never_cited],
        "never_cited_count": found.never_cited_count,
        "gaps": [
            {"questions": list(gap.questions), "count": gap.count, "last_asked_at": gap.last_asked_at.isoformat()}
            for gap in found.gaps
        ],
    }


def _document(document: Document) -> Json:
    return {"document": document.path, "source": document.source, "title": document.title}
