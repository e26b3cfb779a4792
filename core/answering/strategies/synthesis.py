"""The typed answer from results: the request, and the check of its reply. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from core.answering.strategies.planned_calls import Called
from core.answering.strategies.plans import Plan
from core.answering.strategies.prompts import synthesiser
from core.answering.strategies.shown_passages import passage_text
from core.answering.tools.toolbox import FINAL
from core.domain.answer import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ChatRole,
    NumberedPassage,
    ToolChoice,
    ToolDefinition,
)
from core.domain.conversation import IncomingMessage
from core.domain.response_data import RESPONSE_TYPES, ResponseData, response_schema
from core.text.words import shorten

GIVE = "give_answer"
LONGEST_RESULT = 6_000  # characters of a tool's own text
_ENDING = 1_000  # characters kept at its end, where tools list omitted parts
_NAMED = 3  # problems of a form in the message


def build_request(
    question: IncomingMessage,
    plan: Plan,
    response_type: str,
    results: Sequence[tuple[Called, Sequence[NumberedPassage]]],
    capabilities: Capabilities,
) -> ChatRequest:
    """One user turn: the question, and each result with the passages of it that fit.

    The form is asked for in the way the model has: a schema that it is held to, else a forced call of a tool that has
    it as its arguments, else words.
    """
    asked = [f"Question: {question.text}"]
    asked += [f"Put completely: {plan.question}"] if plan.question else []
    shown = [_result_text(number, called, passages) for number, (called, passages) in enumerate(results, start=1)]
    messages = (ChatMessage(role=ChatRole.USER, text="\n\n".join([*shown, *asked])),)
    system, schema = synthesiser(response_type, question), response_schema(response_type)
    if capabilities.structured:
        return ChatRequest(system=system, messages=messages, output_schema=schema)
    if capabilities.tools:
        give = ToolDefinition(name=GIVE, description="Takes the answer.", parameters=schema)
        return ChatRequest(system=system, messages=messages, tools=(give,), tool_choice=ToolChoice.ANY)
    form = f"Reply with one JSON object of this JSON Schema, and nothing else:\n{json.dumps(schema)}"
    return ChatRequest(system=f"{system}\n\n{form}", messages=messages)


def read_reply(response: ChatResponse, response_type: str) -> ResponseData | str:
    """Return the data of a reply, or a sentence for the model if the form is wrong."""
    given: Any = next((dict(call.arguments) for call in response.tool_invocations if call.name == GIVE), None)
    if given is None:
        try:
            given = json.loads(_object_in(response.text))
        except (ValueError, RecursionError):
            return "it is not JSON."
    try:
        return RESPONSE_TYPES[response_type].model.model_validate(given)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:_NAMED]]
        return f"{'; '.join(problems)}."


def is_prose(response: ChatResponse) -> bool:
    """Whether a reply that should have been an object is an answer in words."""
    text = response.text.strip()
    return bool(text) and "{" not in text[:20]


def failures(called: Sequence[Called]) -> list[str]:
    """Return a sentence for people about each failed call: the tool, its query, and the reason."""
    return [
        f"{invocation.name}{_asked(invocation.arguments)} gave no result: {result.text.removesuffix(FINAL).strip()}"
        for invocation, result in called
        if result.is_error
    ]


def _result_text(number: int, called: Called, passages: Sequence[NumberedPassage]) -> str:
    invocation, result = called
    head = f"## Result {number}: {invocation.name} {json.dumps(dict(invocation.arguments), ensure_ascii=False)}"
    if result.is_error:
        return f"{head}\n\nThis failed: {result.text.removesuffix(FINAL).strip()}"
    return "\n\n".join([head, _within(result.text), *map(passage_text, passages)])


def _within(text: str) -> str:
    """A text that is too long without its middle, and that it is so."""
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[: LONGEST_RESULT - _ENDING]}\n(Here is a part left out.)\n{text[-_ENDING:]}"


def _asked(arguments: object) -> str:
    """Return the query or the named thing: ` “ferry prices”`."""
    given = arguments if isinstance(arguments, dict) else {}
    words = next((given[name] for name in ("query", "journal", "document", "page_id") if given.get(name)), None)
    return f" “{shorten(str(words), 80)}”" if words else ""


def _object_in(text: str) -> str:
    """From the first brace to the last: small models put words or a fence around JSON."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
