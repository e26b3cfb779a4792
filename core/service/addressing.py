"""The policy for messages that may not be meant for the bot. Pure.

`decide` reads from top to bottom, and the first rule that fits decides. Every refusal includes the way out.
"""

from core.domain.incoming import Circumstances, RepliesTo
from core.domain.service import WOULD_ANSWER, AutoAnswer, ChannelSettings, Decision, Listening


def _left_alone(code: str, sentence: str) -> Decision:
    return Decision(code=code, sentence=sentence, accepted=False)


OWN = _left_alone("own_message", "I wrote this message myself.")
ANOTHER_BOT = _left_alone(
    "another_bot", "A bot or a webhook wrote this, and I only answer people. Mention me to ask it yourself."
)
BETWEEN_PEOPLE = _left_alone(
    "not_for_us", "This message was for someone else, so I didn't reply. Mention me to ask a question."
)
MUTED = _left_alone("muted", "I'm muted in this thread. Mention me to ask, or use /unmute.")
HELD = _left_alone("muted", "A moderator muted me in this thread. Mention me to ask.")
POSTS_OFF = _left_alone(
    "posts_off",
    "I don't answer new posts here unless mentioned. An admin can change that with /settings answer_posts on.",
)
NEEDS_MENTION = _left_alone("needs_mention", "This message didn't mention me. Mention me to ask a question.")
NEEDS_MENTION_IN_THREAD = _left_alone(
    "needs_mention",
    "I didn't start this thread, so I only reply when mentioned. To have me answer every question here, use /listen.",
)

ACKNOWLEDGED = _left_alone("acknowledged", "This acknowledged my answer and asked nothing, so I didn't reply.")
CHATTER = _left_alone("chatter", "This didn't ask anything, so I stayed silent. Mention me to ask.")
FOR_PEOPLE = _left_alone(
    "for_people", "This sounded like a question to people here, so I stayed silent. Mention me if it was for me."
)
NOT_COVERED = _left_alone(
    "not_covered",
    "Nobody named me, and the documents didn't seem to answer this, so I stayed silent. Mention me to ask anyway.",
)
CANNOT_TELL = _left_alone(
    "cannot_tell",
    "I couldn't tell whether this was for me because a part of me failed, so I stayed silent. Mention me to ask, and "
    "let an admin run `footnote doctor`.",
)
ONLY_NAMED = _left_alone(
    "only_named",
    "In this channel I only reply when mentioned. An admin can change that with /settings follow_ups.",
)
# Decisions of turn-taking (turns.py) to leave a message to people.
TURNS = (ACKNOWLEDGED, CHATTER, FOR_PEOPLE, NOT_COVERED, CANNOT_TELL, ONLY_NAMED, WOULD_ANSWER)
# Of messages that named nobody, or other people.
OVERHEARD = frozenset(
    item.code for item in (CHATTER, FOR_PEOPLE, NOT_COVERED, CANNOT_TELL, BETWEEN_PEOPLE, WOULD_ANSWER)
)
# Conversations between people: a refusal stays unsaid.
LEFT_TO_PEOPLE = frozenset(item.code for item in (BETWEEN_PEOPLE, MUTED, POSTS_OFF, NEEDS_MENTION, *TURNS))


def decide(circumstances: Circumstances, listening: Listening, channel: ChannelSettings) -> Decision | None:
    """The refusal, or None when the message is for us."""
    how = circumstances
    if how.is_own:
        return OWN
    if how.from_bot:
        return ANOTHER_BOT
    if how.mentioned or how.direct:
        return None
    if how.replies_to is RepliesTo.SOMEBODY or how.mentions_others:
        return BETWEEN_PEOPLE
    if listening.is_muted:
        return MUTED if listening is Listening.MUTED else HELD
    if how.replies_to is RepliesTo.US or how.in_our_thread or listening is Listening.LISTENING:
        return None
    if how.opens_post:
        return None if channel.answer_posts else POSTS_OFF
    if how.in_thread:
        return NEEDS_MENTION_IN_THREAD
    return NEEDS_MENTION if channel.auto_answer is AutoAnswer.OFF else None
