"""What Slack refuses in Block Kit: block by block, each problem with the place of it.

Lengths are those of the documentation and of slack_sdk's models; the wording is Slack's. Blocks without a problem are
checked again by slack_sdk's models themselves, which Slack publishes: they know every field, and limits of their own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

JSON = dict[str, Any]

MESSAGE, MODAL, HOME = "message", "modal", "home"
BLOCKS = {MESSAGE: 50, MODAL: 100, HOME: 100}
LONGEST_ID = 255
LONGEST_MARKDOWN = 12_000  # of all markdown blocks of a message
IN_MESSAGES_ALONE = {
    "markdown", "table", "task_card", "plan", "context_actions", "alert", "card", "carousel", "container",
}  # fmt: skip


def problems_of(blocks: Any, surface: str = MESSAGE, path: str = "/blocks") -> list[str]:
    """Empty: Slack takes them."""
    check = _Check(surface)
    check.blocks(blocks, path, BLOCKS[surface])
    return check.problems or [problem for at, one in enumerate(blocks) for problem in _by_model(one, f"{path}/{at}")]


def _by_model(block: JSON, path: str) -> Iterator[str]:
    """What the SDK's model refuses, and the fields that it doesn't know."""
    try:
        parsed = Block.parse(block)
        understood = parsed.to_dict() if parsed is not None else {}
    except (SlackObjectFormationError, TypeError) as error:
        yield f"{error} [json-pointer:{path}]"
        return
    yield from _unknown(block, understood, path)


def _unknown(sent: Any, understood: Any, path: str) -> Iterator[str]:
    if isinstance(sent, dict) and isinstance(understood, dict):
        for name, value in sent.items():
            if name in understood:
                yield from _unknown(value, understood[name], f"{path}/{name}")
            elif value not in (None, [], {}, ""):
                yield f"unknown field: {name} [json-pointer:{path}]"
    elif isinstance(sent, list) and isinstance(understood, list):
        if len(sent) != len(understood):
            yield f"{len(sent) - len(understood)} unknown items [json-pointer:{path}]"
        for at, (one, kept) in enumerate(zip(sent, understood, strict=False)):
            yield from _unknown(one, kept, f"{path}/{at}")


class _Check:
    def __init__(self, surface: str) -> None:
        self.problems: list[str] = []
        self._surface = surface
        self._ids: set[str] = set()
        self._markdown = 0

    def say(self, problem: str, path: str) -> None:
        self.problems.append(f"{problem} [json-pointer:{path}]")

    def blocks(self, blocks: Any, path: str, most: int) -> None:
        if not isinstance(blocks, list):
            self.say("must be an array", path)
            return
        self.count(blocks, path, most)
        for at, block in enumerate(blocks):
            self.block(block, f"{path}/{at}")

    def block(self, block: Any, path: str) -> None:
        if not isinstance(block, dict):
            self.say("must be an object", path)
            return
        kind = block.get("type")
        check = _BLOCKS.get(str(kind))
        if check is None or (self._surface != MESSAGE and kind in IN_MESSAGES_ALONE):
            self.say(f"unsupported type: {kind}", f"{path}/type")
            return
        self.identity(block, path)
        check(self, block, path)

    def identity(self, block: JSON, path: str) -> None:
        own = block.get("block_id")
        if not own:
            return
        self.length(own, f"{path}/block_id", LONGEST_ID)
        if own in self._ids:
            self.say(f'`block_id` "{own}" already exists', f"{path}/block_id")
        self._ids.add(own)

    # ------------------------------------------------------------------ single values

    def count(self, items: list[Any], path: str, most: int, least: int = 0) -> None:
        if len(items) > most:
            self.say(f"no more than {most} items allowed", path)
        if len(items) < least:
            self.say(f"no fewer than {least} items allowed", path)

    def length(self, text: Any, path: str, most: int, least: int = 0) -> None:
        if not isinstance(text, str):
            self.say("must be a string", path)
        elif len(text) > most:
            self.say(f"must be less than {most + 1} characters", path)
        elif len(text) < least:
            self.say(f"must be more than {least - 1} characters", path)

    def optional(self, holder: Mapping[str, Any], name: str, path: str, most: int) -> None:
        if holder.get(name) is not None:
            self.length(holder[name], f"{path}/{name}", most)

    def text(self, value: Any, path: str, most: int, *, plain: bool = False) -> None:
        if not isinstance(value, dict) or value.get("type") not in (
            ("plain_text",) if plain else ("plain_text", "mrkdwn")
        ):
            self.say("failed to match all allowed schemas", path)
            return
        self.length(value.get("text"), f"{path}/text", most, least=1)

    def items(self, block: JSON, name: str, path: str, most: int) -> list[JSON]:
        found = block.get(name)
        if not isinstance(found, list):
            self.say(f"missing required field: {name}", path)
            return []
        self.count(found, f"{path}/{name}", most, least=1)
        return [one for one in found if isinstance(one, dict)]

    # ------------------------------------------------------------------ elements

    def elements(self, block: JSON, path: str, most: int, allowed: set[str]) -> None:
        seen: set[str] = set()
        for at, element in enumerate(self.items(block, "elements", path, most)):
            self.element(element, f"{path}/elements/{at}", allowed)
            own = element.get("action_id")
            if own and own in seen:
                self.say(f'`action_id` "{own}" already exists', f"{path}/elements/{at}/action_id")
            seen.add(str(own))

    def element(self, element: Any, path: str, allowed: set[str]) -> None:
        kind = element.get("type") if isinstance(element, dict) else None
        if kind not in allowed:
            self.say(f"unsupported type: {kind}", f"{path}/type")
            return
        self.optional(element, "action_id", path, LONGEST_ID)
        if element.get("placeholder") is not None:
            self.text(element["placeholder"], f"{path}/placeholder", 150, plain=True)
        if isinstance(element.get("confirm"), dict):
            self.confirm(element["confirm"], f"{path}/confirm")
        if check := _ELEMENTS.get(str(kind)):
            check(self, element, path)

    def confirm(self, confirm: JSON, path: str) -> None:
        for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
            self.text(confirm.get(name), f"{path}/{name}", most)

    def button(self, button: JSON, path: str) -> None:
        self.text(button.get("text"), f"{path}/text", 75, plain=True)
        for name, most in (("url", 3000), ("value", 2000), ("accessibility_label", 75), ("agent_prompt", 4000)):
            self.optional(button, name, path, most)
        if button.get("style") not in (None, "primary", "danger"):
            self.say("must be a valid enum value", f"{path}/style")

    def feedback(self, element: JSON, path: str) -> None:
        for name in ("positive_button", "negative_button"):
            button = element.get(name)
            if not isinstance(button, dict):
                self.say(f"missing required field: {name}", path)
                continue
            self.text(button.get("text"), f"{path}/{name}/text", 75, plain=True)
            self.length(button.get("value"), f"{path}/{name}/value", 2000)

    def icon_button(self, element: JSON, path: str) -> None:
        self.text(element.get("text"), f"{path}/text", 75, plain=True)
        self.optional(element, "value", path, 2000)

    def options(self, most: int) -> "Callable[[JSON, str], None]":
        def check(element: JSON, path: str) -> None:
            groups = element.get("option_groups")
            if groups is not None:
                self.count(groups, f"{path}/option_groups", 100, least=1)
                for at, group in enumerate(groups):
                    self.text(group.get("label"), f"{path}/option_groups/{at}/label", 75, plain=True)
                    self.option_list(group, f"{path}/option_groups/{at}", most)
            else:
                self.option_list(element, path, most)

        return check

    def option_list(self, holder: JSON, path: str, most: int) -> None:
        for at, option in enumerate(self.items(holder, "options", path, most)):
            self.text(option.get("text"), f"{path}/options/{at}/text", 75)
            self.length(option.get("value"), f"{path}/options/{at}/value", 150)
            if option.get("description") is not None:
                self.text(option["description"], f"{path}/options/{at}/description", 75)

    def image(self, image: JSON, path: str) -> None:
        if not image.get("image_url") and not image.get("slack_file"):
            self.say("missing required field: image_url", path)
        self.optional(image, "image_url", path, 3000)
        self.length(image.get("alt_text"), f"{path}/alt_text", 2000, least=1)
        if image.get("title") is not None:
            self.text(image["title"], f"{path}/title", 2000, plain=True)

    # ------------------------------------------------------------------ blocks

    def section(self, block: JSON, path: str) -> None:
        if block.get("text") is None and not block.get("fields"):
            self.say("missing required field: text", path)
        if block.get("text") is not None:
            self.text(block["text"], f"{path}/text", 3000)
        for at, one in enumerate(self.items(block, "fields", path, 10) if "fields" in block else []):
            self.text(one, f"{path}/fields/{at}", 2000)
        if block.get("accessory") is not None:
            self.element(block["accessory"], f"{path}/accessory", INTERACTIVE | {"image"})

    def markdown(self, block: JSON, path: str) -> None:
        self.length(block.get("text"), f"{path}/text", LONGEST_MARKDOWN, least=1)
        before, self._markdown = self._markdown, self._markdown + len(str(block.get("text")))
        if before <= LONGEST_MARKDOWN < self._markdown and before:
            self.say(f"must be less than {LONGEST_MARKDOWN + 1} characters", f"{path}/text")

    def context(self, block: JSON, path: str) -> None:
        for at, one in enumerate(self.items(block, "elements", path, 10)):
            if one.get("type") == "image":
                self.image(one, f"{path}/elements/{at}")
            else:
                self.text(one, f"{path}/elements/{at}", 3000)

    def input(self, block: JSON, path: str) -> None:
        self.text(block.get("label"), f"{path}/label", 2000, plain=True)
        if block.get("hint") is not None:
            self.text(block["hint"], f"{path}/hint", 2000, plain=True)
        self.element(block.get("element"), f"{path}/element", INPUTS)

    def plain_input(self, element: JSON, path: str) -> None:
        self.optional(element, "initial_value", path, int(element.get("max_length") or 3000))
        if not 0 < int(element.get("max_length") or 3000) <= 3000:
            self.say("must be between 1 and 3000", f"{path}/max_length")

    def file_input(self, element: JSON, path: str) -> None:
        if self._surface != MODAL:
            self.say("unsupported type: file_input", f"{path}/type")
        if not 1 <= int(element.get("max_files") or 10) <= 10:
            self.say("must be between 1 and 10", f"{path}/max_files")

    def table(self, block: JSON, path: str) -> None:
        rows = block.get("rows")
        if not isinstance(rows, list):
            self.say("missing required field: rows", path)
            return
        self.count(rows, f"{path}/rows", 100, least=1)
        for at, row in enumerate(rows):
            self.count(row, f"{path}/rows/{at}", 20)

    def rich_text(self, block: JSON, path: str) -> None:
        self.items(block, "elements", path, 1000)

    def card(self, block: JSON, path: str) -> None:
        for name, most in (("title", 150), ("subtitle", 150), ("body", 200)):
            if block.get(name) is not None:
                self.text(block[name], f"{path}/{name}", most)

    def container(self, block: JSON, path: str) -> None:
        self.card({name: block.get(name) for name in ("title", "subtitle")}, path)
        for at, one in enumerate(self.items(block, "child_blocks", path, 10)):
            self.block(one, f"{path}/child_blocks/{at}")

    def task(self, block: JSON, path: str) -> None:
        for name in ("task_id", "title"):
            self.length(block.get(name), f"{path}/{name}", LONGEST_ID, least=1)
        if block.get("status") not in (None, "pending", "in_progress", "complete", "error"):
            self.say("must be a valid enum value", f"{path}/status")


_SELECTS = {"static_select", "external_select", "users_select", "conversations_select", "channels_select"}
_CHOICES = _SELECTS | {f"multi_{one}" for one in _SELECTS} | {"checkboxes", "radio_buttons"}
_PICKERS = {"datepicker", "timepicker", "datetimepicker"}
INTERACTIVE = _CHOICES | _PICKERS | {"button", "overflow", "workflow_button"}
INPUTS = _CHOICES | _PICKERS | {
    "plain_text_input", "email_text_input", "url_text_input", "number_input", "file_input", "rich_text_input",
}  # fmt: skip

_Rule = Callable[[_Check, JSON, str], None]
_ELEMENTS: dict[str, _Rule] = {
    "button": _Check.button,
    "feedback_buttons": _Check.feedback,
    "icon_button": _Check.icon_button,
    "image": _Check.image,
    "plain_text_input": _Check.plain_input,
    "url_text_input": lambda check, one, path: check.optional(one, "initial_value", path, 3000),
    "file_input": _Check.file_input,
    "static_select": lambda check, one, path: check.options(100)(one, path),
    "multi_static_select": lambda check, one, path: check.options(100)(one, path),
    "overflow": lambda check, one, path: check.options(5)(one, path),
    "checkboxes": lambda check, one, path: check.options(10)(one, path),
    "radio_buttons": lambda check, one, path: check.options(10)(one, path),
}
_BLOCKS: dict[str, _Rule] = {
    "section": _Check.section,
    "header": lambda check, one, path: check.text(one.get("text"), f"{path}/text", 150, plain=True),
    "markdown": _Check.markdown,
    "context": _Check.context,
    "context_actions": lambda check, one, path: check.elements(one, path, 5, {"feedback_buttons", "icon_button"}),
    "actions": lambda check, one, path: check.elements(one, path, 25, INTERACTIVE),
    "input": _Check.input,
    "image": _Check.image,
    "divider": lambda check, one, path: None,
    "rich_text": _Check.rich_text,
    "file": lambda check, one, path: None,
    "video": lambda check, one, path: check.text(one.get("title"), f"{path}/title", 199, plain=True),
    "table": _Check.table,
    "task_card": _Check.task,
    "plan": lambda check, one, path: check.length(one.get("title"), f"{path}/title", 255, least=1),
    "alert": lambda check, one, path: check.text(one.get("text"), f"{path}/text", 3000),
    "card": _Check.card,
    "carousel": lambda check, one, path: check.blocks(check.items(one, "elements", path, 10), f"{path}/elements", 10),
    "container": _Check.container,
}
