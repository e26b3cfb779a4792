"""Recognition of threads that only one person reads, by their addresses. Loads no platform."""

from collections.abc import Callable, Mapping

from core.domain.conversation import ThreadAddress

_DIRECT: Mapping[str, Callable[[ThreadAddress], bool]] = {
    "slack": lambda address: address.channel.startswith("D"),  # as in bot/slackbot/events/translate.py
    "discord": lambda address: not address.thread,  # DIRECT_THREAD in bot/discordbot/events/translate.py
}


def is_direct_thread(address: ThreadAddress) -> bool:
    """Return whether only its asker and the bot read there: a private thread, or a direct message."""
    is_direct = _DIRECT.get(address.platform)
    return address.private_to is not None or (is_direct is not None and is_direct(address))
