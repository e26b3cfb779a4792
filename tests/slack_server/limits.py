"""What Slack refuses in whole messages, streams and views."""

import re
from typing import Any

from tests.slack_server.blocks import BLOCKS, HOME, LONGEST_MARKDOWN, MESSAGE, MODAL, problems_of
from tests.slack_server.expansion import expanded_kinds, table_problems
from tests.slack_server.refusals import Refusal, invalid

JSON = dict[str, Any]

CUT_TEXT = 40_000  # characters of a posted message's text; the rest is lost
LONGEST_UPDATE = 4000  # bytes of an update's text, once & < > are escaped; public reports
# Of all text in a message's blocks, with so much for each block besides: public measurements lie at 13,297 characters
# in one block, and at 13,172 where a divider is added.
LONGEST_BLOCKS = 13_422
EACH_BLOCK = 125
LONGEST_METADATA = 8000  # bytes
STATUSES = {"pending", "in_progress", "complete", "error"}


def posted_text(text: str | None) -> str:
    return (text or "")[:CUT_TEXT]


def check_update(text: str | None) -> None:
    if len(escaped(text or "").encode()) > LONGEST_UPDATE:
        raise Refusal("msg_too_long")


def check_markdown(text: str | None) -> None:
    if len(text or "") > LONGEST_MARKDOWN:
        raise Refusal("msg_too_long")


def check_blocks(blocks: list[JSON] | None) -> list[JSON]:
    """The blocks with the ids that Slack gives those without."""
    if not blocks:
        return []
    kinds = expanded_kinds(blocks)
    problems = problems_of(blocks) + table_problems(blocks)
    if len(kinds) > BLOCKS[MESSAGE]:
        problems.append(f"no more than {BLOCKS[MESSAGE]} items allowed [json-pointer:/blocks]")
    if problems:
        raise invalid("invalid_blocks", problems)
    if EACH_BLOCK * len(kinds) + sum(map(_text_length, blocks)) > LONGEST_BLOCKS:
        raise Refusal("msg_blocks_too_long")
    return with_ids(blocks)


def with_ids(blocks: list[JSON]) -> list[JSON]:
    return [{"block_id": f"b{at}", **block} for at, block in enumerate(blocks)]


def check_metadata(metadata: JSON | None) -> JSON | None:
    if metadata is None:
        return None
    if not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise Refusal("invalid_metadata_schema")
    if len(str(metadata).encode()) > LONGEST_METADATA:
        raise Refusal("metadata_too_large")
    return metadata


def check_chunks(chunks: list[Any] | None) -> list[JSON]:
    """Of a stream: markdown_text, plan_update, task_update and blocks."""
    problems: list[str] = []
    for at, chunk in enumerate(chunks or []):
        problems += _chunk_problems(chunk, f"/chunks/{at}")
    if problems:
        raise invalid("invalid_chunks", problems)
    return list(chunks or [])


def _chunk_problems(chunk: Any, path: str) -> list[str]:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text":
        return _too_long(chunk, "text", LONGEST_MARKDOWN, path)
    if kind == "plan_update":
        return _too_long(chunk, "title", 256, path)
    if kind == "blocks":
        return problems_of(chunk.get("blocks"), path=f"{path}/blocks")
    if kind != "task_update":
        return [f"unsupported type: {kind} [json-pointer:{path}/type]"]
    wrong = _too_long(chunk, "id", 255, path) + _too_long(chunk, "title", 256, path)
    for name in ("details", "output"):
        wrong += _too_long(chunk, name, 256, path) if chunk.get(name) is not None else []
    if chunk.get("status") not in STATUSES:
        wrong.append(f"must be a valid enum value [json-pointer:{path}/status]")
    for at, source in enumerate(chunk.get("sources") or []):
        if source.get("type") != "url" or not source.get("url") or not source.get("text"):
            wrong.append(f"failed to match all allowed schemas [json-pointer:{path}/sources/{at}]")
    return wrong


def _too_long(chunk: JSON, name: str, most: int, path: str) -> list[str]:
    value = chunk.get(name)
    if not isinstance(value, str):
        return [f"missing required field: {name} [json-pointer:{path}]"]
    return [f"must be less than {most + 1} characters [json-pointer:{path}/{name}]"] if len(value) > most else []


def check_view(view: JSON) -> JSON:
    """A modal or a home tab, with the ids that Slack gives blocks without."""
    kind = view.get("type")
    problems = [] if kind in (MODAL, HOME) else ["must be a valid enum value [json-pointer:/view/type]"]
    if not problems:
        problems += problems_of(view.get("blocks"), str(kind), "/view/blocks")
    for name in ("title", "submit", "close"):
        problems += _label_problems(view, name, required=name == "title" and kind == MODAL)
    if kind == MODAL and not view.get("submit") and any(one.get("type") == "input" for one in view.get("blocks") or []):
        problems.append("when there is an input block, submit is required [json-pointer:/view/submit]")
    for name, most in (("private_metadata", 3000), ("callback_id", 255)):
        if len(view.get(name) or "") > most:
            problems.append(f"must be less than {most + 1} characters [json-pointer:/view/{name}]")
    if problems:
        raise invalid("invalid_arguments", problems)
    return {**view, "blocks": with_ids(view["blocks"])}


def _label_problems(view: JSON, name: str, *, required: bool) -> list[str]:
    label = view.get(name)
    if label is None:
        return [f"missing required field: {name} [json-pointer:/view]"] if required else []
    if not isinstance(label, dict) or label.get("type") != "plain_text":
        return [f"must be a plain_text object [json-pointer:/view/{name}]"]
    too_long = not 0 < len(label.get("text", "")) <= 24
    return [f"must be less than 25 characters [json-pointer:/view/{name}/text]"] if too_long else []


def escaped(text: str) -> str:
    """Ampersands as Slack counts them; one that begins an entity is one already."""
    return re.sub(r"&(?!amp;|lt;|gt;)", "&amp;", text)


def _text_length(value: Any) -> int:
    """All strings named `text` in a block, at any depth."""
    if isinstance(value, list):
        return sum(_text_length(one) for one in value)
    if not isinstance(value, dict):
        return 0
    own = len(value["text"]) if isinstance(value.get("text"), str) else 0
    return own + sum(_text_length(one) for one in value.values())
