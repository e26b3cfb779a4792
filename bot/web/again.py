"""Asking a stale answer's question once more, from the chat page."""

from dataclasses import dataclass

from aiohttp import web

from bot.web.events import EventHub
from bot.web.requests import body_of, place_of, require_person, text_of
from bot.web.translate import thread_address
from core.errors import NotFound
from core.features.staleness.asking_again import question_again
from core.ports.service import InboxStore
from core.serializers.objects import Json
from core.service.inbox import Inbox
from core.work.conversations import Conversations


@dataclass(frozen=True, slots=True)
class AskingAgain:
    workspace: str
    conversations: Conversations
    inbox: Inbox
    entries: InboxStore
    hub: EventHub

    async def ask(self, request: web.Request) -> Json:
        """Durable when this answers; pressed twice it is asked once. NotFound, InvalidState as `question_again`."""
        address = thread_address(self.workspace, *place_of(request))
        conversation, answer = await self.conversations.message(
            text_of(await body_of(request), "message"), self.workspace
        )
        if conversation.address != address:
            raise NotFound("This answer belongs to another thread: ask again there.")
        question = await question_again(self.entries, conversation, answer, by=require_person(request))
        receipt = await self.inbox.receive(question)
        self.hub.publish(str(address), "changed", {})
        self.hub.publish_all("threads", {})
        return {"accepted": receipt.accepted, "sentence": receipt.decision.sentence, "key": receipt.message_key}
