"""What Slack would take and show of a message or a view: by slack_sdk's validators and by the test server's rules."""

import json
import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from slack_sdk.models.blocks import Block as SdkBlock

from bot.presentation.action_names import find_part
from bot.slackbot.rendering.blocks import (
    EACH_BLOCK,
    MAX_FALLBACK,
    TEXT_BUDGET,
    SlackMessage,
    SlackPost,
    View,
)
from tests.slack_server.limits import check_blocks, check_chunks, check_view
from tests.slack_server.transcript import elements, texts
from tests.unit.bot.markdown_texts import GOOD, ZERO_WIDTH, clickable, open_fences, pings

# Names of hosts outside code, that Slack links without a scheme; and signs that it writes as others.
_HOST = re.compile(r"(?:evil|docs)\.example")
_ENTITY = re.compile(r"&(?:lt|gt|amp|#\d+);")
_MAY_BE_CLICKED = (GOOD, "https://docs.example")
_MAX_MARKDOWN = 12_000  # characters of all markdown blocks of a message
_COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def faults_of(post: SlackPost, post_id: str | None = None) -> list[str]:
    """What is wrong with a post: with its messages, and with what they are found again as, by their last block alone.

    Without `post_id` none has an id. Like all of these, fails where slack_sdk or the test server refuses something.
    """
    found = [] if post.parts else ["no parts"]
    for number, part in enumerate(post.parts, start=1):
        found += faults_of_message(part)
        if find_part(part.blocks) != ((post_id, number) if post_id else None):
            found.append(f"part {number} is found as {find_part(part.blocks)}")
        if find_part(part.blocks[:-1]) is not None:
            found.append(f"part {number} is found without its last block")
        if post_id is not None and part.blocks[-1]["type"] not in ("actions", "context"):
            found.append(f"part {number} ends in {part.blocks[-1]['type']}")
    return found


def faults_of_message(message: SlackMessage) -> list[str]:
    """Texts longer than Slack takes together, and harm in what it shows or reads aloud."""
    blocks = json.loads(json.dumps(list(message.blocks)))
    check_blocks(blocks)
    _check_models(blocks)
    long = {
        "no blocks": not blocks,
        "long texts": sum(EACH_BLOCK + sum(map(len, _all_texts(block))) for block in blocks) > TEXT_BUDGET,
        "long Markdown": sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > _MAX_MARKDOWN,
    }
    return [*_named(long), *_harm_in_blocks(blocks), *faults_of_fallback(message.text)]


def faults_of_view(view: View) -> list[str]:
    """As of a message."""
    check_view(dict(view))
    _check_models(list(view["blocks"]))
    return [*_named({"a long view": len(json.dumps(view)) > 250_000}), *_harm_in_blocks(list(view["blocks"]))]


def harm_in_chunks(chunks: list[Any]) -> list[str]:
    """Of a stream: however their texts are read."""
    check_chunks(json.loads(json.dumps(chunks)))
    names = ("title", "details", "output", "text")
    return [harm for chunk in chunks for name in names for harm in harm_in_text(str(chunk.get(name, "")))]


def harm_in_text(text: str) -> list[str]:
    """What would ping, could be clicked, or is read as a sign, but for the one good address."""
    return [*pings(text), *clickable(text.replace(GOOD, "")), *_ENTITY.findall(text), *_HOST.findall(text)]


def faults_of_fallback(text: str) -> list[str]:
    """Of `text`: it has to say something, be escaped and short enough; and what pings or can be clicked."""
    read = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    wrong = {
        "no words": not text.strip(),
        "a long text": len(text.encode()) > MAX_FALLBACK,
        "not escaped": "&" in re.sub(r"&(?:amp|lt|gt);", "", text) or bool(set("<>") & set(text)),
    }
    return [*_named(wrong), *pings(read), *clickable(read), *_ENTITY.findall(read)]


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


def sources_of(message: SlackMessage) -> str:
    """The line of its sources, with its links; "" without one."""
    return "".join(
        one["text"]
        for block in message.blocks
        if block["type"] == "context"
        for one in block["elements"]
        if one["type"] == "mrkdwn"
    )


def links_of(message: SlackMessage | View) -> list[tuple[str, str]]:
    """Label and address of every link outside Markdown."""
    blocks = message.blocks if isinstance(message, SlackMessage) else message["blocks"]
    return [(one["text"], one["url"]) for block in blocks for one in _literals(block) if one["type"] == "link"]


def _named(wrong: dict[str, bool]) -> list[str]:
    return [name for name, is_so in wrong.items() if is_so]


def _harm_in_blocks(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        if block["type"] == "markdown":
            yield from _harm_in_markdown(block["text"])
        elif block["type"] == "context":
            for one in block["elements"]:
                plain = re.sub(rf"<{re.escape(GOOD)}[^|>]*\|([^<>]*)>", r"\1", one["text"])
                is_read = one["type"] == "mrkdwn"
                yield from (*pings(plain), *clickable(plain), *re.findall("[<>]", plain if is_read else ""))
        for element in _literals(block):
            if element["type"] not in ("text", "link") or not element["text"]:
                yield f"the element {element}"
            elif element["type"] == "link" and not element["url"].startswith(_MAY_BE_CLICKED):
                yield f"the link {element['url']}"


def _harm_in_markdown(text: str) -> Iterator[str]:
    """As Slack reads it, and as another program does: only links that are allowed, no words that could become one."""
    text.encode()
    if not text.strip(f" \n\t{ZERO_WIDTH}"):
        yield "no words"
    yield from (*pings(text), *clickable(text), *["an open fence"] * open_fences(text), *_ENTITY.findall(text))
    for token in _COMMONMARK.parse(text):
        if token.type == "html_block":
            yield token.content
        for inner in token.children or []:
            if inner.type in ("html_inline", "image"):
                yield f"{inner.type} {inner.content}"
            elif inner.type == "link_open" and not str(inner.attrs["href"]).startswith(_MAY_BE_CLICKED):
                yield f"the link {inner.attrs['href']}"
            elif inner.type == "text":
                yield from (*_HOST.findall(inner.content), *pings(inner.content))


def _check_models(blocks: list[Any]) -> None:
    for block in blocks:
        model = SdkBlock.parse(block)
        assert model is not None
        model.validate_json()
        assert model.to_dict()["type"] == block["type"]


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
