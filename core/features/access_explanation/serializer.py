"""The JSON shape of an explanation of access."""

from core.domain.conversation import ThreadAddress
from core.domain.corpus import Document
from core.domain.service import TO_THE_END
from core.features.access_explanation.values import Explanation, PositionOf, SourceReason, VerdictOn
from core.serializers.objects import Json


def explanation_json(found: Explanation) -> Json:
    """`last_page` None is the end of a document; `held` are all positions that are set, the channel's first."""
    question = found.question
    return {
        "workspace": question.workspace,
        "thread": _address(question.address) if question.address is not None else None,
        "person": question.person,
        "alone": found.alone,
        "sources": [_source(source) for source in found.sources],
        "positions": [_position(position) for position in found.positions],
        "document": _verdict(found.document) if found.document is not None else None,
    }


def _address(address: ThreadAddress) -> Json:
    return {
        "platform": address.platform,
        "workspace": address.workspace,
        "channel": address.channel,
        "thread": address.thread,
    }


def _source(source: SourceReason) -> Json:
    return {
        "source": source.name,
        "source_type": source.kind,
        "readable": source.ground.is_readable,
        "reason": source.ground.value,
        "sentence": source.sentence,
    }


def _position(position: PositionOf) -> Json:
    return {
        **_document(position.document),
        "last_page": _page(position.last_page),
        "holder": position.holder.value,
        "held": [{"holder": item.holder.value, "last_page": _page(item.last_page)} for item in position.held],
    }


def _verdict(told: VerdictOn) -> Json:
    return {
        **_document(told.document),
        "verdict": told.verdict.value,
        "reason": told.reason,
        "last_page": told.last_page,
        "chapter": told.chapter,
        "sentence": told.sentence,
        "changes": list(told.changes),
    }


def _document(document: Document) -> Json:
    return {"document": document.path, "source": document.source, "title": document.title}


def _page(last: int) -> int | None:
    return None if last == TO_THE_END else last
