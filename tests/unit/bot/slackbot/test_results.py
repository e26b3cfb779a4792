"""Results with buttons, within what Slack takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slackbot.actions.commands import LINK, linked_post, with_button
from bot.slackbot.rendering.blocks import SlackPost, button
from bot.slackbot.rendering.lists import text_post
from tests.slack_server.limits import check_blocks

LINKED = "https://footnote.example.org/s/1"


def buttons(post: SlackPost) -> list[tuple[str, str]]:
    """Label and address of the buttons, in order."""
    rows = [block["elements"] for part in post.parts for block in part.blocks if block["type"] == "actions"]
    return [(one["text"]["text"], one["url"]) for row in rows for one in row if one["action_id"] == LINK]


def test_a_link_is_a_button_below_the_last_part() -> None:
    post = linked_post(text_post("long " * 5_000), "Open the source", LINKED)
    assert len(post.parts) > 1
    assert buttons(SlackPost(parts=post.parts[-1:])) == [("Open the source", LINKED)]
    assert buttons(SlackPost(parts=post.parts[:-1])) == []


@pytest.mark.parametrize("link", [None, "", "obsidian://open?file=x", "javascript:alert(1)", "https://" + "x" * 4_000])
def test_what_is_no_web_address_is_no_button(link: str | None) -> None:
    assert buttons(linked_post(text_post("text"), "Open", link)) == []


@given(st.text(max_size=20_000), st.text(max_size=200), st.text(max_size=4_000))
def test_slack_takes_every_linked_text(text: str, label: str, path: str) -> None:
    post = linked_post(text_post(text), label, f"https://example.org/{path}")
    for part in (*post.parts, *with_button(post, button(label, "fn:form:ask")).parts):
        assert len(check_blocks([dict(block) for block in part.blocks])) == len(part.blocks)
