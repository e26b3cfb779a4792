"""The capabilities of a model, probed by three small requests: tools, replies that follow a schema, pictures.

A server that refuses tools has none. A schema counts when the reply follows it, a picture when the model names its
colour: many servers take both and ignore them. Errors other than a refusal are raised.
"""

import asyncio
import json
import logging
import re
import struct
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.chat import Capabilities, PageImage, ToolDefinition
from core.errors import ProviderBadRequest, ProviderError, ProviderOverloaded
from storage.models.openai_compatible.messages import image_part, to_format, to_tool

logger = logging.getLogger(__name__)

Ask = Callable[[Mapping[str, Any]], Awaitable[str]]  # extra parameters of a request -> the text of its reply

# For models that think before they answer; the answers themselves are a word.
PROBE_TOKENS = 1_000
_PLAIN = [{"role": "user", "content": "Reply with the word OK."}]
_TOOL = ToolDefinition(
    name="confirm",
    description="Confirms that tools can be called.",
    parameters={
        "type": "object",
        "properties": {"word": {"type": "string", "description": "OK"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
# Ollama, OpenRouter: "does not support tools", "support tool use"; vLLM, llama.cpp: "tool choice requires", "tools
# param requires"; others: "tools are not supported".
_NO_TOOLS = re.compile(
    r"support (?:for )?(?:tool|function)|\b(?:tools?|functions?)\b[^.]{0,40}(?:requires|not supported|unsupported)",
    re.IGNORECASE,
)
_COLOUR = "red"
_SIDE = 64  # pixels; some models refuse smaller pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Configured capabilities; None means unknown, to be probed."""

    tools: bool | None = None
    structured: bool | None = None
    images: bool | None = None
    context_tokens: int | None = None

    @property
    def complete(self) -> bool:
        return None not in (self.tools, self.structured, self.images)

    def over(self, found: Capabilities) -> Capabilities:
        """Return the detected capabilities, overridden by the configured ones."""
        return Capabilities(
            tools=found.tools if self.tools is None else self.tools,
            structured=found.structured if self.structured is None else self.structured,
            images=found.images if self.images is None else self.images,
            context_tokens=self.context_tokens or found.context_tokens,
        )


async def probe(ask: Ask, known: Abilities, context_tokens: int) -> Capabilities:
    """Return the capabilities of a model. Raises ProviderError when it refuses every request."""
    tools, structured, images = await asyncio.gather(
        _known(known.tools) or _takes_tools(ask),
        _known(known.structured) or _follows_schema(ask),
        _known(known.images) or _sees(ask),
    )
    return Capabilities(tools=tools, structured=structured, images=images, context_tokens=context_tokens)


def is_about_tools(error: ProviderError) -> bool:
    """Return whether a refusal means that the model, or the server as started, has no tools."""
    return isinstance(error, ProviderBadRequest | ProviderOverloaded) and bool(_NO_TOOLS.search(str(error)))


def _known(answer: bool | None) -> Awaitable[bool] | None:
    return None if answer is None else asyncio.sleep(0, answer)


async def _takes_tools(ask: Ask) -> bool:
    try:
        await ask({"messages": _PLAIN, "tools": [to_tool(_TOOL)]})
    except (ProviderBadRequest, ProviderOverloaded) as error:
        if not is_about_tools(error):
            await ask({"messages": _PLAIN})  # raises errors unrelated to tools
        logger.info("no tools: %s", error)
        return False
    return True


async def _follows_schema(ask: Ask) -> bool:
    asked = [{"role": "user", "content": 'Reply with the JSON object {"word": "OK"} and nothing else.'}]
    text = await _reply(ask, {"messages": asked, "response_format": to_format(_TOOL.parameters, strict=True)})
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and set(value) == {"word"}


async def _sees(ask: Ask) -> bool:
    image = PageImage(label="", media_type="image/png", data=_square())
    words = {"type": "text", "text": "Which colour is this picture? Reply with one English word."}
    text = await _reply(ask, {"messages": [{"role": "user", "content": [words, image_part(image)]}]})
    return _COLOUR in text.lower()


async def _reply(ask: Ask, params: Mapping[str, Any]) -> str:
    """Empty where the server refuses this very request."""
    try:
        return await ask(params)
    except (ProviderBadRequest, ProviderOverloaded) as error:
        logger.info("refused: %s", error)
        return ""


def _square() -> bytes:
    """Return a red PNG."""
    row = b"\0" + b"\xe0\x10\x10" * _SIDE
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(row * _SIDE)), (b"IEND", b"")):
        png += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return png
