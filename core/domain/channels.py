"""Messages of people in live channels, which an admin named as a source. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import uuid5

from core.domain.corpus import NAMESPACE
from core.domain.incoming import ChannelAddress

LIVE_KIND = "live"  # the kind of their sources and documents
_SUFFIX = ".said"  # of the paths of their documents


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """A message of a person. Ids are the platform's, and unique in a channel."""

    id: str
    root: str  # the message that its thread began with, perhaps itself
    author: str
    author_name: str
    said_at: datetime
    begun_at: datetime  # when its thread began
    text: str
    link: str  # web address


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message as it is stored. Of a deleted one only the id is left, so that no repeated event brings it back."""

    message: ChannelMessage
    version: int  # changes with each edit
    is_gone: bool = False
    is_read: bool = False  # the library has it as it is now


def location_of(channel: ChannelAddress) -> str:
    """Return the location of a live channel's source."""
    return f"{channel.platform}:{channel.channel}"


def live_source_id(channel: ChannelAddress) -> str:
    """Return the id of a live channel's source."""
    return str(uuid5(NAMESPACE, f"{LIVE_KIND}\x1f{channel.workspace}\x1f{location_of(channel)}"))


def path_of(root: str) -> str:
    """Return the path of a thread's document."""
    return f"{root}{_SUFFIX}"


def is_said(path: str) -> bool:
    """Return whether the document of a path is a thread: its pages are messages, named by who said them and when."""
    return path.endswith(_SUFFIX)


def write_thread(channel: str, messages: Sequence[ChannelMessage]) -> str:
    """Return the file of a thread, for `read_thread`."""
    said = [{**asdict(item), "said_at": item.said_at.isoformat(), "begun_at": None} for item in messages]
    return json.dumps({"channel": channel, "messages": said}, ensure_ascii=False)


def read_thread(text: str) -> tuple[str, list[ChannelMessage]]:
    """Return the channel and the messages of a file, oldest first. Raises ValueError for other files."""
    try:
        found = json.loads(text)
        messages = [
            ChannelMessage(**{**one, "said_at": (at := datetime.fromisoformat(one["said_at"])), "begun_at": at})
            for one in found["messages"]
        ]
        return str(found["channel"]), messages
    except (KeyError, TypeError) as error:
        raise ValueError("no file of a live channel") from error
