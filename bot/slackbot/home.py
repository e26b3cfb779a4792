"""The app's home tab: what a person finds there, as of this moment."""

from bot.slackbot.acts import Act
from bot.slackbot.interactions import Desk


async def show_home(desk: Desk, act: Act) -> None:
    """Publish the person's home tab. Reads what their direct channel with the bot may read. Raises core errors."""
    raise NotImplementedError
