"""What people set for a channel, for a thread and for themselves. Kept by workspace; all of it may be absent."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.domain.conversation import ThreadAddress


class Listening(StrEnum):
    """Whether follow-ups in a thread need a mention."""

    NORMAL = "normal"  # in our own threads they need none, elsewhere they do
    MUTED = "muted"  # every question needs a mention, in our own threads, too
    LISTENING = "listening"  # none needs one, in people's threads either


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAddress:
    platform: str
    workspace: str
    channel: str

    @classmethod
    def of(cls, address: ThreadAddress) -> "ChannelAddress":
        return cls(platform=address.platform, workspace=address.workspace, channel=address.channel)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAddress:
    """A person in a workspace, on whichever door."""

    workspace: str
    person: str  # the platform's id
    alone: bool = False  # only where nobody else reads: what they lifted for themselves


# Who has a reading position: what a channel shows everybody, what a person has read.
PositionHolder: TypeAlias = ChannelAddress | PersonAddress

# The last page of a reader who has finished a book, however long its next revision is.
TO_THE_END = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """The default is what a channel has that nobody set anything for."""

    auto_answer: bool = False  # questions in the channel itself need no mention
    answer_posts: bool = False  # new posts of a forum are answered
    sources: frozenset[str] | None = None  # names of the sources that may be read here; None: every one
    language: str | None = None  # answers are written in it; None: in the question's
    strategy: str | None = None  # how questions are answered; None: as configured
    questions_per_minute: int | None = None  # of one person; None: the configured rate

    def allows(self, source_name: str) -> bool:
        return self.sources is None or source_name in self.sources
