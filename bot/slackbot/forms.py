"""Forms made from a command's options, and what is completed in them.

A form is a modal whose `callback_id` names its command (`fn:form:<command>`). Each of its blocks, and the element in
it, is named like the option that it gives. Where it was opened stands in its `private_metadata`.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from bot.presentation.action_names import ActionName, Verb, read_action_name, to_action_name
from bot.presentation.rendering import clip
from bot.slackbot import results
from bot.slackbot.interaction_context import Act, whereabouts
from bot.slackbot.interactions import ACKNOWLEDGE_SECONDS, Desk
from bot.slackbot.layout import MAX_LABEL, MAX_OPTION_VALUE, MAX_OPTIONS, MAX_TITLE, Block, View
from core.errors import BadInput, FootnoteError, NotFound
from core.service.commands import Command, Option, OptionKind
from core.service.commands.base import GIVEN

MAX_VALUE = 3_000  # characters that a text field takes, Slack's limit
MAX_LABEL_OF_INPUT = 2_000
MAX_PLACEHOLDER = 150
FORM_OVER = "This form is from an earlier version: open it again."
SUBMIT = "Run"
CLOSE = "Cancel"

Element: TypeAlias = Mapping[str, Any]
_COMPLETED = frozenset({OptionKind.DOCUMENT, OptionKind.JOURNAL, OptionKind.THREAD})
_LONG = frozenset({"question"})  # options that people write more than a line in
# A field is marked while Slack waits; what is found out later is told in a message.
_FIELD_SECONDS = ACKNOWLEDGE_SECONDS * 0.8
_log = logging.getLogger(__name__)


def to_form(command: Command, metadata: str, values: Mapping[str, str] | None = None) -> View:
    """The modal of a command with options; `values` are filled in already, as far as fields can hold them. Pure."""
    return {
        "type": "modal",
        "callback_id": to_action_name(ActionName(verb=Verb.FORM, id=command.name)),
        "private_metadata": metadata,
        "title": _plain(command.name.capitalize(), MAX_TITLE),
        "submit": _plain(SUBMIT, MAX_TITLE),
        "close": _plain(CLOSE, MAX_TITLE),
        "blocks": [
            {"type": "context", "elements": [_plain(_sentence(command.help), MAX_VALUE)]},
            *(_field(option, (values or {}).get(option.name, "").strip()) for option in command.options),
        ],
    }


def read_form(view: View) -> tuple[str, Mapping[str, str]]:
    """The command's name and the values given; what was left empty is left out. BadInput for another view. Pure."""
    name = read_action_name(str(view.get("callback_id") or ""))
    if name is None or name.verb is not Verb.FORM:
        raise BadInput(FORM_OVER)
    told = (view.get("state") or {}).get("values") or {}
    given = {option: _value(element) for fields in told.values() for option, element in fields.items()}
    return name.id, {option: value for option, value in given.items() if value}


async def open_form(desk: Desk, act: Act, command_name: str, values: Mapping[str, str] | None = None) -> None:
    """Show the form of a command; one that has nothing to fill in is run. NotFound for an unknown command."""
    command = desk.parts.commands.table.get(command_name)
    if command is None:
        raise NotFound(FORM_OVER)
    if command.options:
        await desk.open(act, to_form(command, whereabouts(act), values))
    else:
        await results.run_command(desk, act, command.name, {})


async def submit(desk: Desk, act: Act, view: View) -> Mapping[str, str] | None:
    """Run the command of a form. What is wrong, by the block of its field; None: the form may close.

    An error that is about one field is shown there; any other, and one that comes late, is a message.
    """
    began = desk.parts.clock.monotonic()
    name, values = read_form(view)
    try:
        await results.run_command(desk, act, name, values)
    except FootnoteError as error:
        sentence = results.to_words(desk, act, str(error))
        field = _field_of(error, desk.parts.commands.table.get(name), values)
        if field is not None and desk.parts.clock.monotonic() - began < _FIELD_SECONDS:
            return {field: clip(sentence, MAX_LABEL_OF_INPUT)}
        await desk.say(act, sentence)
    return None


async def suggest(desk: Desk, act: Act, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The options for what somebody typed so far in a form's menu, as Slack takes them; none where nothing fits."""
    try:
        name, _ = read_form(body.get("view") or {})
        call = await desk.call(act, name)
        found = await desk.parts.commands.complete(call, str(body.get("action_id")), str(body.get("value") or ""))
    except FootnoteError as error:  # a menu can't show a sentence; the form will
        _log.info("Nothing completed: %s", error)
        return ()
    fitting = [item for item in found if 0 < len(item.value) <= MAX_OPTION_VALUE]
    return [_option(item.label, item.value) for item in fitting[:MAX_OPTIONS]]


def _field(option: Option, value: str) -> Block:
    return {
        "type": "input",
        "block_id": option.name,
        "optional": not option.required,
        "label": _plain(option.name.replace("_", " ").capitalize(), MAX_LABEL_OF_INPUT),
        "hint": _plain(_sentence(option.help), MAX_LABEL_OF_INPUT),
        "element": {"action_id": option.name, **_element(option, value)},
    }


def _element(option: Option, value: str) -> Element:
    if option.kind is OptionKind.NUMBER:
        is_number = value.isdecimal() and len(value) <= MAX_LABEL
        initial = {"initial_value": value} if is_number else {}
        return {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", **initial}
    if option.kind is OptionKind.FLAG:
        box = _option(_sentence(option.help), GIVEN)
        return {"type": "checkboxes", "options": [box], **({"initial_options": [box]} if value == GIVEN else {})}
    if option.kind is OptionKind.CHOICE:
        offered = [_option(choice, choice) for choice in option.choices[:MAX_OPTIONS]]
        return {"type": "static_select", "options": offered, **_initial(option.choices, value)}
    if option.kind in _COMPLETED:
        short = value if len(value) <= MAX_OPTION_VALUE else ""
        placeholder = _plain("Type to look for it", MAX_PLACEHOLDER)
        return {
            "type": "external_select",
            "min_query_length": 0,
            "placeholder": placeholder,
            **_initial([short], short),
        }
    return {
        "type": "plain_text_input",
        "multiline": option.name in _LONG,
        "max_length": MAX_VALUE,
        **({"initial_value": value[:MAX_VALUE]} if value else {}),
    }


def _initial(offered: Iterable[str], value: str) -> Mapping[str, Any]:
    return {"initial_option": _option(value, value)} if value and value in offered else {}


def _value(element: Mapping[str, Any]) -> str:
    """Of one field, as commands take it; "" for an empty one."""
    chosen = element.get("selected_option") or next(iter(element.get("selected_options") or ()), None)
    return str((chosen["value"] if chosen else element.get("value")) or "").strip()


def _field_of(error: FootnoteError, command: Command | None, values: Mapping[str, str]) -> str | None:
    """The field that an error is about: errors quote what is wrong, and only they can say so.

    Where several are quoted, the last one, as what comes behind is chosen for what stands before.
    """
    if command is None or not isinstance(error, BadInput | NotFound):
        return None
    quoted = [
        option.name
        for option in command.options
        if (value := values.get(option.name)) and (repr(value) in str(error) or f"“{value}”" in str(error))
    ]
    return quoted[-1] if quoted else None


def _option(label: str, value: str) -> Mapping[str, Any]:
    return {"text": _plain(label, MAX_LABEL), "value": value}


def _plain(text: str, most: int) -> Mapping[str, Any]:
    return {"type": "plain_text", "text": clip(text, most) or "…", "emoji": False}


def _sentence(help: str) -> str:
    return help[:1].upper() + help[1:]
