"""A stored answer's question, to be asked once more as it was: the next version of the same message."""

from dataclasses import replace

from core.answering.answers.stored import stored_ids
from core.domain.conversation import Conversation, IncomingMessage, Message, again_key
from core.domain.service import InboxEntry
from core.errors import InvalidState, NotFound
from core.ports.service import InboxStore

LOOKED_THROUGH = 1_000  # newest messages of a thread among which the question is looked for

TOO_OLD = "This question is too old to ask again with a button. Send it again."
AGAIN_ALREADY = "This question is already being asked again."


async def question_again(
    entries: InboxStore, conversation: Conversation, answer: Message, *, by: str, by_name: str = ""
) -> IncomingMessage:
    """With its options, files and posting key, so that the new answer takes the old one's place; now `by` asks it.

    Made twice before it is answered it has one key: it is asked once. NotFound where the inbox has the question no
    more; InvalidState while it is being answered.
    """
    address = conversation.address
    recent = await entries.recent(address.workspace, address=address, limit=LOOKED_THROUGH)
    asked = next((entry for entry in recent if _is_answered_by(entry, answer)), None)
    if asked is None:
        raise NotFound(TOO_OLD)
    versions = await entries.list_versions(asked.message_key)
    if any(not entry.status.is_final for entry in versions):
        raise InvalidState(AGAIN_ALREADY)
    incoming = asked.incoming
    return replace(
        incoming,
        author=by,
        author_name=by_name,
        event_key=again_key(asked.message_key, f"{answer.id[:12]}-{len(versions)}"),
        message_key=asked.message_key,
        circumstances=replace(incoming.circumstances, mentioned=True, mentions_others=False, from_bot=False),
    )


def _is_answered_by(entry: InboxEntry, answer: Message) -> bool:
    return entry.decision.accepted and stored_ids(entry.incoming).answer == answer.id
