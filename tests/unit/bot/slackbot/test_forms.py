"""Forms made from options: what Slack takes, and what comes back."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slackbot.rendering.forms import read_form, to_form
from core.errors import BadInput
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind
from tests.slack_server import View
from tests.slack_server.choosing import values_of
from tests.slack_server.limits import check_view
from tests.unit.bot.slackbot.whole_table import whole_table

TABLE = whole_table().table
WITH_OPTIONS = [command for command in TABLE.values() if command.options]


async def nothing(call: CommandCall) -> CommandResult:
    return CommandResult(text="")


def a_command(*options: Option, name: str = "try") -> Command:
    return Command(name=name, usage="", help="try it", run=nothing, options=options)


names = st.from_regex(r"[a-z][a-z_]{0,29}", fullmatch=True)
texts = st.text(max_size=4_000)


@st.composite
def an_option(draw: st.DrawFn, name: str) -> Option:
    kind = draw(st.sampled_from(OptionKind))
    offered = draw(st.lists(st.text(min_size=1, max_size=150).filter(str.strip), min_size=1, max_size=150, unique=True))
    return Option(
        name=name,
        help=draw(texts),
        kind=kind,
        required=draw(st.booleans()),
        choices=tuple(offered) if kind is OptionKind.CHOICE else (),
    )


@st.composite
def a_form(draw: st.DrawFn) -> tuple[Command, Mapping[str, str]]:
    named = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    options = [draw(an_option(name)) for name in named]
    values = {name: draw(texts | st.just("true") | st.just("12")) for name in draw(st.sets(st.sampled_from(named)))}
    return a_command(*options, name=draw(names)), values


@given(a_form(), st.text(max_size=3_000))
def test_slack_takes_every_form(form: tuple[Command, Mapping[str, str]], metadata: str) -> None:
    command, values = form
    view = check_view(dict(to_form(command, metadata, values)))
    assert [block["block_id"] for block in view["blocks"][1:]] == [option.name for option in command.options]
    assert view["private_metadata"] == metadata


@pytest.mark.parametrize("command", WITH_OPTIONS, ids=lambda command: command.name)
def test_every_command_with_options_has_a_form(command: Command) -> None:
    view = check_view(dict(to_form(command, "")))
    fields = [block for block in view["blocks"] if block["type"] == "input"]
    assert [(field["block_id"], not field["optional"]) for field in fields] == [
        (option.name, option.required) for option in command.options
    ]
    assert read_form({**view, "state": {"values": {}}}) == (command.name, {})


def no_files(name: str, data: bytes) -> dict[str, Any]:
    raise AssertionError("no form of a command takes files")


def filled(view: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The view as Slack tells of it, once somebody filled it in."""
    shown = View(id="V1", user="U1", payload=dict(view), hash="1")
    return {**view, "state": {"values": values_of(shown, values or {}, no_files)}}


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (OptionKind.TEXT, "plain_text_input"),
        (OptionKind.NUMBER, "number_input"),
        (OptionKind.FLAG, "checkboxes"),
        (OptionKind.CHOICE, "static_select"),
        (OptionKind.DOCUMENT, "external_select"),
        (OptionKind.JOURNAL, "external_select"),
        (OptionKind.THREAD, "external_select"),
    ],
)
def test_each_kind_of_option_has_its_field(kind: OptionKind, field: str) -> None:
    option = Option(
        name="it", help="what it is", kind=kind, choices=("one", "two") if kind is OptionKind.CHOICE else ()
    )
    block = to_form(a_command(option), "")["blocks"][1]
    assert (block["element"]["type"], block["label"]["text"], block["hint"]["text"]) == (field, "It", "What it is")


def test_what_was_given_is_filled_in_and_comes_back() -> None:
    values = {"question": "where is\nthe key", "document": "house.md", "private": "true"}
    assert read_form(filled(to_form(TABLE["ask"], "", values))) == ("ask", values)


def test_numbers_and_choices_are_filled_in() -> None:
    threads = {"action": "export", "thread": "1b9d6bcd", "format": "json", "page": "2"}
    assert read_form(filled(to_form(TABLE["threads"], "", threads))) == ("threads", threads)


def test_what_no_field_can_hold_is_left_empty() -> None:
    values = {"action": "burn", "page": "two", "thread": "x" * 151}
    assert read_form(filled(to_form(TABLE["threads"], "", values))) == ("threads", {})


def test_what_somebody_filled_in_comes_back_by_option() -> None:
    told = filled(to_form(TABLE["ask"], ""), {"question": " where? ", "document": "house.md", "private": ["true"]})
    assert read_form(told) == ("ask", {"question": "where?", "document": "house.md", "private": "true"})


@given(a_form())
def test_whatever_comes_back_is_what_was_filled_in(form: tuple[Command, Mapping[str, str]]) -> None:
    command, values = form
    shown = to_form(command, "", values)
    optional = [{**block, "optional": True} if block["type"] == "input" else block for block in shown["blocks"]]
    name, told = read_form(filled({**shown, "blocks": optional}))
    assert name == command.name
    assert {option: values[option].strip()[:3_000].strip() for option in told} == told


@pytest.mark.parametrize("callback", ["", "another", "fn:form", "fn:how:ask", None])
def test_another_view_is_no_form(callback: str | None) -> None:
    with pytest.raises(BadInput, match="Open it again"):
        read_form({"type": "modal", "callback_id": callback})
