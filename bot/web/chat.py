"""Routes of the chat page."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import aiohttp_jinja2
from aiohttp import web

from bot.web.events import stream
from bot.web.pages.uploads import can_change
from bot.web.parts import WebParts
from bot.web.render import answer_html
from bot.web.requests import (
    as_json,
    author_of,
    authors_of,
    body_of,
    file_json,
    file_response,
    name_of,
    person_of,
    place_of,
    remember_guest,
    remember_person,
    text_of,
    visit,
)
from bot.web.security import is_admin, is_owner
from bot.web.threads import DEFAULT_CHANNEL, NO_THREAD_HERE, ChatParts, Reader, Threads
from bot.web.translate import (
    CHANNEL_THREAD,
    PLATFORM,
    WebPost,
    check_id,
    thread_address,
    to_channel,
    to_incoming,
    to_name,
)
from core.answering.answers.sentences import say
from core.answering.answers.stored import BOT_NAME
from core.domain.conversation import Conversation, Message, Role
from core.domain.features import FeedbackReason, Rating
from core.domain.incoming import PRIVATE_THREAD, IncomingMessage, ThreadAddress
from core.domain.service import CommandLine, Receipt
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.features.feedback import REASONS
from core.features.staleness.stale_answers import question_again
from core.serializers.objects import Json
from core.service.addressing import LEFT_TO_PEOPLE
from core.work.commands import CommandCall, CommandResult, Question
from core.work.questions import to_command

NOT_HELPFUL = "Noted as not helpful. Thank you."
SHOWN_THREADS = 8  # in the sidebar
NEW_FOR = timedelta(days=30)  # a document is called new
EXAMPLES = 3  # questions on the page for a new one
EXAMPLES_SECONDS = 0.1  # the page doesn't wait longer for them
NO_START = {"documents": None, "newest": None, "examples": (), "are_sought": False}
RATINGS: Mapping[str, Rating | None] = {"up": Rating.UP, "down": Rating.DOWN, "none": None}
RATED_BECAUSE: Mapping[str, FeedbackReason | None] = {"": None, **{reason.value: reason for reason in FeedbackReason}}


def add_chat(app: web.Application, parts: WebParts, chat: ChatParts) -> None:
    """Add the chat page at "/", and the routes of its script under "/chat/"."""
    pages = _Chat(parts, chat)
    app.router.add_get("/", pages.page, name="home")
    app.router.add_post("/ask", pages.ask)
    app.router.add_get("/c/{channel}", pages.page)
    app.router.add_get("/c/{channel}/{thread}", pages.page)
    app.router.add_get("/read/{conversation}", pages.page)
    app.router.add_get("/chat/conversations/{conversation}", as_json(pages.read))
    app.router.add_get("/chat/home", as_json(pages.home))
    app.router.add_post("/chat/person", as_json(pages.person))
    app.router.add_post("/chat/messages", as_json(pages.send))
    app.router.add_post("/chat/stop", as_json(pages.stop))
    place = "/chat/threads/{channel}/{thread}"
    app.router.add_get(place, as_json(pages.show))
    app.router.add_patch(place, as_json(pages.rename))
    app.router.add_delete(place, as_json(pages.delete))
    app.router.add_post(f"{place}/feedback", as_json(pages.rate))
    app.router.add_post(f"{place}/again", as_json(pages.again))
    app.router.add_get(f"{place}/export", as_json(pages.export))
    app.router.add_get(f"{place}/events", pages.events)
    app.on_shutdown.append(pages.end_streams)


async def _no_others() -> frozenset[str]:
    """Return the threads of others in a channel that a person may see (one who doesn't see all)."""
    return frozenset()


class _Chat:
    def __init__(self, parts: WebParts, chat: ChatParts) -> None:
        self._parts = parts
        self._chat = chat
        self._threads = Threads(parts, chat)

    async def page(self, request: web.Request) -> web.StreamResponse:
        """Show a thread, a channel or, at "/", the box for a new question. The script takes over from there.

        NotFound for an unknown thread.
        """
        reader = Reader.of(request)
        place, state = request.match_info, None
        if "thread" in place:
            state = await self._threads.show(*place_of(request), reader)
        elif "conversation" in place:
            state = await self._threads.read(check_id(place["conversation"], "The id"), reader)
        context = {
            "state": state,
            "threads": await self._threads.own(reader, SHOWN_THREADS),
            "person": name_of(request),
            "quotes_only": self._chat.quotes_only,
            "can_upload": can_change(request),
            **(await self._start(request) if request.path == "/" else NO_START),
        }
        return aiohttp_jinja2.render_template("chat.html", request, context)

    async def _start(self, request: web.Request) -> dict[str, object]:
        """Return the number of documents to ask, the newest one if it was read lately, and questions to try.

        `are_sought`: the questions aren't known yet; look again in a moment.
        """
        parts, scope = await visit(request)
        readable = [document for document in await parts.library.documents(scope) if document.pages]
        since = parts.clock.now() - NEW_FOR
        recent = [document for document in readable if document.crawled_at and document.crawled_at > since]
        newest = max(recent, key=lambda document: document.crawled_at or since, default=None)
        examples, are_sought = self._chat.examples[:EXAMPLES], False
        if not examples and readable and self._chat.suggestions is not None:
            found = self._chat.suggestions.about(readable, scope, EXAMPLES)
            try:
                examples = tuple(await asyncio.wait_for(found, EXAMPLES_SECONDS))
            except TimeoutError:
                are_sought = True
        return {"documents": len(readable), "newest": newest, "examples": examples, "are_sought": are_sought}

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Submit the question of a form, for browsers without JavaScript, and open its thread."""
        form = await request.post()
        text = next((value for value in form.getall("text", []) if value), "")  # of the box, or of an example's button
        thread, channel = form.get("thread", ""), form.get("channel", DEFAULT_CHANNEL)
        if not isinstance(text, str) or not isinstance(thread, str) or not isinstance(channel, str):
            raise BadInput("Send the question as text.")
        if to_command(text) is not None:
            raise BadInput("Commands need JavaScript. Turn it on, or ask in plain words.")
        body = {"text": text, "thread": thread, "channel": channel, "key": uuid.uuid4().hex}
        _, receipt, address = await self._submit(request, body)
        if not receipt.accepted and receipt.decision.code not in LEFT_TO_PEOPLE:
            raise BadInput(receipt.decision.sentence)
        opened = web.HTTPSeeOther(f"/c/{quote(address.channel)}/{quote(address.thread)}")
        remember_guest(request, opened)
        raise opened

    async def home(self, request: web.Request) -> Json:
        """Return the person (None: without a name), threads, channels and commands; make a new browser a guest."""
        table = self._parts.commands.table.values()
        author_of(request)
        return {
            "person": name_of(request),
            "quotes_only": self._chat.quotes_only,
            "quotes_note": say("quotes_note"),
            "examples": list(self._chat.examples),
            "reasons": [[reason.value, label] for reason, label in REASONS.items()],
            "commands": [{"name": item.name, "usage": item.usage, "help": item.help} for item in table],
            **await self._threads.overview(Reader.of(request)),
        }

    async def person(self, request: web.Request) -> web.Response:
        """Store the name that the owner chose: others have that of their sign-in, or none."""
        if not is_owner(request):
            raise AccessDenied("Only the owner of this service chooses a name here.")
        name = to_name(text_of(await body_of(request), "name"))
        response = web.json_response({"person": name})
        remember_person(response, name)
        return response

    async def show(self, request: web.Request) -> Json:
        return await self._threads.show(*place_of(request), Reader.of(request))

    async def read(self, request: web.Request) -> Json:
        return await self._threads.read(check_id(request.match_info["conversation"], "The id"), Reader.of(request))

    async def send(self, request: web.Request) -> Json:
        """Submit a message to the inbox; durable when this returns. The same key is the same message."""
        post, receipt, address = await self._submit(request, await body_of(request))
        return {
            "accepted": receipt.accepted,
            "code": receipt.decision.code,
            "sentence": receipt.decision.sentence,
            "key": receipt.message_key,
            "talk": receipt.decision.code in LEFT_TO_PEOPLE,
            "thread": address.thread,
            "result": await self._run(receipt.command, request, post) if receipt.command else None,
        }

    async def _submit(self, request: web.Request, body: Mapping[str, Any]) -> tuple[WebPost, Receipt, ThreadAddress]:
        """Submit a message to the inbox, and tell the browsers; return its address."""
        post = self._to_post(request, body)
        if post.thread:
            await self._threads.find(thread_address(post.workspace, post.channel, post.thread), Reader.of(request))
        incoming = to_incoming(replace(post, others=await self._threads.others(post)))
        receipt = await self._chat.inbox.receive(incoming)
        is_talk = receipt.decision.code in LEFT_TO_PEOPLE
        if is_talk:
            incoming = replace(incoming, address=thread_address(post.workspace, post.channel, post.thread))
        if is_talk and not receipt.repeated:
            await self._record_talk(incoming)
        elif receipt.accepted and not receipt.repeated:
            self._chat.hub.publish(str(incoming.address), "changed", {})
        if receipt.command is None:
            self._chat.hub.publish_all("threads", {})
        return post, receipt, incoming.address

    async def stop(self, request: web.Request) -> Json:
        """Stop an answer, on behalf of the person who asked."""
        key = text_of(await body_of(request), "key")
        names = [*authors_of(request)] or [author_of(request)]
        for place, name in enumerate(names, start=1):  # a guest who has given a name since can stop it, too
            try:
                await self._parts.worker.cancel(key, name)
                break
            except AccessDenied:
                if place == len(names):
                    raise
        return {"stopped": key}

    async def rename(self, request: web.Request) -> Json:
        found = await self._conversation(request)
        title = text_of(await body_of(request), "title")
        renamed = await self._parts.conversations.rename(found.id, self._parts.workspace, title)
        self._publish(found.address)
        return {"title": renamed.title}

    async def delete(self, request: web.Request) -> Json:
        """Delete a thread; stops its questions in progress first. InvalidState if they can't be stopped."""
        result = await self._parts.commands.run(await self._call(request, "delete"))
        self._tell_of(result)
        return {"deleted": result.deleted.id if result.deleted else None}

    async def rate(self, request: web.Request) -> Json:
        """Store, change or remove a person's rating of an answer; `reason` names the fault."""
        body = await body_of(request)
        value, message_id = text_of(body, "value"), text_of(body, "message")
        if value not in RATINGS:
            raise BadInput(f"Unknown rating {value[:20]!r}. Use {', '.join(RATINGS)}.")
        reason = text_of(body, "reason", "")
        if reason not in RATED_BECAUSE or (reason and value != "down"):
            raise BadInput(f"Unknown reason {reason[:20]!r}. Use {', '.join(FeedbackReason)} with the rating 'down'.")
        found = await self._conversation(request)
        why = RATED_BECAUSE[reason]
        await self._chat.feedbacks.rate(found, message_id, author_of(request), RATINGS[value], why)
        return {"rated": value, "told": NOT_HELPFUL if value == "down" else ""}

    async def again(self, request: web.Request) -> Json:
        """Submit the question of a stale answer again, once; durable when this returns. Raises as `question_again`."""
        message_id, workspace = text_of(await body_of(request), "message"), self._parts.workspace
        here = await self._conversation(request)
        conversation, answer = await self._parts.conversations.message(message_id, workspace)
        if conversation.id != here.id:
            raise NotFound("This answer belongs to another thread. Ask again there.")
        question = await question_again(self._chat.entries, conversation, answer, by=author_of(request))
        receipt = await self._chat.inbox.receive(question)
        self._publish(conversation.address)
        return {"accepted": receipt.accepted, "sentence": receipt.decision.sentence, "key": receipt.message_key}

    async def export(self, request: web.Request) -> web.Response:
        call = await self._call(request, "export", request.query.get("format", "markdown"))
        result = await self._parts.commands.run(call)
        if result.file is None:
            raise InvalidState("The export returned no file. Try again.")
        return file_response(result.file)

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Stream a thread's events until the browser disconnects or the service stops."""
        address = thread_address(self._parts.workspace, *place_of(request))
        await self._threads.find(address, Reader.of(request))
        topic = str(address)
        after = request.headers.get("Last-Event-ID") or request.query.get("after")
        return await stream(request, self._chat.hub.read(topic, after))

    async def end_streams(self, app: web.Application) -> None:
        self._chat.hub.close()

    async def _call(self, request: web.Request, name: str, argument: str = "") -> CommandCall:
        """Run a command on the thread of the request. NotFound for an unknown thread."""
        found = await self._conversation(request)
        return CommandCall(
            name=name,
            argument=argument,
            workspace=self._parts.workspace,
            conversation=found,
            author=person_of(request) or "",
            address=found.address,
            sees_all=is_owner(request),
        )

    def _to_post(self, request: web.Request, body: Mapping[str, Any]) -> WebPost:
        thread = text_of(body, "thread", "")
        return WebPost(
            workspace=self._parts.workspace,
            channel=to_channel(text_of(body, "channel")),
            thread=check_id(thread, "The thread") if thread else CHANNEL_THREAD,
            author=author_of(request),
            text=text_of(body, "text"),
            key=check_id(text_of(body, "key"), "The key"),
        )

    async def _record_talk(self, incoming: IncomingMessage) -> None:
        message = Message(
            id=uuid.uuid5(uuid.NAMESPACE_URL, incoming.event_key).hex,
            conversation_id="",
            role=Role.USER,
            author=incoming.author,
            content=incoming.text,
            created_at=self._parts.clock.now(),
        )
        await self._threads.record_talk(incoming, message)
        self._chat.hub.publish(str(incoming.address), "changed", {})

    async def _run(self, line: CommandLine, request: web.Request, post: WebPost) -> Json:
        """Run a command; only the person who gave it sees the result."""
        address = thread_address(post.workspace, post.channel, post.thread)
        current = await self._threads.find(address, Reader.of(request)) if post.thread else None
        call = CommandCall(
            name=line.name,
            argument=line.argument,
            workspace=post.workspace,
            conversation=current,
            author=post.author,
            address=address if current else replace(address, thread=f"{PRIVATE_THREAD}{post.author}"),
            is_admin=is_admin(request),
            sees_all=is_owner(request),
            open_threads=_no_others,
            link=f"{self._parts.public_url or request.url.origin()}/c/{post.channel}/{post.thread}",
        )
        result = await self._parts.commands.run(call)
        if result.ask is not None:
            return await self._ask(result.ask, post)
        self._tell_of(result)
        links = {item.number: self._parts.links.path(item, address) for item in result.citations}
        opened = result.open_conversation
        is_here = opened is not None and opened.address.platform == PLATFORM
        return {
            "html": answer_html(result.full_text, links) if result.file is None else "",
            "file": file_json(result.file) if result.file else None,
            "open": [opened.address.channel, opened.address.thread] if opened is not None and is_here else None,
            "read": opened.id if opened is not None and not is_here else None,
            "leave": result.start_new,
        }

    async def _ask(self, question: Question, post: WebPost) -> Json:
        """Submit a command's question, in its thread or in a new one."""
        if question.private:
            raise BadInput("Everyone can see questions asked here. Ask without --private, or in the terminal.")
        key = uuid.uuid5(uuid.NAMESPACE_URL, f"ask {post.key}").hex  # a different message from the command
        asked = question.on(to_incoming(replace(post, text=f"@{BOT_NAME} {question.text}", key=key)))
        receipt = await self._chat.inbox.receive(asked)
        self._publish(asked.address)
        return {
            "html": "" if receipt.accepted else answer_html(receipt.decision.sentence),
            "file": None,
            "open": [asked.address.channel, asked.address.thread] if receipt.accepted else None,
            "leave": False,
        }

    def _tell_of(self, result: CommandResult) -> None:
        """Notify other pages of a command's changes."""
        for changed, kind in ((result.renamed, "changed"), (result.deleted, "deleted")):
            if changed is not None:
                self._publish(changed.address, kind)

    def _publish(self, address: ThreadAddress, kind: str = "changed") -> None:
        """Notify the visitors of a thread, and all lists of threads."""
        self._chat.hub.publish(str(address), kind, {})
        self._chat.hub.publish_all("threads", {})

    async def _conversation(self, request: web.Request) -> Conversation:
        address = thread_address(self._parts.workspace, *place_of(request))
        found = await self._threads.find(address, Reader.of(request))
        if found is None:
            raise NotFound(NO_THREAD_HERE)
        return found
