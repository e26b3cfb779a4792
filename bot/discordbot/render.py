"""The answer as Discord shows it: text with footnote links, the sources below, buttons. Pure.

Names here: `RenderOptions`, `render_answer`. Beside it: `render_running` (`running_view`, `job_tree_text`, `how_view`),
`render_passages` (`Neighbours`, `passages_view`), `render_lists` (`ThreadRow`, `threads_view`, `notice_view`,
`text_view`); values in `layout`, LayoutViews by `views.to_view`, names of buttons in `custom_ids`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bot.discordbot.layout import DiscordPost
from bot.discordbot.render_lists import text_view
from core.domain.answer import Answer, Citation

SourceLink = Callable[[Citation], str | None]  # where a footnote leads; None: nowhere that can be clicked


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """What the renderer cannot know by itself."""

    post_id: str  # marks every part: the same for all tries at one message (1 to 36 letters and digits)
    link: SourceLink
    is_allowed: Callable[[str], bool] = lambda url: False  # addresses in the text that may be clicked


def render_answer(answer: Answer, options: RenderOptions) -> DiscordPost:
    """The messages to post, in order: at least one."""
    return text_view(answer.text)
