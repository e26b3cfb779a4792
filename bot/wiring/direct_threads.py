"""Which threads are one person's alone, by what each platform's addresses look like. No platform is loaded for it."""

from collections.abc import Callable, Mapping

from core.domain.conversation import ThreadAddress

_DIRECT: Mapping[str, Callable[[ThreadAddress], bool]] = {
    "slack": lambda address: address.channel.startswith("D"),  # as bot/slackbot/translate.py has it
    "discord": lambda address: not address.thread,  # bot/discordbot/translate.py: DIRECT_THREAD
}


def is_one_persons(address: ThreadAddress) -> bool:
    """Whether nobody but its asker and the bot reads there: a private thread in a channel, or a direct channel."""
    is_direct = _DIRECT.get(address.platform)
    return address.private_to is not None or (is_direct is not None and is_direct(address))
