"""Lists, notices and results of commands, within Slack's limits. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.slackbot.layout import SlackMessage, SlackPost


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A conversation in a list."""

    title: str
    detail: str = ""  # "12 messages, last used 2026-11-20"
    url: str | None = None  # where it can be opened


def threads_message(
    rows: Sequence[ThreadRow], *, list_id: str, page: int, pages: int, heading: str, first: int = 1
) -> SlackMessage:
    """One page of a list, with buttons to the pages before and behind (`fn:page:<list id>:<page>`, from 1).

    Rows are numbered from `first`; those that a message cannot hold are counted.
    """
    raise NotImplementedError


def notice_message(sentence: str, *, post_id: str | None = None) -> SlackMessage:
    """An error or a refusal: one sentence. With a post id it is marked as that post's first part."""
    raise NotImplementedError


def text_post(markdown: str) -> SlackPost:
    """The result of a command, made safe and split."""
    raise NotImplementedError


def said_message(name: str, question: str, *, does: str = "asks") -> SlackMessage:
    """“**Ada** asks: question”: what somebody put by a command, or `does` otherwise ("shares"), for all to see."""
    raise NotImplementedError
