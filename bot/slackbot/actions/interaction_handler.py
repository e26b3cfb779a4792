"""The handler that commands, buttons, forms and shortcuts share: replies, questions, modals, and deadlines."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.actions.interaction_context import InteractionContext
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.command_text import format_command_names
from bot.slackbot.events.directory import EXTERNAL, READS_ALONG, Channels, People, is_closed
from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import MESSAGE, RESPONSE, TEAM, private_address, thread_address
from bot.slackbot.rendering.blocks import SlackMessage, SlackPost, View
from bot.slackbot.rendering.lists import notice_message, said_message
from bot.slackbot.web_api import CLOSED, POST, TIMEOUT_SECONDS, call, translated_errors
from core.domain.conversation import ChannelAddress, Conversation, IncomingMessage, Talk, ThreadAddress, message_key
from core.domain.service import Receipt
from core.errors import AccessDenied, FootnoteError
from core.service.commands import CommandCall, Question

ACKNOWLEDGE_SECONDS = 1.5  # Slack gives up after 3; what takes longer goes on by itself
WRONG = "Something went wrong inside Footnote: try again, or tell who runs it."
LOOKING = "I am looking it up: the answer comes here, for your eyes only."
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class InteractionHandler:
    """Where interactions are dealt with."""

    parts: PlatformParts
    platform: SlackPlatform
    people: People
    channels: Channels
    _running: set["asyncio.Task[Any]"] = field(default_factory=set)
    _directs: dict[tuple[str, str], str] = field(default_factory=dict)

    async def place(self, ctx: InteractionContext) -> ThreadAddress:
        """Where somebody acted; in a channel itself the thread is empty. The home tab is their direct channel."""
        channel = ctx.channel or await self.direct(ctx)
        return thread_address(ctx.team.workspace, channel, ctx.thread)

    async def direct(self, ctx: InteractionContext) -> str:
        """The person's direct channel with the bot."""
        key = ctx.team.id, ctx.person
        if key not in self._directs:
            opened = await self._made(POST, lambda: ctx.team.client.conversations_open(users=ctx.person))
            self._directs[key] = str(opened["channel"]["id"])
        return self._directs[key]

    async def call(
        self, ctx: InteractionContext, name: str, options: Mapping[str, str] | None = None, *, argument: str = ""
    ) -> CommandCall:
        """A command as core takes it."""
        place = await self.place(ctx)
        thread = ctx.thread or ctx.message_ts
        return CommandCall(
            name=name,
            argument=argument,
            options=options or {},
            workspace=place.workspace,
            conversation=await self._conversation(ctx, place),
            author=ctx.person,
            author_name=await self.people.name(ctx.team, ctx.person),
            address=place,
            direct=ctx.is_direct,
            is_admin=await self.people.is_admin(ctx.team, ctx.person),
            link=ctx.team.permalink(place.channel, thread, ctx.thread) or None,
        )

    async def ask(self, ctx: InteractionContext, question: Question, about: Talk | None = None) -> Receipt:
        """Hand a question to the inbox: for everybody in a thread of its own, or for the one who asks alone.

        A public one first has to be a message, for its thread to hang on.
        """
        if question.private and not ctx.is_direct:  # a direct channel is private already
            receipt = await self._receive(await self._privately(ctx), question, about)
            if receipt.accepted and ctx.response_url:
                await self.show(ctx, SlackPost(parts=(notice_message(LOOKING),)))
        else:
            receipt = await self._ask_openly(ctx, question, about)
        if not receipt.accepted:
            await self.say(ctx, receipt.decision.sentence)
        return receipt

    async def say(self, ctx: InteractionContext, sentence: str) -> None:
        """One sentence of ours, for the one who acted; the commands in it are named as they are given there."""
        told = format_command_names(sentence, self.parts.commands.table, in_thread=bool(ctx.thread))
        await self.show(ctx, SlackPost(parts=(notice_message(told),)))

    async def show(self, ctx: InteractionContext, post: SlackPost, *, public: bool = False) -> None:
        """Answer whoever acted: for them alone, or in the thread for everybody. Raises core errors."""
        for part in post.parts:
            if public and ctx.channel:
                await self.post(ctx, part)
            elif not await self._respond(ctx, part):
                await self._whisper(ctx, part)

    async def open(self, ctx: InteractionContext, view: View) -> str:
        """Show a modal; gives its id. Raises core errors, also when the three seconds are over."""
        with translated_errors("open a form"):
            opened = await ctx.team.client.views_open(trigger_id=ctx.trigger_id, view=dict(view))
        return str(opened["view"]["id"])

    async def update(self, ctx: InteractionContext, view_id: str, view: View) -> None:
        """Another content for a modal that is open."""
        with translated_errors("open a form"):
            await ctx.team.client.views_update(view_id=view_id, view=dict(view))

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

    async def guarded(self, ctx: InteractionContext, work: Coroutine[Any, Any, Result]) -> Result | None:
        """What `work` gives; its errors are sentences for the one who acted, faults of ours go to the log."""
        try:
            return await work
        except FootnoteError as error:
            sentence = str(error)
        except Exception:
            _log.exception("A command, a button or a form failed")
            sentence = WRONG
        try:
            await self.say(ctx, sentence)
        except FootnoteError as error:
            _log.warning("%s can't be told %r: %s", ctx.person, sentence, error)
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

    async def _conversation(self, ctx: InteractionContext, place: ThreadAddress) -> Conversation | None:
        """Of the thread; in a channel itself the private one of the person, where there is one."""
        if place.thread:
            return await self.parts.conversations.find(place)
        return await self.parts.conversations.find(private_address(place.workspace, place.channel, ctx.person))

    async def _ask_openly(self, ctx: InteractionContext, question: Question, about: Talk | None) -> Receipt:
        """What is not taken in does not stay as a question that nobody answers."""
        place = await self.place(ctx)
        name = await self.people.name(ctx.team, ctx.person)
        ts = await self.post(replace(ctx, channel=place.channel), said_message(name, question.text))
        is_accepted = False
        try:
            address = place if place.thread else thread_address(place.workspace, place.channel, ts)
            receipt = await self._receive(await self.bare(ctx, address, ts), question, about)
            is_accepted = receipt.accepted
        finally:
            if not is_accepted:
                await self.take_back(ctx, place.channel, ts)
        return receipt

    async def _privately(self, ctx: InteractionContext) -> IncomingMessage:
        place = await self.place(ctx)
        address = private_address(place.workspace, place.channel, ctx.person)
        now = f"{self.parts.clock.now().timestamp():.6f}"  # as Slack names messages; nobody asks twice in a microsecond
        bare = await self.bare(ctx, address, now)
        return replace(bare, metadata={**bare.metadata, RESPONSE: ctx.response_url}) if ctx.response_url else bare

    async def bare(self, ctx: InteractionContext, address: ThreadAddress, ts: str) -> IncomingMessage:
        """What somebody asks at an address by the message `ts`, without its words yet."""
        key = message_key(address, ts)
        asked = IncomingMessage(
            address=address,
            author=ctx.person,
            author_name=await self.people.name(ctx.team, ctx.person),
            text="",
            event_key=key,
            message_key=key,
            metadata={TEAM: ctx.team.id, MESSAGE: ts},
        )
        return await self.told_of_others(asked, ctx.team)

    async def told_of_others(self, incoming: IncomingMessage, team: Team) -> IncomingMessage:
        """The message, marked where people of other companies read its channel (channels.py)."""
        if not await self.channels.is_external(team, incoming.address.channel):
            return incoming
        return replace(incoming, metadata={**incoming.metadata, EXTERNAL: "yes"})

    async def require_open(self, ctx: InteractionContext) -> None:
        """AccessDenied where people of other companies read along, and nobody has chosen what they may."""
        place = await self.place(ctx)
        if await self.channels.is_external(ctx.team, place.channel) and await is_closed(
            self.parts.settings, ChannelAddress.of(place)
        ):
            raise AccessDenied(READS_ALONG.sentence)

    async def _receive(self, bare: IncomingMessage, question: Question, about: Talk | None) -> Receipt:
        asked = question.on(bare)
        return await self.parts.inbox.receive(asked if about is None else replace(asked, about=about))

    async def post(self, ctx: InteractionContext, part: SlackMessage) -> str:
        """A message for everybody; its `ts`."""
        posted = await self._made(
            POST,
            lambda: ctx.team.client.chat_postMessage(
                channel=ctx.channel,
                thread_ts=ctx.thread or None,
                text=part.text,
                blocks=[dict(block) for block in part.blocks],
                unfurl_links=False,
                unfurl_media=False,
            ),
        )
        return str(posted["ts"])

    async def replace(self, ctx: InteractionContext, part: SlackMessage) -> bool:
        """Another content for the message that was acted on; False where Slack does not take it any more."""
        return await self._respond(ctx, part, replaces=True)

    async def _respond(self, ctx: InteractionContext, part: SlackMessage, *, replaces: bool = False) -> bool:
        """By the reply that an interaction allows; False where there is none, or no more."""
        if not ctx.response_url:
            return False
        how = {"replace_original": True} if replaces else {"replace_original": False, "response_type": "ephemeral"}
        try:
            with translated_errors(POST):
                webhook = AsyncWebhookClient(ctx.response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
                reply = await webhook.send_dict(
                    {"text": part.text, "blocks": [dict(block) for block in part.blocks], **how}
                )
        except FootnoteError as error:
            _log.info("An interaction can't be answered in its place: %s", error)
            return False
        if reply.status_code != 200:
            _log.info("An interaction can't be answered in its place: %s %s", reply.status_code, reply.body)
        return reply.status_code == 200

    async def _whisper(self, ctx: InteractionContext, part: SlackMessage) -> None:
        """A message that one person sees; where that is not possible, a direct one."""
        blocks = [dict(block) for block in part.blocks]
        if ctx.channel and not ctx.is_direct:
            try:
                await self._made(
                    POST,
                    lambda: ctx.team.client.chat_postEphemeral(
                        channel=ctx.channel,
                        user=ctx.person,
                        thread_ts=ctx.thread or None,
                        text=part.text,
                        blocks=blocks,
                    ),
                )
                return
            except CLOSED as error:
                _log.info("%s can't be told in %s: %s", ctx.person, ctx.channel, error)
        direct = ctx.channel if ctx.is_direct else await self.direct(ctx)
        await self.post(replace(ctx, channel=direct, thread=ctx.thread if ctx.is_direct else ""), part)

    async def take_back(self, ctx: InteractionContext, channel: str, ts: str) -> None:
        """Delete a message of ours; where Slack does not, it stays."""
        try:
            await self._made(POST, lambda: ctx.team.client.chat_delete(channel=channel, ts=ts))
        except FootnoteError as error:
            _log.info("A question that was not taken in stays: %s", error)

    async def _made(self, doing: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """What a call to Slack gives; a short pause that Slack asks for is waited out."""
        return await call(doing, make, pause=self.parts.pause)
