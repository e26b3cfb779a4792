"""What the Slack server refuses in blocks, texts and views, and that slack_sdk's own validators agree."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import Block
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slack_server.plain_bot import BUTTONS, form
from tests.slack_server import Channel, Person
from tests.slack_server.blocks import HOME, MODAL, problems_of
from tests.slack_server.limits import check_update, check_view
from tests.slack_server.refusals import Refusal


def plain(said: str) -> dict[str, str]:
    return {"type": "plain_text", "text": said}


def section(said: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": said}}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": "a", "text": plain("Go"), **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def select(count: int) -> dict[str, Any]:
    options = [{"text": plain(f"{n}"), "value": f"{n}"} for n in range(count)]
    return {"type": "static_select", "action_id": "s", "options": options}


TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 20] * 100}
LARGEST = [
    section("x" * 3000),
    {"type": "section", "fields": [plain("x" * 2000)] * 10},
    {"type": "header", "text": plain("x" * 150)},
    {"type": "markdown", "text": "x" * 12_000},
    {"type": "context", "elements": [plain("x")] * 10},
    actions(*(button(action_id=f"{n}") for n in range(25))),
    actions(button(value="x" * 2000, url="https://" + "x" * 2992, action_id="x" * 255), select(100)),
    {"type": "image", "image_url": "x" * 3000, "alt_text": "x" * 2000},
    {"type": "divider", "block_id": "x" * 255},
    TABLE,
    *BUTTONS,
]
TOO_LARGE = [
    (section("x" * 3001), "/blocks/0/text/text", "must be less than 3001 characters"),
    (section(""), "/blocks/0/text/text", "must be more than 0 characters"),
    ({"type": "section"}, "/blocks/0", "missing required field: text"),
    ({"type": "section", "fields": [plain("x")] * 11}, "/blocks/0/fields", "no more than 10 items allowed"),
    (
        {"type": "section", "fields": [plain("x" * 2001)]},
        "/blocks/0/fields/0/text",
        "must be less than 2001 characters",
    ),
    ({"type": "header", "text": plain("x" * 151)}, "/blocks/0/text/text", "must be less than 151 characters"),
    ({"type": "header", "text": section("x")["text"]}, "/blocks/0/text", "failed to match all allowed schemas"),
    ({"type": "markdown", "text": "x" * 12_001}, "/blocks/0/text", "must be less than 12001 characters"),
    ({"type": "context", "elements": [plain("x")] * 11}, "/blocks/0/elements", "no more than 10 items allowed"),
    ({"type": "context", "elements": []}, "/blocks/0/elements", "no fewer than 1 items allowed"),
    (actions(*(button(action_id=f"{n}") for n in range(26))), "/blocks/0/elements", "no more than 25 items allowed"),
    (actions(button(), button()), "/blocks/0/elements/1/action_id", '`action_id` "a" already exists'),
    (actions(button(text=plain("x" * 76))), "/blocks/0/elements/0/text/text", "must be less than 76 characters"),
    (actions(button(value="x" * 2001)), "/blocks/0/elements/0/value", "must be less than 2001 characters"),
    (actions(button(url="x" * 3001)), "/blocks/0/elements/0/url", "must be less than 3001 characters"),
    (actions(button(action_id="x" * 256)), "/blocks/0/elements/0/action_id", "must be less than 256 characters"),
    (actions(button(style="loud")), "/blocks/0/elements/0/style", "must be a valid enum value"),
    (actions(select(101)), "/blocks/0/elements/0/options", "no more than 100 items allowed"),
    (actions({**select(6), "type": "overflow"}), "/blocks/0/elements/0/options", "no more than 5 items allowed"),
    ({"type": "divider", "block_id": "x" * 256}, "/blocks/0/block_id", "must be less than 256 characters"),
    ({"type": "image", "image_url": "https://x.example"}, "/blocks/0/alt_text", "must be a string"),
    ({**TABLE, "rows": [[]] * 101}, "/blocks/0/rows", "no more than 100 items allowed"),
    ({"type": "carousel", "elements": [{"type": "card"}] * 11}, "/blocks/0/elements", "no more than 10 items allowed"),
    ({"type": "card", "body": plain("x" * 201)}, "/blocks/0/body/text", "must be less than 201 characters"),
    ({"type": "poem"}, "/blocks/0/type", "unsupported type: poem"),
]


@pytest.mark.parametrize("block", LARGEST, ids=lambda block: block["type"])
def test_the_largest_block_is_taken(block: dict[str, Any]) -> None:
    assert problems_of([block]) == []
    parsed = Block.parse(block)
    assert parsed is not None
    parsed.validate_json()


@pytest.mark.parametrize(("block", "path", "problem"), TOO_LARGE)
def test_more_than_that_is_refused(block: dict[str, Any], path: str, problem: str) -> None:
    assert f"{problem} [json-pointer:{path}]" in problems_of([block])


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ({**section("x"), "txet": "y"}, "unknown field: txet [json-pointer:/blocks/0]"),
        ({**section("x"), "text": {**section("x")["text"], "verbatm": True}}, "unexpected keyword argument 'verbatm'"),
        (actions(button(colour="red")), "unknown field: colour [json-pointer:/blocks/0/elements/0]"),
        (actions({"type": "datepicker", "action_id": "a", "initial_date": "tomorrow"}), "initial_date"),
        ({"type": "carousel", "elements": [{"type": "card", "body": plain("x"), "tilte": plain("y")}]}, "tilte"),
    ],
)
def test_what_slack_s_own_models_do_not_know_is_refused(block: dict[str, Any], problem: str) -> None:
    [found] = problems_of([block])
    assert problem in found


def test_ids_are_unique_and_fifty_blocks_enough() -> None:
    assert problems_of([{"type": "divider"}] * 50) == []
    assert problems_of([{"type": "divider"}] * 51) == ["no more than 50 items allowed [json-pointer:/blocks]"]
    twice = problems_of([{"type": "divider", "block_id": "b"}] * 2)
    assert twice == ['`block_id` "b" already exists [json-pointer:/blocks/1/block_id]']


def test_some_blocks_are_for_messages_alone() -> None:
    for surface in (MODAL, HOME):
        assert problems_of([{"type": "markdown", "text": "x"}], surface) != []
        assert problems_of([{"type": "divider"}] * 100, surface) == []
        assert problems_of([{"type": "divider"}] * 101, surface) != []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": plain("x" * 25)}, "must be less than 25 characters [json-pointer:/view/title/text]"),
        ({"title": None}, "missing required field: title [json-pointer:/view]"),
        ({"submit": None}, "when there is an input block, submit is required [json-pointer:/view/submit]"),
        ({"private_metadata": "x" * 3001}, "must be less than 3001 characters [json-pointer:/view/private_metadata]"),
        ({"callback_id": "x" * 256}, "must be less than 256 characters [json-pointer:/view/callback_id]"),
        (
            {"blocks": [section("x" * 3001)]},
            "must be less than 3001 characters [json-pointer:/view/blocks/0/text/text]",
        ),
    ],
)
def test_a_view_has_limits_of_its_own(change: dict[str, Any], problem: str) -> None:
    assert check_view(form())["callback_id"] == "form"
    with pytest.raises(Refusal) as refused:
        check_view({**form(), **change})
    assert (refused.value.error, refused.value.messages) == ("invalid_arguments", [f"[ERROR] {problem}"])


async def test_invalid_blocks_are_refused_with_details(client: AsyncWebClient, general: Channel) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=general.id, text="x", blocks=[section("x" * 3001)])
    assert refused.value.response["error"] == "invalid_blocks"
    problem = "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    assert refused.value.response["errors"] == [problem]
    assert refused.value.response["response_metadata"]["messages"] == [f"[ERROR] {problem}"]
    with pytest.raises(SlackApiError, match="invalid_blocks_format"):
        await client.chat_postMessage(channel=general.id, text="x", blocks="no JSON")


async def test_all_text_of_the_blocks_together_has_a_limit(client: AsyncWebClient, general: Channel) -> None:
    await client.chat_postMessage(channel=general.id, text="x", blocks=[section("x" * 3000)] * 4)
    with pytest.raises(SlackApiError, match="msg_blocks_too_long"):
        await client.chat_postMessage(channel=general.id, text="x", blocks=[section("x" * 3000)] * 5)


async def test_a_long_text_is_cut_when_posted_and_refused_when_updated(
    client: AsyncWebClient, general: Channel
) -> None:
    posted = await client.chat_postMessage(channel=general.id, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000
    await client.chat_update(channel=general.id, ts=posted["ts"], text="x" * 4000)
    for too_long in ("x" * 4001, "é" * 2001, "&" * 801):
        with pytest.raises(SlackApiError, match="msg_too_long"):
            await client.chat_update(channel=general.id, ts=posted["ts"], text=too_long)
    check_update("&amp;" * 800)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await client.chat_postMessage(channel=general.id, markdown_text="x" * 12_001)


async def test_parameters_come_as_a_form_as_json_and_in_the_address(
    client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    blocks, metadata = [section("x")], {"event_type": "e", "event_payload": {}}
    by_form = await client.api_call(
        "chat.postMessage", data={"channel": general.id, "text": "x", "blocks": str(blocks).replace("'", '"')}
    )
    by_json = await client.chat_postMessage(channel=general.id, text="x", blocks=blocks, metadata=metadata)
    assert by_form["message"]["blocks"] == by_json["message"]["blocks"]
    assert by_json["message"]["metadata"] == metadata
    by_address = await client.api_call("users.info", http_verb="GET", params={"user": alice.id})
    assert by_address["user"]["name"] == "alice"
