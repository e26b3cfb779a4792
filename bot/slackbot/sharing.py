"""Sharing a private answer with its channel: a message that says who shares what, with the answer in its thread.

The answer is an entry of the inbox like any other (sharing.py), known by its event key: whoever presses
twice, or in two places, shares once.
"""

from dataclasses import replace

from bot.presentation.action_names import ActionName, post_id
from bot.presentation.answer_actions import AnswerActions
from bot.slackbot.interaction_context import Act
from bot.slackbot.interactions import Desk
from bot.slackbot.render import RenderOptions, render_answer
from bot.slackbot.render_lists import said_message
from bot.slackbot.translate import CHANNEL_ITSELF, thread_address
from core.answering.answers.stored import stored_ids, to_answer
from core.answering.steps.sharing import SHARED, Sharing
from core.domain.answer import AnswerStatus
from core.domain.conversation import Conversation, Message, ThreadAddress, message_key
from core.domain.jobs import Job
from core.domain.service import InboxEntry, InboxStatus, Receipt
from core.errors import NotFound

SHARED_NOW = "Shared with the channel."
SHARED_BEFORE = "This answer was shared with the channel before."


async def share(desk: Desk, act: Act, name: ActionName) -> None:
    """Show a private answer to its channel, once. Raises core errors where it can't be shown there."""
    conversation, answer = await AnswerActions(desk.parts).answer(await desk.place(act), act.person, name.id)
    channel = replace(conversation.address, thread=CHANNEL_ITSELF)
    sharing = Sharing(conversations=desk.parts.conversations, corpus=desk.parts.corpus, access=desk.parts.access)
    await sharing.answer_for(channel, act.person, answer.id)  # before anybody sees that there is something
    key = await _free_key(desk, channel, answer.id)
    receipt = await _post(desk, act, conversation, answer, key) if key is not None else None
    if receipt is not None and not receipt.accepted:
        await desk.say(act, receipt.decision.sentence)
        return
    is_shown = await _without_button(desk, act, conversation, answer)
    if receipt is None or receipt.repeated:
        await desk.say(act, SHARED_BEFORE)
    elif not is_shown or act.is_direct:
        await desk.say(act, SHARED_NOW)


async def _free_key(desk: Desk, channel: ThreadAddress, answer_id: str) -> str | None:
    """The event key of this sharing; None: it is shared already, or about to be. What came to nothing is tried anew."""
    number = 1
    while True:
        key = message_key(channel, f"shared-{answer_id}-{number}")
        entry = await desk.parts.entries.find(key)
        if entry is None:
            return key
        if await _stands(desk, entry):
            return None
        number += 1


async def _stands(desk: Desk, entry: InboxEntry) -> bool:
    """Not so what a gate or the scope refused, what failed, and what was deleted since."""
    if entry.status is not InboxStatus.DONE:
        return not entry.status.is_final
    try:
        _, shown = await desk.parts.conversations.message(stored_ids(entry.incoming).answer, entry.workspace)
    except NotFound:
        return False
    return shown.status == AnswerStatus.ANSWERED.value


async def _post(desk: Desk, act: Act, conversation: Conversation, answer: Message, key: str) -> Receipt:
    """What is not taken in, or was by another press, does not stay as a message that nobody answers."""
    place = conversation.address
    question = await AnswerActions(desk.parts).question_of(conversation, answer) or conversation.title
    name = await desk.people.name(act.team, act.person)
    there = replace(act, channel=place.channel, thread=CHANNEL_ITSELF)
    ts = await desk.post(there, said_message(name, question, does="shares"))
    is_taken = False
    try:
        asked = await desk.bare(there, thread_address(place.workspace, place.channel, ts), ts)
        metadata = {**asked.metadata, SHARED: answer.id}
        receipt = await desk.parts.inbox.receive(replace(asked, text=question, event_key=key, metadata=metadata))
        is_taken = receipt.accepted and not receipt.repeated
    finally:
        if not is_taken:
            await desk.take_back(there, place.channel, ts)
    return receipt


async def _without_button(desk: Desk, act: Act, conversation: Conversation, answer: Message) -> bool:
    """The private answer as it was, but with nothing left to share; False where Slack does not take it any more."""
    jobs = await _jobs_of(desk, conversation, answer)
    key = str(jobs[0].input.get("message_key") or "") if jobs else ""
    options = RenderOptions(
        post_id=post_id(key) if key else answer.id,
        link=lambda citation: desk.parts.link(citation, conversation.address),
    )
    return await desk.replace(act, render_answer(to_answer(answer, jobs), options).parts[-1])


async def _jobs_of(desk: Desk, conversation: Conversation, answer: Message) -> list[Job]:
    """How an answer was made; empty where that is not kept any more."""
    if answer.job_id is None:
        return []
    try:
        return await desk.parts.jobs.tree(answer.job_id, conversation.address.workspace)
    except NotFound:
        return []
