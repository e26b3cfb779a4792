"""Interactive elements: finding them, and what a person's choice becomes in a payload."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.slack_server.state import Message, View
from tests.slack_server.transcript import elements, label_of

JSON = dict[str, Any]

SEVERAL = {
    "checkboxes", "multi_static_select", "multi_external_select", "multi_users_select", "multi_channels_select",
    "multi_conversations_select",
}  # fmt: skip
MOST_FILES, LARGEST_FILE = 10, 10_000_000  # of a file_input
BUTTONS = {"button", "feedback_buttons", "icon_button"}
# What is chosen from no list of options, and the field it is told in.
_PLAIN = {
    "users_select": "selected_user", "channels_select": "selected_channel", "datepicker": "selected_date",
    "conversations_select": "selected_conversation", "timepicker": "selected_time",
    "multi_users_select": "selected_users", "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
}  # fmt: skip


def blocks_of(where: Message | View) -> list[JSON]:
    return where.blocks if isinstance(where, Message) else where.payload["blocks"]


def found_in(where: Message | View, label: str | None, action_id: str | None, kinds: set[str] | None) -> JSON:
    """The first that fits; `kinds` None: whatever is no button."""
    offered = [
        one for one in elements(blocks_of(where)) if (one["type"] in kinds if kinds else one["type"] not in BUTTONS)
    ]
    fitting = [
        one
        for one in offered
        if (action_id is None or one.get("action_id") == action_id)
        and (label is None or label in _labels(one) or (one["type"] == "feedback_buttons" and action_id is not None))
    ]
    names = [f"{label_of(one)!r} ({one.get('action_id')})" for one in offered]
    assert fitting, (
        f"nothing here fits label {label!r}, action_id {action_id!r}; there is: {', '.join(names) or 'nothing'}"
    )
    return fitting[0]


def acted(element: JSON, label: str | None) -> JSON:
    """The action of a button, or of the thumb that says `label` (the first: up)."""
    action = {"type": element["type"], "action_id": element.get("action_id", ""), "block_id": element["block_id"]}
    if element["type"] == "feedback_buttons":
        up, down = element["positive_button"], element["negative_button"]
        pressed = down if label in (_said(down), down.get("value")) else up
        return action | {"value": pressed["value"]}
    told = {name: element[name] for name in ("text", "value", "style", "url") if name in element}
    return action | told


def chosen(element: JSON, wanted: Sequence[str]) -> JSON:
    action = {"type": element["type"], "action_id": element.get("action_id", ""), "block_id": element["block_id"]}
    return action | _value(element, list(wanted) if element["type"] in SEVERAL else wanted[0])


def values_of(view: View, values: Mapping[str, Any], choose_file: Callable[[str, bytes], JSON]) -> JSON:
    """A modal's state: by block, then by action id. What is required and long enough is checked as the client does.

    `choose_file` uploads a file and says what it became.
    """
    state: JSON = {}
    unknown = set(values)
    for block in view.payload["blocks"]:
        for element in elements([block]):
            if element["type"] in BUTTONS or element["type"] == "overflow":
                continue
            name = element.get("action_id", "")
            unknown.discard(name)
            given = values.get(name, element.get("initial_value"))
            required = block["type"] == "input" and not block.get("optional")
            assert given not in (None, "", []) or not required, f"{name!r} is required"
            if element["type"] == "file_input":
                told: JSON = {"files": _files(element, given or [], choose_file)}
            else:
                told = _value(element, given)
            state.setdefault(element["block_id"], {})[name] = {"type": element["type"], **told}
    assert not unknown, f"the modal has no {', '.join(sorted(unknown))}"
    return state


def _value(element: JSON, given: Any) -> JSON:
    kind = element["type"]
    if field := _PLAIN.get(kind):
        return {field: given}
    if kind in SEVERAL:
        first = [one["value"] for one in element.get("initial_options") or []]
        return {"selected_options": [_option(element, one) for one in (first if given is None else given)]}
    if kind.endswith(("select", "buttons")) or kind == "overflow":
        start = element.get("initial_option")
        return {"selected_option": start if given is None else _option(element, given)}
    if given is not None:
        assert len(str(given)) <= int(element.get("max_length") or 3000), "the client takes no longer text"
        assert len(str(given)) >= int(element.get("min_length") or 0), "the client takes no shorter text"
    return {"value": given}


def _files(element: JSON, given: Sequence[tuple[str, bytes]], choose_file: Callable[[str, bytes], JSON]) -> list[JSON]:
    assert len(given) <= int(element.get("max_files") or MOST_FILES), "the client takes no more files"
    assert all(len(data) <= LARGEST_FILE for _, data in given), "the client takes no larger file"
    kinds = element.get("filetypes")
    endings = [name.rpartition(".")[2].lower() for name, _ in given]
    assert not kinds or all(one in kinds for one in endings), "the client takes no other kinds of files"
    return [choose_file(name, data) for name, data in given]


def _option(element: JSON, wanted: str) -> JSON:
    if element["type"].endswith("external_select"):
        return {"text": {"type": "plain_text", "text": wanted}, "value": wanted}
    groups = element.get("option_groups") or [element]
    offered = [one for group in groups for one in group.get("options") or []]
    found: JSON | None = next((one for one in offered if wanted in (one["value"], one["text"]["text"])), None)
    assert found is not None, f"no option {wanted!r}; there is: {', '.join(one['value'] for one in offered)}"
    return found


def _labels(element: JSON) -> list[str]:
    if element["type"] == "feedback_buttons":
        return [
            text
            for name in ("positive_button", "negative_button")
            for text in (_said(element[name]), element[name]["value"])
        ]
    return [label_of(element)]


def _said(button: JSON) -> str:
    return str(button["text"]["text"])
