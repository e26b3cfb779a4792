"""The handler that commands, buttons, forms and shortcuts share: replies, questions, modals, and deadlines."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slackbot.actions.interaction_context import Act
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.command_text import in_slack_words
from bot.slackbot.events.directory import EXTERNAL, READS_ALONG, Channels, People, is_closed
from bot.slackbot.events.teams import SlackParts, Team
from bot.slackbot.events.translate import MESSAGE, RESPONSE, TEAM, private_address, thread_address
from bot.slackbot.rendering.blocks import SlackMessage, SlackPost, View
from bot.slackbot.rendering.lists import notice_message, said_message
from bot.slackbot.web_api import CLOSED, POST, TIMEOUT_SECONDS, call, understood
from core.domain.conversation import ChannelAddress, Conversation, IncomingMessage, Talk, ThreadAddress, message_key
from core.domain.service import Receipt
from core.errors import AccessDenied, FootnoteError
from core.service.commands import CommandCall, Question

ACKNOWLEDGE_SECONDS = 1.5  # Slack gives up after 3; what takes longer goes on by itself
WRONG = "Something went wrong in Footnote. Try again. If it keeps happening, tell your Footnote admin."
LOOKING = "I am looking it up: the answer comes here, for your eyes only."
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Desk:
    """Where interactions are dealt with."""

    parts: SlackParts
    platform: SlackPlatform
    people: People
    channels: Channels
    _running: set["asyncio.Task[Any]"] = field(default_factory=set)
    _directs: dict[tuple[str, str], str] = field(default_factory=dict)

    async def place(self, act: Act) -> ThreadAddress:
        """Where somebody acted; in a channel itself the thread is empty. The home tab is their direct channel."""
        channel = act.channel or await self.direct(act)
        return thread_address(act.team.workspace, channel, act.thread)

    async def direct(self, act: Act) -> str:
        """The person's direct channel with the bot."""
        key = act.team.id, act.person
        if key not in self._directs:
            opened = await self._made(POST, lambda: act.team.client.conversations_open(users=act.person))
            self._directs[key] = str(opened["channel"]["id"])
        return self._directs[key]

    async def call(
        self, act: Act, name: str, options: Mapping[str, str] | None = None, *, argument: str = ""
    ) -> CommandCall:
        """A command as core takes it."""
        place = await self.place(act)
        thread = act.thread or act.message_ts
        return CommandCall(
            name=name,
            argument=argument,
            options=options or {},
            workspace=place.workspace,
            conversation=await self._conversation(act, place),
            author=act.person,
            author_name=await self.people.name(act.team, act.person),
            address=place,
            direct=act.is_direct,
            is_admin=await self.people.is_admin(act.team, act.person),
            link=act.team.permalink(place.channel, thread, act.thread) or None,
        )

    async def ask(self, act: Act, question: Question, about: Talk | None = None) -> Receipt:
        """Hand a question to the inbox: for everybody in a thread of its own, or for the one who asks alone.

        A public one first has to be a message, for its thread to hang on.
        """
        if question.private and not act.is_direct:  # a direct channel is private already
            receipt = await self._receive(await self._privately(act), question, about)
            if receipt.accepted and act.response_url:
                await self.show(act, SlackPost(parts=(notice_message(LOOKING),)))
        else:
            receipt = await self._ask_openly(act, question, about)
        if not receipt.accepted:
            await self.say(act, receipt.decision.sentence)
        return receipt

    async def say(self, act: Act, sentence: str) -> None:
        """One sentence of ours, for the one who acted; the commands in it are named as they are given there."""
        told = in_slack_words(
            sentence, self.parts.commands.table, in_thread=bool(act.thread), command=self.parts.command
        )
        await self.show(act, SlackPost(parts=(notice_message(told),)))

    async def show(self, act: Act, post: SlackPost, *, public: bool = False) -> None:
        """Answer whoever acted: for them alone, or in the thread for everybody. Raises core errors."""
        for part in post.parts:
            if public and act.channel:
                await self.post(act, part)
            elif not await self._respond(act, part):
                await self._whisper(act, part)

    async def open(self, act: Act, view: View) -> str:
        """Show a modal; gives its id. Raises core errors, also when the three seconds are over."""
        with understood("open a form"):
            opened = await act.team.client.views_open(trigger_id=act.trigger_id, view=dict(view))
        return str(opened["view"]["id"])

    async def update(self, act: Act, view_id: str, view: View) -> None:
        """Another content for a modal that is open."""
        with understood("open a form"):
            await act.team.client.views_update(view_id=view_id, view=dict(view))

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Something that nobody waits for: it says itself what goes wrong (`guarded`)."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def in_time(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """What `work` gives; None when it takes so long that Slack has to be told first: it goes on by itself."""
        task = self.spawn(work)
        done, _ = await asyncio.wait({task}, timeout=ACKNOWLEDGE_SECONDS)
        return task.result() if done else None

    async def guarded(self, act: Act, work: Coroutine[Any, Any, Result]) -> Result | None:
        """What `work` gives; its errors are sentences for the one who acted, faults of ours go to the log."""
        try:
            return await work
        except FootnoteError as error:
            sentence = str(error)
        except Exception:
            _log.exception("A command, a button or a form failed")
            sentence = WRONG
        try:
            await self.say(act, sentence)
        except FootnoteError as error:
            _log.warning("%s can't be told %r: %s", act.person, sentence, error)
        return None

    async def close(self) -> None:
        """End what is still under way; whoever waits for it can do it again."""
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("What Slack asked for failed", exc_info=error)

    async def _conversation(self, act: Act, place: ThreadAddress) -> Conversation | None:
        """Of the thread; in a channel itself the private one of the person, where there is one."""
        if place.thread:
            return await self.parts.conversations.find(place)
        return await self.parts.conversations.find(private_address(place.workspace, place.channel, act.person))

    async def _ask_openly(self, act: Act, question: Question, about: Talk | None) -> Receipt:
        """What is not taken in does not stay as a question that nobody answers."""
        place = await self.place(act)
        name = await self.people.name(act.team, act.person)
        ts = await self.post(replace(act, channel=place.channel), said_message(name, question.text))
        is_accepted = False
        try:
            address = place if place.thread else thread_address(place.workspace, place.channel, ts)
            receipt = await self._receive(await self.bare(act, address, ts), question, about)
            is_accepted = receipt.accepted
        finally:
            if not is_accepted:
                await self.take_back(act, place.channel, ts)
        return receipt

    async def _privately(self, act: Act) -> IncomingMessage:
        place = await self.place(act)
        address = private_address(place.workspace, place.channel, act.person)
        now = f"{self.parts.clock.now().timestamp():.6f}"  # as Slack names messages; nobody asks twice in a microsecond
        bare = await self.bare(act, address, now)
        return replace(bare, metadata={**bare.metadata, RESPONSE: act.response_url}) if act.response_url else bare

    async def bare(self, act: Act, address: ThreadAddress, ts: str) -> IncomingMessage:
        """What somebody asks at an address by the message `ts`, without its words yet."""
        key = message_key(address, ts)
        asked = IncomingMessage(
            address=address,
            author=act.person,
            author_name=await self.people.name(act.team, act.person),
            text="",
            event_key=key,
            message_key=key,
            metadata={TEAM: act.team.id, MESSAGE: ts},
        )
        return await self.told_of_others(asked, act.team)

    async def told_of_others(self, incoming: IncomingMessage, team: Team) -> IncomingMessage:
        """The message, marked where people of other companies read its channel (channels.py)."""
        if not await self.channels.is_external(team, incoming.address.channel):
            return incoming
        return replace(incoming, metadata={**incoming.metadata, EXTERNAL: "yes"})

    async def require_open(self, act: Act) -> None:
        """AccessDenied where people of other companies read along, and nobody has chosen what they may."""
        place = await self.place(act)
        if await self.channels.is_external(act.team, place.channel) and await is_closed(
            self.parts.settings, ChannelAddress.of(place)
        ):
            raise AccessDenied(READS_ALONG.sentence)

    async def _receive(self, bare: IncomingMessage, question: Question, about: Talk | None) -> Receipt:
        asked = question.on(bare)
        return await self.parts.inbox.receive(asked if about is None else replace(asked, about=about))

    async def post(self, act: Act, part: SlackMessage) -> str:
        """A message for everybody; its `ts`."""
        posted = await self._made(
            POST,
            lambda: act.team.client.chat_postMessage(
                channel=act.channel,
                thread_ts=act.thread or None,
                text=part.text,
                blocks=[dict(block) for block in part.blocks],
                unfurl_links=False,
                unfurl_media=False,
            ),
        )
        return str(posted["ts"])

    async def replace(self, act: Act, part: SlackMessage) -> bool:
        """Another content for the message that was acted on; False where Slack does not take it any more."""
        return await self._respond(act, part, replaces=True)

    async def _respond(self, act: Act, part: SlackMessage, *, replaces: bool = False) -> bool:
        """By the reply that an interaction allows; False where there is none, or no more."""
        if not act.response_url:
            return False
        how = {"replace_original": True} if replaces else {"replace_original": False, "response_type": "ephemeral"}
        try:
            with understood(POST):
                webhook = AsyncWebhookClient(act.response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
                reply = await webhook.send_dict(
                    {"text": part.text, "blocks": [dict(block) for block in part.blocks], **how}
                )
        except FootnoteError as error:
            _log.info("An interaction can't be answered in its place: %s", error)
            return False
        if reply.status_code != 200:
            _log.info("An interaction can't be answered in its place: %s %s", reply.status_code, reply.body)
        return reply.status_code == 200

    async def _whisper(self, act: Act, part: SlackMessage) -> None:
        """A message that one person sees; where that is not possible, a direct one."""
        blocks = [dict(block) for block in part.blocks]
        if act.channel and not act.is_direct:
            try:
                await self._made(
                    POST,
                    lambda: act.team.client.chat_postEphemeral(
                        channel=act.channel,
                        user=act.person,
                        thread_ts=act.thread or None,
                        text=part.text,
                        blocks=blocks,
                    ),
                )
                return
            except CLOSED as error:
                _log.info("%s can't be told in %s: %s", act.person, act.channel, error)
        direct = act.channel if act.is_direct else await self.direct(act)
        await self.post(replace(act, channel=direct, thread=act.thread if act.is_direct else ""), part)

    async def take_back(self, act: Act, channel: str, ts: str) -> None:
        """Delete a message of ours; where Slack does not, it stays."""
        try:
            await self._made(POST, lambda: act.team.client.chat_delete(channel=channel, ts=ts))
        except FootnoteError as error:
            _log.info("A question that was not taken in stays: %s", error)

    async def _made(self, doing: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """What a call to Slack gives; a short pause that Slack asks for is waited out."""
        return await call(doing, make, pause=self.parts.pause)
