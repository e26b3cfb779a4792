"""The base of commands, buttons, forms and shortcuts: who acts where, replies, questions, modals and deadlines."""

import asyncio
import json
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bot.presentation.additions import AdditionFlow
from bot.presentation.direct_threads import private_address
from bot.presentation.platform_parts import PlatformParts
from bot.presentation.platform_text import FAULT
from bot.slackbot.delivery.destinations import ChannelDestination, open_direct_destination, respond
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.command_text import format_command_names
from bot.slackbot.events.directory import EXTERNAL, READS_ALONG, Channels, People, Roles, is_closed
from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import CHANNEL_ITSELF, MESSAGE, RESPONSE, TEAM, thread_address
from bot.slackbot.rendering.blocks import SlackMessage, SlackPost, View
from bot.slackbot.rendering.lists import notice_message, said_message
from bot.slackbot.web_api import CLOSED, NO_MEMBER, OPEN_FORM, POST, call, name_of, translated_errors
from core.domain.corpus import SearchScope
from core.domain.incoming import ChannelAddress, IncomingMessage, Talk, ThreadAddress, message_key
from core.domain.service import PostRef, Receipt
from core.errors import AccessDenied, FootnoteError
from core.work.commands import CommandCall, CommandResult, Question

ACKNOWLEDGE_SECONDS = 1.5  # Slack gives up after 3; slower work continues in the background
LOOKING = "Searching. You'll get a private answer here."
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionContext:
    """Person and place of a command, a button, a form, a shortcut or a message."""

    team: Team
    person: str
    channel: str = ""  # "" in the home tab
    thread: str = CHANNEL_ITSELF  # `ts` of the thread's first message
    message_ts: str = ""  # the message with the button or shortcut
    is_ephemeral: bool = False  # only this person sees the message
    trigger_id: str = ""  # opens one modal, within three seconds
    response_url: str = ""
    view_id: str = ""  # the modal with the button; "" in messages and in the home tab

    @property
    def is_direct(self) -> bool:
        return self.channel.startswith("D")


def to_context(body: Mapping[str, Any], team: Team) -> InteractionContext:
    """Return the context of any interaction payload. A view's metadata hold its origin."""
    container, message, view = body.get("container") or {}, body.get("message") or {}, body.get("view") or {}
    told = decode_origin(view)
    channel = body.get("channel_id") or (body.get("channel") or {}).get("id") or container.get("channel_id")
    user = body.get("user_id") or (body.get("user") or {}).get("id")
    thread = container.get("thread_ts") or message.get("thread_ts") or told.get("thread")
    return InteractionContext(
        team=team,
        person=str(user or ""),
        channel=str(channel or told.get("channel") or ""),
        thread=str(thread or CHANNEL_ITSELF),
        message_ts=str(container.get("message_ts") or body.get("message_ts") or message.get("ts") or ""),
        is_ephemeral=bool(container.get("is_ephemeral")),
        trigger_id=str(body.get("trigger_id") or ""),
        response_url=str(body.get("response_url") or told.get("response_url") or ""),
        view_id=str(view.get("id") or "") if view.get("type") == "modal" else "",
    )


def encode_origin(ctx: InteractionContext, **more: str) -> str:
    """Return the `private_metadata` of a view: its origin."""
    told = {"channel": ctx.channel, "thread": ctx.thread, "response_url": ctx.response_url, **more}
    return json.dumps({name: value for name, value in told.items() if value})


def decode_origin(view: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the values that `encode_origin` wrote into a view; nothing for another app's or an earlier version's."""
    try:
        told = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in told.items()} if isinstance(told, dict) else {}


@dataclass(slots=True, kw_only=True)
class InteractionHandler:
    parts: PlatformParts
    platform: SlackPlatform
    people: People
    channels: Channels
    additions: AdditionFlow
    home_asked: dict[tuple[str, str], str] = field(default_factory=dict)  # time of a person's last question there
    _running: set["asyncio.Task[Any]"] = field(default_factory=set)
    _directs: dict[tuple[str, str], str] = field(default_factory=dict)

    async def address_of(self, ctx: InteractionContext) -> ThreadAddress:
        """Return the address of an interaction: its thread, its channel, or the direct channel for the home tab."""
        channel = ctx.channel or await self.direct_channel(ctx)
        return thread_address(ctx.team.workspace, channel, ctx.thread)

    async def direct_channel(self, ctx: InteractionContext) -> str:
        """Return the id of the person's direct channel with the bot."""
        key = ctx.team.id, ctx.person
        if key not in self._directs:
            self._directs[key] = (await open_direct_destination(ctx.team, ctx.person, self.parts.pause)).id
        return self._directs[key]

    async def scope(self, ctx: InteractionContext) -> SearchScope:
        """Return the scope of the person there."""
        address = await self.address_of(ctx)
        return await self.parts.access.scope(address.workspace, address, reader=ctx.person)

    async def call(
        self,
        ctx: InteractionContext,
        name: str,
        options: Mapping[str, str] | None = None,
        *,
        argument: str = "",
        is_run: bool = True,
    ) -> CommandCall:
        """Return a command as core takes it, with the person's present roles if it `is_run`."""
        role_error, roles = "", Roles(is_admin=False, may_add=False)
        try:
            roles = await self.people.roles(ctx.team, ctx.person) if is_run else roles
        except AccessDenied as error:
            role_error = str(error)
        address = await self.address_of(ctx)
        thread = ctx.thread or ctx.message_ts
        # in a channel itself, the conversation is the person's private one
        private = private_address(address, ctx.person)
        return CommandCall(
            name=name,
            argument=argument,
            options=options or {},
            workspace=address.workspace,
            conversation=await self.parts.conversations.find(address if address.thread else private),
            author=ctx.person,
            author_name=await self.people.name(ctx.team, ctx.person),
            address=address,
            direct=ctx.is_direct,
            is_admin=roles.is_admin,
            may_add=roles.may_add,
            may_review=roles.may_review,
            role_error=role_error,
            link=ctx.team.permalink(address.channel, thread, ctx.thread) or None,
        )

    async def ask(self, ctx: InteractionContext, question: Question, about: Talk | None = None) -> Receipt:
        """Pass a question to the inbox: a public one in a thread of its own, a private one for its asker.

        A public question is posted first, as its thread needs a message. Where the bot is no member, it is private.
        """
        is_outside = not ctx.channel and bool(ctx.response_url)
        if is_outside or (question.private and not ctx.is_direct):  # a direct channel is private already
            receipt = await self._ask_privately(ctx, question, about)
        else:
            try:
                receipt = await self._ask_publicly(ctx, question, about)
            except CLOSED as error:
                if name_of(error) not in NO_MEMBER or not ctx.response_url:
                    raise
                receipt = await self._ask_privately(replace(ctx, channel="", thread=CHANNEL_ITSELF), question, about)
        if not receipt.accepted:
            await self.say(ctx, receipt.decision.sentence)
        return receipt

    async def say(self, ctx: InteractionContext, sentence: str) -> None:
        """Show one sentence to the person who acted, with commands named as they enter them."""
        text = format_command_names(sentence, self.parts.commands.table, in_thread=bool(ctx.thread))
        await self.show(ctx, SlackPost(parts=(notice_message(text),)))

    async def show(
        self, ctx: InteractionContext, post: SlackPost, *, public: bool = False, result: CommandResult | None = None
    ) -> None:
        """Answer an interaction, in the thread if `public`, else only to the person. Raises core errors.

        Lasting posts of a command's result are noted, so that they are taken back with its documents.
        """
        refs = []
        for part in post.parts:
            if public and ctx.channel:
                refs.append(f"{ctx.channel}/{await self.post(ctx, part)}")
            elif not await self._respond(ctx, part):
                refs += await self._send_ephemeral(ctx, part)
        if result is not None:
            await self.note(ctx, refs, result)

    async def note(self, ctx: InteractionContext, refs: Sequence[PostRef], result: CommandResult | None = None) -> None:
        """Note lasting posts for a person, so that they can be taken back. Failures are logged."""
        result = result or CommandResult(text="")
        try:
            for ref in refs:
                shown = await self.build_message(ctx, await self.address_of(ctx), f"shown-{ref}")
                await self.parts.entries.note_shown(shown, ref, result.basis, quotes_people=result.quotes_people)
        except FootnoteError as error:
            _log.warning("A post can't be taken back later: %s", error)

    async def open(self, ctx: InteractionContext, view: View) -> str:
        """Open a modal and return its id. Raises core errors, also when the trigger has expired."""
        with translated_errors(OPEN_FORM):
            opened = await ctx.team.client.views_open(trigger_id=ctx.trigger_id, view=view)
        return str(opened["view"]["id"])

    async def update(self, ctx: InteractionContext, view_id: str, view: View) -> None:
        with translated_errors(OPEN_FORM):
            await ctx.team.client.views_update(view_id=view_id, view=view)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Run `work` in the background. It has to report its own errors (`guarded`)."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def in_time(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Return the result of `work`, or None at Slack's deadline; `work` then continues in the background."""
        task = self.spawn(work)
        done, _ = await asyncio.wait({task}, timeout=ACKNOWLEDGE_SECONDS)
        return task.result() if done else None

    async def guarded(self, ctx: InteractionContext, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Return the result of `work`; show its errors to the person who acted, and log faults."""
        try:
            return await work
        except FootnoteError as error:
            sentence = str(error)
        except Exception:
            _log.exception("A command, a button or a form failed")
            sentence = FAULT
        try:
            await self.say(ctx, sentence)
        except FootnoteError as error:
            _log.warning("%s did not get the message %r: %s", ctx.person, sentence, error)
        return None

    async def close(self) -> None:
        """Cancel background work; people can repeat their action."""
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("An interaction failed in the background", exc_info=error)

    async def _ask_privately(self, ctx: InteractionContext, question: Question, about: Talk | None) -> Receipt:
        address = private_address(await self.address_of(ctx), ctx.person)
        now = f"{self.parts.clock.now().timestamp():.6f}"  # the form of Slack's message ids, unique per person
        bare = await self.build_message(ctx, address, now, {RESPONSE: ctx.response_url} if ctx.response_url else {})
        receipt = await self._receive(bare, question, about)
        if receipt.accepted and ctx.response_url:
            await self.show(ctx, SlackPost(parts=(notice_message(LOOKING),)))
        return receipt

    async def _ask_publicly(self, ctx: InteractionContext, question: Question, about: Talk | None) -> Receipt:
        """Post the question and pass it to the inbox; delete it if the inbox refuses it."""
        address = await self.address_of(ctx)
        name = await self.people.name(ctx.team, ctx.person)
        ts = await self.post(replace(ctx, channel=address.channel), said_message(name, question.text))
        is_accepted = False
        try:
            address = address if address.thread else thread_address(address.workspace, address.channel, ts)
            receipt = await self._receive(await self.build_message(ctx, address, ts), question, about)
            is_accepted = receipt.accepted
        finally:
            if not is_accepted:
                await self.take_back(ctx, address.channel, ts)
        if is_accepted:
            await self.note(replace(ctx, channel=address.channel, thread=address.thread), [f"{address.channel}/{ts}"])
        return receipt

    async def build_message(
        self, ctx: InteractionContext, address: ThreadAddress, ts: str, metadata: Mapping[str, str] | None = None
    ) -> IncomingMessage:
        """Return a message of the person without its text; `ts` is its id on Slack."""
        key = message_key(address, ts)
        asked = IncomingMessage(
            address=address,
            author=ctx.person,
            author_name=await self.people.name(ctx.team, ctx.person),
            text="",
            event_key=key,
            message_key=key,
            metadata={TEAM: ctx.team.id, MESSAGE: ts, **(metadata or {})},
        )
        return await self.mark_external(asked, ctx.team)

    async def mark_external(self, incoming: IncomingMessage, team: Team) -> IncomingMessage:
        """Mark a message in a channel that other companies read (events/directory.py)."""
        if not await self.channels.is_external(team, incoming.address.channel):
            return incoming
        return replace(incoming, metadata={**incoming.metadata, EXTERNAL: "yes"})

    async def require_open(self, ctx: InteractionContext) -> None:
        """Raise AccessDenied in a channel of several companies whose sources were not chosen yet."""
        address = await self.address_of(ctx)
        if await self.channels.is_external(ctx.team, address.channel) and await is_closed(
            self.parts.settings, ChannelAddress.of(address)
        ):
            raise AccessDenied(READS_ALONG.sentence)

    async def _receive(self, bare: IncomingMessage, question: Question, about: Talk | None) -> Receipt:
        asked = question.on(bare)
        return await self.parts.inbox.receive(asked if about is None else replace(asked, about=about))

    async def post(self, ctx: InteractionContext, part: SlackMessage) -> str:
        """Post a public message and return its `ts`."""
        return await ChannelDestination(ctx.team, ctx.channel, ctx.thread, self.parts.pause).send(part)

    async def replace(self, ctx: InteractionContext, part: SlackMessage) -> bool:
        """Replace the message with the button; return False if Slack no longer accepts that."""
        return await self._respond(ctx, part, replaces=True)

    async def _respond(self, ctx: InteractionContext, part: SlackMessage, *, replaces: bool = False) -> bool:
        """Reply by the interaction's response url; return False if it is missing or has expired."""
        if not ctx.response_url:
            return False
        try:
            await respond(ctx.response_url, part, replaces=replaces)
        except FootnoteError as error:
            _log.info("An interaction can't be answered by its response url: %s", error)
            return False
        return True

    async def _send_ephemeral(self, ctx: InteractionContext, part: SlackMessage) -> list[str]:
        """Post a message that only the person sees, or a direct message if that fails; return references of this."""
        if ctx.channel and not ctx.is_direct:
            try:
                await call(
                    POST,
                    lambda: ctx.team.client.chat_postEphemeral(
                        channel=ctx.channel,
                        user=ctx.person,
                        thread_ts=ctx.thread or None,
                        text=part.text,
                        blocks=list(part.blocks),
                    ),
                    pause=self.parts.pause,
                )
                return []
            except CLOSED as error:
                _log.info("%s gets no private message in %s: %s", ctx.person, ctx.channel, error)
        direct = ctx.channel if ctx.is_direct else await self.direct_channel(ctx)
        there = replace(ctx, channel=direct, thread=ctx.thread if ctx.is_direct else "")
        return [f"{direct}/{await self.post(there, part)}"]

    async def take_back(self, ctx: InteractionContext, channel: str, ts: str) -> None:
        """Delete a message of the bot. Failures are logged."""
        try:
            await ChannelDestination(ctx.team, channel, ctx.thread, self.parts.pause).delete(ts)
        except FootnoteError as error:
            _log.info("A rejected question was not deleted: %s", error)
