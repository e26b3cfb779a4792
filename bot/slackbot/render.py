"""The answer as Slack shows it: text with footnote links, the sources below, buttons. Pure.

Names here: `RenderOptions`, `render_answer`. Beside it: `render_running` (`running_message`, `start_chunks`,
`task_chunks`, `draft_text`, `how_view`), `render_passages` (`Neighbours`, `passages_view`), `render_lists` (`ThreadRow`,
`threads_message`, `notice_message`, `text_post`, `said_message`), `render_home` (`Home`, `home_view`); values in
`layout`, names of buttons in `bot.action_names`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bot.rendering import nothing
from bot.slackbot.layout import SlackPost
from bot.slackbot.render_sources import SourceLink
from core.domain.answer import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """What the renderer cannot know by itself."""

    post_id: str  # marks every part: the same for all tries at one message (1 to 36 letters and digits)
    link: SourceLink
    is_allowed: Callable[[str], bool] = nothing  # addresses in the text that may be clicked, beside cited documents'
    is_private: bool = False  # for one person alone, who may share it with the channel


def render_answer(answer: Answer, options: RenderOptions) -> SlackPost:
    """The messages to post, in order: at least one."""
    raise NotImplementedError
