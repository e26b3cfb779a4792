"""Forms of commands.

A form is a modal with the `callback_id` `fn:form:<command>`. Each block, and the element in it, has the name of its
option. The `private_metadata` hold the place where the form was opened.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.presentation.action_names import Verb, read_action_name
from bot.presentation.additions import READERS_HELP, READERS_LABELS
from bot.presentation.answer_buttons import action_name
from bot.slackbot.rendering import blocks as kit
from bot.slackbot.rendering.blocks import MAX_LABEL, MAX_OPTION_VALUE, MAX_OPTIONS, Block, Element, View
from core.errors import BadInput
from core.work.commands import GIVEN, Command, Option, OptionKind

MAX_VALUE = 3_000  # characters of a text field, Slack's limit
MAX_LABEL_OF_INPUT = 2_000
MAX_PLACEHOLDER = 150
# Fields of the form for documents. Slack takes no larger files in a form.
FILES, ADDRESS, READERS = "files", "address", "readers"
MOST_FILES = 10
_FILE_HINT = "Up to 10 files of 10 MB each. Send me larger ones as a direct message."
FORM_OVER = "This form is from an earlier version. Open it again."
_COMPLETED = frozenset({OptionKind.DOCUMENT, OptionKind.JOURNAL, OptionKind.ADDED, OptionKind.THREAD})
_LONG = frozenset({"question"})  # options with more than one line


def to_form(command: Command, metadata: str, values: Mapping[str, str] | None = None) -> View:
    """Return a command's modal; `values` prefill its fields, as far as they fit."""
    fields = [_field(option, (values or {}).get(option.name, "").strip()) for option in command.options]
    return kit.modal(
        command.name.capitalize(),
        [kit.context(_sentence(command.help)), *fields],
        close="Cancel",
        submit=kit.plain("Run"),
        callback_id=action_name(Verb.FORM, command.name),
        private_metadata=metadata,
    )


def addition_form(callback_id: str, metadata: str) -> View:
    """Return the modal for files or a web address."""
    readers = [kit.option(label, choice.value) for choice, label in READERS_LABELS.items()]
    files = {"type": "file_input", "max_files": MOST_FILES}
    address = {
        "type": "plain_text_input",
        "max_length": MAX_VALUE,
        "placeholder": kit.plain("https://", MAX_PLACEHOLDER),
    }
    return kit.modal(
        "Add documents",
        [
            input_field(FILES, "Files", files, optional=True, hint=kit.plain(_FILE_HINT)),
            input_field(ADDRESS, "Or a link to a page or a file", address, optional=True),
            input_field(READERS, READERS_HELP, {"type": "static_select", "options": readers}),
        ],
        close="Cancel",
        submit=kit.plain("Add"),
        callback_id=callback_id,
        private_metadata=metadata,
    )


def read_files(view: View) -> list[Mapping[str, Any]]:
    """Return the files chosen in a form, as Slack describes them."""
    values = (view.get("state") or {}).get("values") or {}
    return [file for fields in values.values() for element in fields.values() for file in element.get("files") or ()]


def read_form(view: View) -> tuple[str, Mapping[str, str]]:
    """Return the command's name and the filled fields. Raises BadInput for another view."""
    name = read_action_name(str(view.get("callback_id") or ""))
    if name is None or name.verb is not Verb.FORM:
        raise BadInput(FORM_OVER)
    return name.id, read_fields(view)


def read_fields(view: View) -> Mapping[str, str]:
    """Return the filled fields of a form by name."""
    given: dict[str, str] = {}
    for fields in ((view.get("state") or {}).get("values") or {}).values():
        for option, element in fields.items():
            chosen = element.get("selected_option") or next(iter(element.get("selected_options") or ()), None)
            given[option] = str((chosen["value"] if chosen else element.get("value")) or "").strip()
    return {option: value for option, value in given.items() if value}


def _field(option: Option, value: str) -> Block:
    return input_field(
        option.name,
        option.name.replace("_", " ").capitalize(),
        _element(option, value),
        optional=not option.required,
        hint=kit.plain(_sentence(option.help), MAX_LABEL_OF_INPUT),
    )


def input_field(name: str, label: str, element: Element, **more: Any) -> Block:
    """Return a labelled field; it and its element are called `name`."""
    shown = {"type": "input", "block_id": name, "label": kit.plain(label, MAX_LABEL_OF_INPUT)}
    return {**shown, "element": {**element, "action_id": name}, **more}


def _element(option: Option, value: str) -> Element:
    if option.kind is OptionKind.NUMBER:
        is_number = value.isdecimal() and len(value) <= MAX_LABEL
        initial = {"initial_value": value} if is_number else {}
        return {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", **initial}
    if option.kind is OptionKind.FLAG:
        box = kit.option(_sentence(option.help), GIVEN)
        return {"type": "checkboxes", "options": [box], **({"initial_options": [box]} if value == GIVEN else {})}
    if option.kind is OptionKind.CHOICE:
        offered = [kit.option(choice, choice) for choice in option.choices[:MAX_OPTIONS]]
        return {"type": "static_select", "options": offered, **_initial(option.choices, value)}
    if option.kind in _COMPLETED:
        short = value if len(value) <= MAX_OPTION_VALUE else ""
        placeholder = kit.plain("Type to look for it", MAX_PLACEHOLDER)
        known = _initial([short], short)
        return {"type": "external_select", "min_query_length": 0, "placeholder": placeholder, **known}
    return {
        "type": "plain_text_input",
        "multiline": option.name in _LONG,
        "max_length": MAX_VALUE,
        **({"initial_value": value[:MAX_VALUE]} if value else {}),
    }


def _initial(offered: Iterable[str], value: str) -> Mapping[str, Any]:
    return {"initial_option": kit.option(value, value)} if value and value in offered else {}


def _sentence(help: str) -> str:
    return help[:1].upper() + help[1:]
