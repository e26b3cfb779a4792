"""What a message shows: Block Kit, with Slack's limits. Pure.

Names: `Block`, `View`, `SlackMessage`, `SlackPost`, and the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

# Block Kit as Slack's API takes it.
Block: TypeAlias = Mapping[str, Any]
View: TypeAlias = Mapping[str, Any]  # a modal or the home tab

# Slack's limits (https://docs.slack.dev/reference/block-kit, and slack_sdk's validators).
MAX_BLOCKS = 50  # of a message; a view has 100
MAX_VIEW_BLOCKS = 100
MAX_MARKDOWN = 12_000  # characters of all markdown blocks of a message
MAX_LABEL = 75  # characters of a button, an option's label and description
MAX_OPTION_VALUE = 150
MAX_OPTIONS = 100  # of a menu
MAX_ACTIONS = 25  # elements of an actions block
MAX_HEADER = 150  # characters
MAX_TITLE = 24  # characters of a modal's title and buttons
MAX_TASK_ID = 255
MAX_TASK_TEXT = 256  # characters of a task's title, details and output
VIEW_BUDGET = 16_000  # characters of all texts of a view: Slack takes 250 KB of JSON, and one can be twelve bytes
# Characters of all texts of a message, with EACH_BLOCK for each block besides: Slack fails near 13,200 (bolt-js#2509).
TEXT_BUDGET = 11_000
EACH_BLOCK = 125
# Bytes of `text`, escaped: an update takes 4,000 (public reports).
MAX_FALLBACK = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """One message. `text` is what notifications and screen readers have, escaped, at most MAX_FALLBACK bytes.

    `numbers` are the footnotes its text uses, `listed` those its sources have, ascending.
    """

    text: str
    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPost:
    """What is posted, in one message or several, in order."""

    parts: tuple[SlackMessage, ...]
