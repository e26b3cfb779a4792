"""Forms of commands.

A form is a modal with the `callback_id` `fn:form:<command>`. Each block, and the element in it, has the name of its
option. The `private_metadata` hold the place where the form was opened.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.presentation.action_names import ActionName, Verb, read_action_name, to_action_name
from bot.presentation.markdown import clip
from bot.slackbot.rendering.blocks import MAX_LABEL, MAX_OPTION_VALUE, MAX_OPTIONS, MAX_TITLE, Block, Element, View
from core.errors import BadInput
from core.service.commands import Command, Option, OptionKind
from core.work.commands import GIVEN

MAX_VALUE = 3_000  # characters of a text field, Slack's limit
MAX_LABEL_OF_INPUT = 2_000
MAX_PLACEHOLDER = 150
FORM_OVER = "This form is from an earlier version. Open it again."
SUBMIT = "Run"
CLOSE = "Cancel"
_COMPLETED = frozenset({OptionKind.DOCUMENT, OptionKind.JOURNAL, OptionKind.THREAD})
_LONG = frozenset({"question"})  # options with more than one line


def to_form(command: Command, metadata: str, values: Mapping[str, str] | None = None) -> View:
    """Return a command's modal; `values` prefill its fields, as far as they fit."""
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
    """Return the command's name and the filled fields. Raises BadInput for another view."""
    name = read_action_name(str(view.get("callback_id") or ""))
    if name is None or name.verb is not Verb.FORM:
        raise BadInput(FORM_OVER)
    told = (view.get("state") or {}).get("values") or {}
    given = {option: _value(element) for fields in told.values() for option, element in fields.items()}
    return name.id, {option: value for option, value in given.items() if value}


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
        box = to_option(_sentence(option.help), GIVEN)
        return {"type": "checkboxes", "options": [box], **({"initial_options": [box]} if value == GIVEN else {})}
    if option.kind is OptionKind.CHOICE:
        offered = [to_option(choice, choice) for choice in option.choices[:MAX_OPTIONS]]
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
    return {"initial_option": to_option(value, value)} if value and value in offered else {}


def _value(element: Mapping[str, Any]) -> str:
    chosen = element.get("selected_option") or next(iter(element.get("selected_options") or ()), None)
    return str((chosen["value"] if chosen else element.get("value")) or "").strip()


def to_option(label: str, value: str) -> Mapping[str, Any]:
    return {"text": _plain(label, MAX_LABEL), "value": value}


def _plain(text: str, most: int) -> Mapping[str, Any]:
    return {"type": "plain_text", "text": clip(text, most) or "…", "emoji": False}


def _sentence(help: str) -> str:
    return help[:1].upper() + help[1:]
