"""A received message as the JSON of its inbox row, and back. Rows of earlier versions lack what came later."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from core.domain.answer import QueryType
from core.domain.conversation import Attachment, Circumstances, IncomingMessage, RepliesTo, Talk, ThreadAddress


def to_payload(incoming: IncomingMessage) -> dict[str, Any]:
    payload = asdict(incoming)
    if incoming.about is not None:
        payload["about"]["said_at"] = incoming.about.said_at.isoformat()
    return payload


def from_payload(payload: Mapping[str, Any]) -> IncomingMessage:
    values = {
        **payload,
        "address": ThreadAddress(**payload["address"]),
        "query_type": QueryType(payload["query_type"]),
        "circumstances": _circumstances(payload.get("circumstances")),
        "attachments": tuple(Attachment(**item) for item in payload.get("attachments", ())),
        "about": _talk(payload.get("about")),
    }
    return IncomingMessage(**values)


def _circumstances(values: Mapping[str, Any] | None) -> Circumstances:
    if values is None:
        return Circumstances()
    return Circumstances(**{**values, "replies_to": RepliesTo(values["replies_to"])})


def _talk(values: Mapping[str, Any] | None) -> Talk | None:
    if values is None:
        return None
    return Talk(**{**values, "said_at": datetime.fromisoformat(values["said_at"])})
