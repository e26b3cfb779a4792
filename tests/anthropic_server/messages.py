"""From a script and a request to a message, its usage, and its stream of events."""

import hashlib
import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from tests.anthropic_server.script import Call, Cite, Reply, Say, Think
from tests.anthropic_server.validation import merged_turns, search_results

Json = dict[str, Any]

CHARS_PER_TOKEN = 4  # good enough to compare counts


LOOKBACK_BLOCKS = 20  # before a breakpoint, where the API looks for an earlier prefix


class PromptCache:
    """Remembers prefixes by their breakpoints, as the API's cache does (without its minimum length and its time).

    A prefix of messages also depends on `tool_choice`, that of tools and system does not.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def clear(self) -> None:
        """Forget all prefixes, as after a pause."""
        self._seen.clear()

    def usage(self, body: Json) -> Json:
        """Input token counts of a request; its prefixes are remembered."""
        texts, marks = _prefix_pieces(body)
        totals = [0, *accumulate(len(text) // CHARS_PER_TOKEN for text in texts)]
        keys = _prefix_keys(texts, len(texts) - sum(map(len, _contents(body))), body.get("tool_choice"))
        found = {end for mark in marks for end in range(max(1, mark - LOOKBACK_BLOCKS), mark + 1)}
        read = max((totals[end] for end in found if keys[end] in self._seen), default=0)
        cached = totals[max(marks)] if marks else 0
        self._seen.update(keys[end] for end in marks)
        return {
            "input_tokens": totals[-1] - max(cached, read),
            "cache_creation_input_tokens": max(0, cached - read),
            "cache_read_input_tokens": read,
        }


def _prefix_keys(texts: list[str], before_messages: int, tool_choice: Json | None) -> list[str]:
    """A key for the prefix that ends behind each block; the first is of nothing."""
    digest = hashlib.sha256()
    keys = [digest.hexdigest()]
    for place, text in enumerate(texts):
        if place == before_messages:
            digest.update(json.dumps(tool_choice or {"type": "auto"}).encode())
        digest.update(f"{text}\x1f".encode())
        keys.append(digest.hexdigest())
    return keys


def count_tokens(body: Json) -> int:
    return sum(len(text) // CHARS_PER_TOKEN for text in _prefix_pieces(body)[0])


def build_content(reply: Reply, body: Json, first_id: int) -> list[Json]:
    """Finished content blocks; citations come from the request's own search results."""
    turns = merged_turns(body["messages"])
    blocks: list[Json] = []
    for number, part in enumerate(reply.parts, first_id):
        match part:
            case Say():
                block: Json = {"type": "text", "text": part.text}
                if part.cites:
                    block["citations"] = [_citation(cite, search_results(turns)) for cite in part.cites]
                blocks.append(block)
            case Call():
                name = part.id or f"toolu_{number:04}"
                blocks.append({"type": "tool_use", "id": name, "name": part.name, "input": dict(part.arguments)})
            case Think():
                blocks.append({"type": "thinking", "thinking": part.text, "signature": f"sig-{number}"})
    return blocks


def stop_reason_of(reply: Reply) -> str:
    return reply.stop_reason or ("tool_use" if any(isinstance(p, Call) for p in reply.parts) else "end_turn")


def stream_blocks(reply: Reply, content: list[Json]) -> Iterator[list[Json]]:
    """The events of each content block."""
    for index, (part, block) in enumerate(zip(reply.parts, content, strict=True)):
        yield [
            {"type": "content_block_start", "index": index, "content_block": _empty(block)},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in _deltas(part, block)),
            {"type": "content_block_stop", "index": index},
        ]


def _citation(cite: Cite, results: list[Json]) -> Json:
    for number, result in enumerate(results):
        texts = [block["text"] for block in result["content"]]
        at = "".join(texts).find(cite.quote)
        if at >= 0 and result["citations"]["enabled"]:
            ends = list(accumulate(len(text) for text in texts))
            first = next(i for i, end in enumerate(ends) if at < end)
            last = next(i for i, end in enumerate(ends) if at + len(cite.quote) <= end)
            return {
                "type": "search_result_location",
                "source": result["source"],
                "title": result["title"],
                "cited_text": "".join(texts[first : last + 1]),
                "search_result_index": number,
                "start_block_index": first,
                "end_block_index": last + 1,
                **cite.overrides,
            }
    raise AssertionError(f"the script cites {cite.quote!r}, which no search result of the request holds")


def _empty(block: Json) -> Json:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "tool_use":
            return {**block, "input": {}}
        case _:
            return {"type": "thinking", "thinking": "", "signature": ""}


def _deltas(part: Say | Call | Think, block: Json) -> Iterator[Json]:
    match part:
        case Say():
            for citation in block.get("citations", []):
                yield {"type": "citations_delta", "citation": citation}
            for piece in part.pieces or re.findall(r"\S+\s*|\s+", part.text):
                yield {"type": "text_delta", "text": piece}
        case Call():
            text = json.dumps(block["input"])
            half = len(text) // 2
            yield {"type": "input_json_delta", "partial_json": text[:half]}
            if not part.cut:
                yield {"type": "input_json_delta", "partial_json": text[half:]}
        case Think():
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}


def _prefix_pieces(body: Json) -> tuple[list[str], list[int]]:
    """The request's blocks as texts, in cache order, and after which of them a breakpoint stands."""
    system = body.get("system", [])
    blocks = [*body.get("tools", []), *([{"text": system}] if isinstance(system, str) else system)]
    roles = [turn["role"] for turn in merged_turns(body["messages"])]
    for role, content in zip(roles, _contents(body), strict=True):
        blocks += [{**block, "role": role} for block in content]
    texts = [json.dumps({k: v for k, v in block.items() if k != "cache_control"}) for block in blocks]
    return texts, [end for end, block in enumerate(blocks, 1) if block.get("cache_control")]


def _contents(body: Json) -> list[list[Json]]:
    """The blocks of each turn."""
    return [turn["content"] for turn in merged_turns(body["messages"])]
