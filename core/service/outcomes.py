"""The outcome of a message: its stored answer, or one sentence that says why it has none."""

from core.answering.answers.settled import to_answer
from core.answering.answers.stored import stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Message
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus
from core.errors import NotFound
from core.service.jobs import Jobs
from core.work.conversations import Conversations

GONE = "The answer is no longer in its conversation. Ask again."


class Outcomes:
    def __init__(self, conversations: Conversations, jobs: Jobs) -> None:
        self._conversations = conversations
        self._jobs = jobs

    async def find(self, entry: InboxEntry) -> Answer:
        """The answer with its footnotes, suggestions, cost and job tree, as far as they are stored.

        An ended entry without one: an answer of status stopped, refused or error, with the sentence for people.
        """
        stored = await self._stored(entry)
        if stored is not None:
            return to_answer(stored, await self._tree(stored.job_id, entry.workspace))
        status, sentence = {
            InboxStatus.REFUSED: (AnswerStatus.REFUSED, entry.decision.sentence),
            InboxStatus.CANCELLED: (AnswerStatus.STOPPED, "Stopped."),
            InboxStatus.DONE: (AnswerStatus.ERROR, GONE),
        }.get(entry.status, (AnswerStatus.ERROR, entry.final_error or entry.error or GONE))
        return Answer(status=status, text=sentence, conversation_id=entry.incoming.conversation_id or "")

    async def _stored(self, entry: InboxEntry) -> Message | None:
        conversation_id = entry.incoming.conversation_id
        if conversation_id is None:
            conversation = await self._conversations.find(entry.address)
            if conversation is None:
                return None
            conversation_id = conversation.id
        try:
            _, messages = await self._conversations.show(conversation_id, entry.workspace)
        except NotFound:
            return None
        answer_id = stored_ids(entry.incoming).answer
        return next((message for message in messages if message.id == answer_id), None)

    async def _tree(self, job_id: str | None, workspace: str) -> list[Job]:
        try:
            return await self._jobs.tree(job_id, workspace) if job_id else []
        except NotFound:
            return []  # trees are forgotten before answers are
