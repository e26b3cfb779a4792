"""What Slack would take and show of a message or a view: by slack_sdk's validators and by the test server's rules."""

import json
import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from slack_sdk.models.blocks import Block as SdkBlock

from bot.action_names import find_part
from bot.slackbot.layout import EACH_BLOCK, MAX_FALLBACK, MAX_MARKDOWN, TEXT_BUDGET, SlackMessage, SlackPost, View
from tests.slack_server.limits import check_blocks, check_chunks, check_view
from tests.slack_server.transcript import elements, texts
from tests.unit.bot.markdown_texts import GOOD, ZERO_WIDTH, clickable, open_fences, pings

# Names of hosts outside code, that Slack links without a scheme; and signs that it writes as others.
_HOST = re.compile(r"(?:evil|docs)\.example")
_ENTITY = re.compile(r"&(?:lt|gt|amp|#\d+);")
_MAY_BE_CLICKED = (GOOD, "https://docs.example")
_COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def assert_taken(message: SlackMessage) -> None:
    """Slack takes it, and nothing in it does harm."""
    blocks = json.loads(json.dumps(list(message.blocks)))
    assert blocks
    check_blocks(blocks)
    _check_models(blocks)
    assert sum(EACH_BLOCK + sum(map(len, _all_texts(block))) for block in blocks) <= TEXT_BUDGET
    assert sum(len(block["text"]) for block in blocks if block["type"] == "markdown") <= MAX_MARKDOWN
    assert_harmless(blocks)
    assert_plain(message.text)


def assert_fine(post: SlackPost, post_id: str | None = None) -> None:
    """Every part is taken; with a post id, it is found again as what it is, by its last block alone."""
    assert post.parts
    for number, part in enumerate(post.parts, start=1):
        assert_taken(part)
        assert find_part(part.blocks) == ((post_id, number) if post_id else None)
        assert find_part(part.blocks[:-1]) is None
        assert post_id is None or part.blocks[-1]["type"] in ("actions", "context")


def assert_view(view: View) -> None:
    check_view(dict(view))
    _check_models(list(view["blocks"]))
    assert_harmless(list(view["blocks"]))
    assert len(json.dumps(view)) <= 250_000


def assert_chunks(chunks: list[Any]) -> None:
    """Of a stream: taken, and harmless however their texts are read."""
    check_chunks(json.loads(json.dumps(chunks)))
    for chunk in chunks:
        for name in ("title", "details", "output", "text"):
            assert_neutral(str(chunk.get(name, "")))


def assert_neutral(text: str) -> None:
    assert pings(text) == []
    assert clickable(text.replace(GOOD, "")) == []
    assert _ENTITY.findall(text) == []
    assert _HOST.findall(text) == []


def assert_harmless(blocks: list[Any]) -> None:
    for block in blocks:
        if block["type"] == "markdown":
            text = block["text"]
            text.encode()
            assert text.strip(f" \n\t{ZERO_WIDTH}")
            assert pings(text) == []
            assert clickable(text) == []
            assert open_fences(text) == 0
            assert _ENTITY.findall(text) == []
            _check_markdown(text)
        for element in _literals(block):
            assert element["type"] in ("text", "link")
            assert element["text"]
            assert element["type"] == "text" or element["url"].startswith(_MAY_BE_CLICKED)


def assert_plain(text: str) -> None:
    """Of `text`: escaped, short enough, with nothing in it that pings or can be clicked."""
    assert text.strip()
    assert len(text.encode()) <= MAX_FALLBACK
    assert re.sub(r"&(?:amp|lt|gt);", "", text).count("&") == 0
    assert not set("<>") & set(text)
    read = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert pings(read) == []
    assert clickable(read) == []
    assert _ENTITY.findall(read) == []


def text_of(message: SlackMessage | View) -> str:
    """All that its blocks say, a line each, without what is invisible."""
    blocks = message.blocks if isinstance(message, SlackMessage) else message["blocks"]
    return "\n".join("".join(texts(block)) for block in blocks).replace(ZERO_WIDTH, "")


def body_of(message: SlackMessage) -> str:
    """Its Markdown; "" where it has none."""
    return "".join(block["text"] for block in message.blocks if block["type"] == "markdown")


def names_of(message: SlackMessage | View) -> list[str]:
    """Of buttons and menus, top to bottom."""
    blocks = message.blocks if isinstance(message, SlackMessage) else message["blocks"]
    return [element["action_id"] for element in elements(blocks)]


def labels_of(message: SlackMessage | View) -> list[str]:
    blocks = message.blocks if isinstance(message, SlackMessage) else message["blocks"]
    return [one["text"]["text"] for one in elements(blocks) if one["type"] == "button"]


def listed_in(message: SlackMessage) -> list[int]:
    """Numbers of the entries in its sources."""
    return [number for number, _ in sources_of(message)]


def sources_of(message: SlackMessage) -> list[tuple[int, str]]:
    """Number and words of every entry in its sources."""
    found: list[tuple[int, str]] = []
    for block in message.blocks:
        for piece in _literals(block):
            mark = re.fullmatch(r"\[(\d+)\] ", piece["text"]) if piece.get("style") else None
            if mark is not None:
                found.append((int(mark[1]), ""))
            elif found:
                found[-1] = (found[-1][0], found[-1][1] + piece["text"])
    return found


def links_of(message: SlackMessage | View) -> list[tuple[str, str]]:
    """Label and address of every link outside Markdown."""
    blocks = message.blocks if isinstance(message, SlackMessage) else message["blocks"]
    return [(one["text"], one["url"]) for block in blocks for one in _literals(block) if one["type"] == "link"]


def _check_models(blocks: list[Any]) -> None:
    for block in blocks:
        model = SdkBlock.parse(block)
        assert model is not None
        model.validate_json()
        assert model.to_dict()["type"] == block["type"]


def _check_markdown(text: str) -> None:
    """As another program reads it: only links that are allowed, and nothing in the words that could become one."""
    for token in _COMMONMARK.parse(text):
        for inner in token.children or []:
            assert inner.type not in ("html_inline", "image")
            if inner.type == "link_open":
                assert str(inner.attrs["href"]).startswith(_MAY_BE_CLICKED)
            elif inner.type == "text":
                assert _HOST.findall(inner.content) == []
                assert pings(inner.content) == []
        assert token.type != "html_block"


def _literals(value: Any) -> Iterator[Any]:
    """The texts and links of rich_text blocks."""
    if isinstance(value, dict) and value.get("type") == "rich_text":
        for element in value["elements"]:
            yield from _leaves(element)


def _leaves(element: Any) -> Iterator[Any]:
    if "elements" in element:
        assert element["elements"]
        for inner in element["elements"]:
            yield from _leaves(inner)
    else:
        yield element


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for inner in value.values():
            yield from _all_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _all_texts(inner)
