"""Places of Slack besides messages that hold texts of the bot: home tabs, suggestions and titles."""

from collections.abc import Sequence

from bot.presentation.platform_parts import Pause
from bot.slackbot.events.teams import Team
from bot.slackbot.rendering import blocks
from bot.slackbot.rendering.blocks import View
from bot.slackbot.web_api import call

# In place of the channel in references of them.
HOME, PROMPTS = "home", "prompts"
# Complete “I'm not allowed to …”.
SHOW_HOME, SUGGEST = "show the home tab", "suggest questions"
NAMELESS = "Deleted question"  # title of a thread whose question was deleted
TRY = "Try one of these"
GENERAL_QUESTION = "What documents do you have?"
OUTDATED = "The library has changed. Open this tab again."


async def publish_home(team: Team, person: str, view: View, pause: Pause) -> None:
    await call(SHOW_HOME, lambda: team.client.views_publish(user_id=person, view=view), pause=pause)


def outdated_home() -> View:
    return {"type": "home", "blocks": [blocks.context(OUTDATED)]}


async def suggest(team: Team, channel: str, thread: str, questions: Sequence[str], pause: Pause) -> None:
    """Replace the suggested questions of a thread of the pane."""
    prompts = [{"title": question, "message": question} for question in questions]
    await call(
        SUGGEST,
        lambda: team.client.assistant_threads_setSuggestedPrompts(
            channel_id=channel,
            **({"thread_ts": thread} if thread else {}),  # with it, nothing happens in an agent's app
            title=TRY,
            prompts=prompts,
        ),
        pause=pause,
    )
