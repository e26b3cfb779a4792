"""Threads that only one person reads: their addresses, and questions that move to them. Loads no platform."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from core.domain.incoming import PRIVATE_THREAD, IncomingMessage, ThreadAddress, message_key

_KEPT_METADATA = ("team", "message")  # the others would answer in public
_DIRECT: Mapping[str, Callable[[ThreadAddress], bool]] = {
    "slack": lambda address: address.channel.startswith("D"),  # as in bot/slackbot/events/translate.py
    "discord": lambda address: not address.thread,  # DIRECT_THREAD in bot/discordbot/events/translate.py
}


def is_direct_thread(address: ThreadAddress) -> bool:
    """Return whether only its asker and the bot read there: a private thread, or a direct message."""
    is_direct = _DIRECT.get(address.platform)
    return address.private_to is not None or (is_direct is not None and is_direct(address))


def private_address(address: ThreadAddress, person: str) -> ThreadAddress:
    """Return the address of a person's private questions in a channel."""
    return replace(address, thread=f"{PRIVATE_THREAD}{person}")


def to_private(question: IncomingMessage) -> IncomingMessage:
    """Return a public question as a private one, answered by direct message. Its keys follow from the question's."""
    key = private_key(question.address, message_id_of(question.message_key))
    return replace(
        question,
        address=private_address(question.address, question.author),
        private=True,
        event_key=key + question.event_key.removeprefix(question.message_key),
        message_key=key,
        conversation_id=None,
        metadata={name: value for name, value in question.metadata.items() if name in _KEPT_METADATA},
    )


def private_key(address: ThreadAddress, message_id: str) -> str:
    """Return the posting key of a private answer to a public question: another post of the same time."""
    return message_key(address, f"0{message_id}")


def message_id_of(message_key: str) -> str:
    """Return the platform's id of the question behind a posting key."""
    return message_key.rpartition(":")[2].lstrip("0")
