"""Slack as a platform: one post for each question, streamed while it is written, then final in the same message."""

from collections.abc import Sequence

from bot.platform_parts import LinkTo, Pause
from bot.slackbot.people import People
from bot.slackbot.teams import Team, Teams
from bot.slackbot.translate import PLATFORM
from core.domain.answer import Answer
from core.domain.conversation import Attachment, IncomingMessage, Talk, ThreadAddress
from core.domain.inbox import InboxEntry, PostRef
from core.ports import Clock, ProgressSink
from core.service_ports import InboxStore


class SlackPlatform:
    """ChatPlatform and ThreadReader of Slack, for all teams that the app is installed in."""

    name = PLATFORM

    def __init__(
        self, teams: Teams, people: People, entries: InboxStore, link: LinkTo, clock: Clock, pause: Pause
    ) -> None:
        """`link` gives where a footnote leads; `pause` waits between the changes of a post that is being written."""

    async def show_status(self, question: IncomingMessage) -> None:
        """Let people see at once that their question was taken in. Raises nothing: it is a courtesy."""
        raise NotImplementedError

    async def open(self, entry: InboxEntry) -> ProgressSink:
        raise NotImplementedError

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        raise NotImplementedError

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """In the post's place; where that is closed to us, to the asker directly."""
        raise NotImplementedError

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Of a thread of people; a thread that a question opened has no talk before it."""
        raise NotImplementedError

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        raise NotImplementedError

    async def delete(self, ref: PostRef, team: Team) -> None:
        """Take a post away; parts that are gone already are fine. `ref` is `channel/ts,ts`."""
        raise NotImplementedError

    async def take_back(self, message_key: str) -> None:
        """Delete what this process has posted of an answer that nobody waits for any more."""
        raise NotImplementedError

    async def close(self) -> None:
        """End the drawing of unfinished posts, which go on at the next start; one that hangs is not waited for."""
        raise NotImplementedError
