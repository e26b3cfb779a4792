"""Listeners of the Slack app: each translates an event or an interaction and hands it over.

slack_bolt acknowledges after a listener has returned (`process_before_response`), so that a message is stored first.
Slow work continues after the acknowledgement. Answers are posted by delivery/platform.py.
"""

import logging
import re
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncBoltContext, AsyncBoltRequest

from bot.presentation.action_names import read_action_name
from bot.presentation.additions import AdditionFlow
from bot.presentation.direct_threads import private_key
from bot.presentation.platform_parts import PlatformParts
from bot.presentation.platform_text import NOT_SAVED
from bot.presentation.refusals import ToldRefusals, is_reaction, is_silent
from bot.slackbot.actions import additions, commands, home, shortcuts
from bot.slackbot.actions import assistant_pane as pane
from bot.slackbot.actions.buttons import press
from bot.slackbot.actions.greetings import Greetings
from bot.slackbot.actions.interaction_handler import InteractionContext, InteractionHandler, to_context
from bot.slackbot.delivery.additions import SlackAdditions
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.command_text import COMMAND
from bot.slackbot.events.directory import NAME_SECONDS, Channels, People
from bot.slackbot.events.live import to_said
from bot.slackbot.events.manifest import ADD_DOCUMENTS, ADD_MESSAGE, ASK_ABOUT, KEEP_ANSWER
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.translate import (
    CHANNEL_ITSELF,
    FILES_ALONE,
    TEAM,
    Event,
    author_of,
    deleted_ts,
    people_in,
    read_message,
    thread_address,
    time_of,
    to_address,
    to_circumstances,
    to_incoming,
)
from bot.slackbot.events.transport import SlackApp
from bot.slackbot.web_api import REACT, call
from core.domain.incoming import ChannelAddress, IncomingMessage, message_key
from core.domain.service import Receipt
from core.errors import FootnoteError, NotFound, StorageError
from core.work.history import title_from

SEEN_NAME = "+1"  # Slack's name of SEEN
LAST_TRY = 3  # Slack repeats an event up to three times
GOES_ON = timedelta(minutes=30)  # a conversation in direct messages
LOOKED_THROUGH = 20  # newest entries of a thread, searched for an accepted one
Body = Mapping[str, Any]
_OURS = re.compile(r"^fn:")
_ANY = re.compile(r".*", re.DOTALL)
_log = logging.getLogger(__name__)


class Listeners:
    """Listeners for all events and interactions of a slack_bolt app."""

    def __init__(
        self,
        app: SlackApp,
        parts: PlatformParts,
        teams: Teams,
        platform: SlackPlatform,
        people: People,
        *,
        direct_is_one: bool = False,
    ) -> None:
        """`direct_is_one`: direct messages outside threads are one conversation, answered outside threads."""
        self._direct_is_one = direct_is_one
        self._app = app
        self._parts = parts
        self._teams = teams
        self._platform = platform
        self._people = people
        self.additions = AdditionFlow(
            parts.additions,
            SlackAdditions(teams, parts.additions.most_bytes, parts.clock, parts.pause),
            parts.pause,
        )
        self.handler = InteractionHandler(
            parts=parts,
            platform=platform,
            people=people,
            channels=Channels(parts.clock),
            additions=self.additions,
        )
        self.greetings = Greetings(self.handler, teams)
        self._refusals = ToldRefusals(parts.clock)

    def bind(self) -> None:
        """Bind all listeners. The last one accepts unknown events, which Slack would send again otherwise."""
        self._app.hear = self.on_message
        event = self._app.event
        event("app_home_opened")(self.on_home)
        event("assistant_thread_started")(self.on_pane)
        event("assistant_thread_context_changed")(self.on_pane)
        event("app_context_changed")(self.on_context)
        event("agent_session_stopped")(self.on_stopped)
        event("agent_session_title_changed")(self.on_title)
        event("member_joined_channel")(self.on_joined)
        for name in ("member_left_channel", "channel_left", "group_left", "channel_shared"):
            event(name)(self.on_left)
        event("channel_deleted")(self.on_channel_deleted)
        event("group_deleted")(self.on_channel_deleted)
        event("tokens_revoked")(self.on_removed)
        event("app_uninstalled")(self.on_removed)
        self._app.command(COMMAND)(self.on_command)
        self._app.action(_OURS)(self.on_action)
        self._app.action(_ANY)(self.on_nothing)
        self._app.shortcut(ASK_ABOUT)(self.on_shortcut)
        self._app.shortcut(KEEP_ANSWER)(self.on_shortcut)
        self._app.shortcut(ADD_MESSAGE)(self.on_shortcut)
        self._app.shortcut(ADD_DOCUMENTS)(self.on_shortcut)
        self._app.options(_ANY)(self.on_options)
        self._app.view(_ANY)(self.on_view)
        event(_ANY)(self.on_nothing)

    async def resume(self) -> None:
        """Continue the additions and greetings that earlier processes left. Raises StorageError."""
        await self.additions.resume()
        await self.greetings.resume()
        self.handler.spawn(self._platform.settle_sessions())

    async def close(self) -> None:
        await self.handler.close()
        await self.additions.close()

    # ------------------------------------------------------------------ messages

    async def on_message(self, event: Event, request: AsyncBoltRequest) -> None:
        """Handle or delete a message. A StorageError leaves it unacknowledged, so that Slack sends it again."""
        try:
            team = await self._team(request.context)
        except NotFound as error:
            _log.warning("A message is ignored: %s", error)
            return
        if request.context.user_id == team.bot_user_id or event.get("bot_id") == team.bot_id:
            return  # its own posts tell nothing
        body = request.body
        gone = deleted_ts(event)
        if gone is not None:
            await self.handler.spawn(self._forget(team, str(event["channel"]), gone))
            return
        if "is_ext_shared_channel" in body:
            self.handler.channels.note(team, str(event["channel"]), is_external=bool(body["is_ext_shared_channel"]))
        message = read_message(event)
        if message is not None and author_of(message) not in ("", team.bot_user_id):
            await self._keep(message, team)
            self._platform.heard.note(to_address(message, team), message)
            retries = str((request.headers.get("x-slack-retry-num") or ["0"])[0])
            await self.handle(message, team, is_last_try=retries.isdigit() and int(retries) >= LAST_TRY)

    async def _keep(self, message: Event, team: Team) -> None:
        """Store a message of a live channel before the acknowledgement, so that Slack repeats it if that fails."""
        live, channel = self._parts.live, ChannelAddress.of(to_address(message, team))
        if await live.find(channel, lately=True) is None:
            return
        said = to_said(message, team, await self._people.names(team, people_in(message)))
        if said is not None:
            await live.hear(channel, said)
            if said.author_name == said.author:  # Slack took too long
                self.handler.spawn(self._name_later(message, team, channel))
        elif not message.get("bot_id"):
            await live.visit(channel, author_of(message), time_of(str(message["ts"])))

    async def _name_later(self, message: Event, team: Team, channel: ChannelAddress) -> None:
        names = await self._people.names(team, people_in(message), wait_seconds=NAME_SECONDS)
        name = names.get(author_of(message))
        if name is not None:
            await self._parts.live.name(channel, str(message["ts"]), name)

    async def handle(self, message: Event, team: Team, *, is_last_try: bool = False) -> Receipt | None:
        """Pass a message to the inbox, then show the receipt. Returns None if the event is no message of a person."""
        incoming = await self._translate(message, team)
        if incoming is None:
            return None
        incoming = await self._continued(incoming)
        ctx = InteractionContext(
            team=team,
            person=author_of(message),
            channel=str(message["channel"]),
            thread=incoming.address.thread,
            message_ts=str(message["ts"]),
        )
        circumstances = incoming.circumstances
        begins_pane = circumstances.direct and circumstances.in_thread and not await self._is_ours(message, team)
        try:
            receipt = await self._parts.inbox.receive(incoming)
        except StorageError as error:
            _log.error("Message %s was not saved: %s", message.get("ts"), error)
            if is_last_try and (circumstances.mentioned or circumstances.direct):
                self.handler.spawn(self.handler.guarded(ctx, self.handler.say(ctx, NOT_SAVED)))
            raise
        if receipt.repeated:
            return receipt
        handler = self.handler  # shows the receipt in the background, after Slack's event was acknowledged
        if receipt.accepted and receipt.is_unasked:
            return receipt
        if receipt.accepted:
            handler.spawn(self._platform.show_status(incoming))
            if begins_pane:
                title = title_from(incoming.text)
                handler.spawn(self._platform.sessions.name_thread(team, incoming.address, title))
        elif is_reaction(receipt):
            handler.spawn(self._react(ctx))
        elif receipt.command is not None:
            work = commands.run_typed(handler, ctx, receipt.command, incoming.attachments)
            handler.spawn(handler.guarded(ctx, work))
        elif FILES_ALONE in incoming.metadata:
            handler.spawn(handler.guarded(ctx, additions.offer(handler, ctx, incoming)))
        elif not is_silent(receipt) and (
            circumstances.direct or self._refusals.is_news(f"{team.id}/{ctx.person}", receipt.decision)
        ):
            handler.spawn(handler.guarded(ctx, handler.say(ctx, receipt.decision.sentence)))
        return receipt

    async def _react(self, ctx: InteractionContext) -> None:
        """React to a message instead of replying; if that isn't possible, silence is right, too."""
        try:
            await call(
                REACT,
                lambda: ctx.team.client.reactions_add(channel=ctx.channel, timestamp=ctx.message_ts, name=SEEN_NAME),
            )
        except FootnoteError as error:
            _log.info("No reaction: %s", error)

    async def _translate(self, message: Event, team: Team) -> IncomingMessage | None:
        circumstances = to_circumstances(message, team, in_our_thread=False)
        is_ours = (
            not (circumstances.mentioned or circumstances.direct)
            and circumstances.in_thread
            and await self._is_ours(message, team)
        )
        ids = people_in(message)
        is_likely = circumstances.mentioned or circumstances.direct or is_ours
        names = await self._people.names(team, ids) if is_likely else self._people.known(team, ids)
        incoming = to_incoming(
            message, team=team, in_our_thread=is_ours, names=names, commands=tuple(self._parts.commands.table)
        )
        return await self.handler.mark_external(incoming, team) if incoming is not None else None

    async def _continued(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return a direct message with the conversation that it continues: its thread's, or one of the last half hour.

        Each message outside threads opens a thread for its answer, but people keep talking.
        """
        address, circumstances = incoming.address, incoming.circumstances
        if self._direct_is_one and circumstances.direct and not circumstances.in_thread:
            return replace(incoming, address=replace(address, thread=CHANNEL_ITSELF))
        if not circumstances.direct or await self._parts.conversations.find(address) is not None:
            return incoming
        found = await self._parts.entries.recent(address.workspace, author=incoming.author, limit=LOOKED_THROUGH)
        since = self._parts.clock.now() - GOES_ON
        before = next(
            (
                entry
                for entry in found
                if entry.decision.accepted
                and entry.event_key != incoming.event_key
                and entry.address.channel == address.channel
                and entry.address.private_to is None
                and (entry.address == address or (not circumstances.in_thread and entry.created_at > since))
            ),
            None,
        )
        if before is None:
            return incoming
        id, conversations = before.incoming.conversation_id, self._parts.conversations
        try:
            found_there = (await conversations.show(id, address.workspace))[0] if id else None
        except NotFound:  # it was deleted meanwhile
            return incoming
        conversation = found_there or await conversations.find(before.address)
        return replace(incoming, conversation_id=conversation.id) if conversation is not None else incoming

    async def _is_ours(self, message: Event, team: Team) -> bool:
        """Return whether the bot has answered in the message's thread, or is about to."""
        address = to_address(message, team)
        if await self._parts.conversations.find(address) is not None:
            return True
        entries = await self._parts.entries.recent(team.workspace, address=address, limit=LOOKED_THROUGH)
        return any(entry.decision.accepted for entry in entries)

    async def _forget(self, team: Team, channel: str, ts: str) -> None:
        """Delete a message and its answers before the acknowledgement, so that Slack repeats a failed deletion."""
        self._platform.heard.forget(channel, ts)
        address = thread_address(team.workspace, channel, "")
        for key in (message_key(address, ts), private_key(address, ts)):
            for ref in await self._parts.forgetting.forget_message(key):
                await self._platform.delete(ref, team)
            await self._platform.take_back(key)

    async def on_joined(self, event: Event, context: AsyncBoltContext) -> None:
        """Note the greeting of a channel that the bot was invited to before the event is acknowledged."""
        team = await self._team(context)
        if event.get("user") == team.bot_user_id:
            await self.greetings.owe(team, str(event["channel"]))

    async def on_left(self, event: Event, context: AsyncBoltContext) -> None:
        """Remove a live channel that the bot has left, where it hears of no deletions, or that other companies read."""
        team = await self._team(context)
        if event.get("user", team.bot_user_id) == team.bot_user_id or event["type"] != "member_left_channel":
            place = ChannelAddress(platform=PLATFORM, workspace=team.workspace, channel=str(event["channel"]))
            await self._parts.live.forget_channel(place)

    async def on_channel_deleted(self, event: Event, context: AsyncBoltContext) -> None:
        """Delete the channel's threads before the event is acknowledged."""
        team = await self._team(context)
        place = ChannelAddress(platform=PLATFORM, workspace=team.workspace, channel=str(event["channel"]))
        await self.handler.spawn(self._parts.forgetting.forget_channel(place))

    # ------------------------------------------------------------------ the app itself

    async def on_home(self, event: Event, context: AsyncBoltContext) -> None:
        ctx = InteractionContext(
            team=await self._team(context), person=str(event["user"]), channel=str(event.get("channel") or "")
        )
        if event.get("tab", "home") == "home":
            self.handler.spawn(self.handler.guarded(ctx, home.show_home(self.handler, ctx)))
        elif ctx.channel:
            self.handler.spawn(_quiet(pane.on_opened(self.handler, ctx, _entities(event))))

    async def on_context(self, event: Event, body: Body, context: AsyncBoltContext) -> None:
        """Suggest questions about the page that the person looks at now. The event may not name its person."""
        team = await self._team(context)
        self._platform.sessions.note(team, is_agent=True)
        told: Sequence[Mapping[str, Any]] = body.get("authorizations") or ()
        person = str(event.get("user") or (told[0].get("user_id") if told else "") or "")
        if person in ("", team.bot_user_id):
            return
        ctx = InteractionContext(team=team, person=person, channel=str(event.get("channel") or ""))
        self.handler.spawn(_quiet(self._suggest(ctx, _entities(event))))

    async def _suggest(self, ctx: InteractionContext, entities: Sequence[Mapping[str, Any]]) -> None:
        channel = ctx.channel or await self.handler.direct_channel(ctx)
        await pane.on_opened(self.handler, replace(ctx, channel=channel), entities)

    async def on_stopped(self, event: Event, context: AsyncBoltContext) -> None:
        """Stop the answer in progress in a thread, for someone who may stop it. Slack ended the streams already."""
        ctx = InteractionContext(
            team=await self._team(context),
            person=str(event["user"]),
            channel=str(event["channel"]),
            thread=str(event["thread_ts"]),
        )
        self._platform.sessions.note(ctx.team, is_agent=True)
        self.handler.spawn(self.handler.guarded(ctx, commands.run_command(self.handler, ctx, "stop", {})))

    async def on_title(self, event: Event, context: AsyncBoltContext) -> None:
        """Rename the conversation of a session that a person renamed."""
        team, title = await self._team(context), str(event.get("title") or "").strip()
        self._platform.sessions.note(team, is_agent=True)
        if event.get("user") == team.bot_user_id or not title:
            return
        address = thread_address(team.workspace, str(event["channel"]), str(event["thread_ts"]))
        found = await self._parts.conversations.find(address)
        if found is not None and found.title != title:
            await self._parts.conversations.rename(found.id, team.workspace, title)

    async def on_pane(self, event: Event, context: AsyncBoltContext) -> None:
        team, opened = await self._team(context), event["assistant_thread"]
        self._platform.sessions.note(team, is_agent=False)
        ctx = InteractionContext(
            team=team,
            person=str(opened["user_id"]),
            channel=str(opened["channel_id"]),
            thread=str(opened["thread_ts"]),
        )
        is_new = event["type"] == "assistant_thread_started"
        work = (
            pane.greet(self.handler, ctx)
            if is_new
            else pane.on_context_changed(self.handler, ctx, opened.get("context") or {})
        )
        self.handler.spawn(self.handler.guarded(ctx, work))

    async def on_removed(self, event: Event, context: AsyncBoltContext) -> None:
        """Forget a team that removed the app or revoked its token: its open work ends; invited again, it is greeted."""
        if event["type"] == "tokens_revoked" and not (event.get("tokens") or {}).get("bot"):
            return  # a person's token, which Footnote doesn't use
        team_id = context.team_id or ""
        workspace = next((team.workspace for team in self._teams.all() if team.id == team_id), None)
        if await self._teams.remove(team_id):
            await self._parts.teams.forget_greetings(PLATFORM, team_id)
            self.handler.spawn(self._parts.live.leave(PLATFORM))
            if workspace is not None:
                self.handler.spawn(
                    self._parts.forgetting.leave(workspace, lambda question: question.metadata.get(TEAM) == team_id)
                )

    # ------------------------------------------------------------------ interactions

    async def on_command(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        ctx = await self._interaction(body, context)
        running = commands.run_slash(self.handler, ctx, str(body.get("text") or ""))
        await self.handler.in_time(self.handler.guarded(ctx, running))
        await ack()

    async def on_action(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        ctx = await self._interaction(body, context)
        for action in body.get("actions") or ():
            name = read_action_name(str(action.get("action_id") or ""))
            if name is not None:
                values = values_of(action) or typed_in(body.get("view") or {}, str(action["action_id"]))
                await self.handler.in_time(self.handler.guarded(ctx, press(self.handler, ctx, name, values)))
        await ack()

    async def on_shortcut(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        ctx, message = await self._interaction(body, context), body.get("message") or {}
        match body.get("callback_id"):
            case str(name) if name == ASK_ABOUT:
                work = shortcuts.ask_about(self.handler, ctx, message)
            case str(name) if name == ADD_MESSAGE:
                work = additions.add_message(self.handler, ctx, message)
            case str(name) if name == ADD_DOCUMENTS:
                work = additions.open_form(self.handler, ctx)
            case _:
                work = shortcuts.keep_answer(self.handler, ctx, message)
        await self.handler.in_time(self.handler.guarded(ctx, work))
        await ack()

    async def on_options(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        ctx = await self._interaction(body, context)
        found = await self.handler.in_time(commands.suggest(self.handler, ctx, body))
        await ack(options=found or [])

    async def on_view(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        ctx, view = await self._interaction(body, context), body.get("view") or {}
        submit = next((form.submit for form in (shortcuts, additions) if form.is_ours(view)), commands.submit)
        wrong = await self.handler.in_time(self.handler.guarded(ctx, submit(self.handler, ctx, view)))
        if wrong:
            await ack(response_action="errors", errors=dict(wrong))
        else:
            await ack()

    async def on_nothing(self, ack: AsyncAck) -> None:
        """Acknowledge an event that needs no action."""
        await ack()

    # ------------------------------------------------------------------ whose it is

    async def _team(self, context: AsyncBoltContext) -> Team:
        """Return the team that authorized the event; in a shared channel, the event also names the other company's."""
        return await self._teams.get(context.team_id or "")

    async def _interaction(self, body: Body, context: AsyncBoltContext) -> InteractionContext:
        return to_context(body, await self._team(context))


def _entities(event: Event) -> Sequence[Mapping[str, Any]]:
    """Return the things that a person looks at, by relevance."""
    return [one for one in (event.get("context") or {}).get("entities") or () if isinstance(one, Mapping)]


async def _quiet(work: Coroutine[Any, Any, None]) -> None:
    """Run unasked work: its failures are only logged."""
    try:
        await work
    except FootnoteError as error:
        _log.info("No suggestions: %s", error)


def typed_in(view: Mapping[str, Any], action_id: str) -> tuple[str, ...]:
    """Return the text of a view's field whose action id is also a button's; () if it is empty."""
    blocks = ((view.get("state") or {}).get("values") or {}).values()
    typed = (str((block.get(action_id) or {}).get("value") or "").strip() for block in blocks)
    return tuple(filter(None, typed))[:1]


def values_of(action: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values chosen in a menu, or the value of a button."""
    options = [action.get("selected_option"), *(action.get("selected_options") or ())]
    chosen = tuple(str(option["value"]) for option in options if option)
    return chosen or ((str(action["value"]),) if action.get("value") else ())
