"""The table of who is answered: each circumstance alone, and which of two wins."""

from itertools import product

import pytest

from core.domain.incoming import Circumstances, RepliesTo
from core.domain.service import AutoAnswer, ChannelSettings, Listening
from core.service.addressing import LEFT_TO_PEOPLE, TURNS, decide

PLAIN = ChannelSettings()
HELP_DESK = ChannelSettings(auto_answer=AutoAnswer.LIVE)
FORUM = ChannelSettings(answer_posts=True)
NORMAL, MUTED, LISTENING = Listening.NORMAL, Listening.MUTED, Listening.LISTENING


def how(**fields: object) -> Circumstances:
    """Said to nobody in a channel, but for what is named."""
    return Circumstances(**{"mentioned": False, **fields})


def in_ours(**fields: object) -> Circumstances:
    return how(in_thread=True, in_our_thread=True, **fields)


def in_theirs(**fields: object) -> Circumstances:
    return how(in_thread=True, **fields)


@pytest.mark.parametrize(
    ("circumstances", "listening", "channel", "code"),
    [
        (how(is_own=True, mentioned=True), NORMAL, PLAIN, "own_message"),
        (how(is_own=True, from_bot=True), LISTENING, HELP_DESK, "own_message"),
        (how(from_bot=True, mentioned=True), NORMAL, PLAIN, "another_bot"),
        (how(from_bot=True, direct=True), NORMAL, PLAIN, "another_bot"),
        (in_ours(from_bot=True), LISTENING, PLAIN, "another_bot"),
        # asked by name, wherever and whatever is set
        (how(mentioned=True), NORMAL, PLAIN, None),
        (in_theirs(mentioned=True), MUTED, PLAIN, None),
        (in_ours(mentioned=True, mentions_others=True), NORMAL, PLAIN, None),
        (in_ours(mentioned=True, replies_to=RepliesTo.SOMEBODY), MUTED, PLAIN, None),
        # between one person and the bot
        (how(direct=True), NORMAL, PLAIN, None),
        (how(direct=True, replies_to=RepliesTo.SOMEBODY), NORMAL, PLAIN, None),
        # follow-ups in our threads
        (in_ours(), NORMAL, PLAIN, None),
        (in_ours(replies_to=RepliesTo.US), NORMAL, PLAIN, None),
        (in_ours(replies_to=RepliesTo.SOMEBODY), NORMAL, PLAIN, "not_for_us"),
        (in_ours(mentions_others=True), NORMAL, PLAIN, "not_for_us"),
        (in_ours(replies_to=RepliesTo.US, mentions_others=True), NORMAL, PLAIN, "not_for_us"),
        (in_ours(), MUTED, PLAIN, "muted"),
        (in_ours(replies_to=RepliesTo.US), MUTED, PLAIN, "muted"),
        (in_ours(mentions_others=True), MUTED, PLAIN, "not_for_us"),
        # people's own threads
        (in_theirs(), NORMAL, PLAIN, "needs_mention"),
        (in_theirs(), NORMAL, HELP_DESK, "needs_mention"),
        (in_theirs(), LISTENING, PLAIN, None),
        (in_theirs(mentions_others=True), LISTENING, PLAIN, "not_for_us"),
        (in_theirs(replies_to=RepliesTo.SOMEBODY), LISTENING, PLAIN, "not_for_us"),
        (in_theirs(replies_to=RepliesTo.US), NORMAL, PLAIN, None),
        (how(in_thread=True, in_our_thread=True), Listening.HELD, PLAIN, "muted"),
        (in_theirs(mentioned=True), Listening.HELD, PLAIN, None),
        # the channel itself
        (how(), NORMAL, PLAIN, "needs_mention"),
        (how(), NORMAL, HELP_DESK, None),
        (how(mentions_others=True), NORMAL, HELP_DESK, "not_for_us"),
        (how(replies_to=RepliesTo.SOMEBODY), NORMAL, HELP_DESK, "not_for_us"),
        (how(replies_to=RepliesTo.US), NORMAL, PLAIN, None),
        # new posts of a forum
        (in_theirs(opens_post=True), NORMAL, PLAIN, "posts_off"),
        (in_theirs(opens_post=True), NORMAL, HELP_DESK, "posts_off"),
        (in_theirs(opens_post=True), NORMAL, FORUM, None),
        (in_theirs(opens_post=True, mentions_others=True), NORMAL, FORUM, "not_for_us"),
        (in_theirs(opens_post=True, from_bot=True), NORMAL, FORUM, "another_bot"),
        (in_theirs(), NORMAL, FORUM, "needs_mention"),
    ],
)
def test_who_is_answered(
    circumstances: Circumstances, listening: Listening, channel: ChannelSettings, code: str | None
) -> None:
    decision = decide(circumstances, listening, channel)

    assert (decision.code if decision else None) == code


def every_circumstance() -> list[Circumstances]:
    names = ("mentioned", "direct", "in_thread", "in_our_thread", "mentions_others", "opens_post", "from_bot", "is_own")
    return [
        Circumstances(replies_to=replies_to, **dict(zip(names, flags, strict=True)))
        for replies_to in RepliesTo
        for flags in product((False, True), repeat=len(names))
    ]


EVERYTHING = [
    (circumstances, listening, channel)
    for circumstances in every_circumstance()
    for listening in Listening
    for channel in (PLAIN, HELP_DESK, FORUM)
]


def test_every_refusal_is_one_code_with_one_sentence_that_says_the_fix() -> None:
    refusals = {decision for case in EVERYTHING if (decision := decide(*case)) is not None}

    for decision in refusals:
        assert not decision.accepted
        assert decision.sentence.endswith(".")
        assert decision.code == "own_message" or "mention" in decision.sentence.lower()
    by_content = {decision.code for decision in TURNS}  # test_turns.py
    assert {decision.code for decision in refusals} == {"own_message", "another_bot", *LEFT_TO_PEOPLE} - by_content


def test_who_mentions_the_bot_is_always_answered_and_no_bot_ever() -> None:
    for circumstances, listening, channel in EVERYTHING:
        refused = decide(circumstances, listening, channel) is not None
        if circumstances.is_own or circumstances.from_bot:
            assert refused
        elif circumstances.mentioned or circumstances.direct:
            assert not refused


def test_a_setting_never_refuses_what_is_answered_without_it_but_mute() -> None:
    for circumstances, listening, channel in EVERYTHING:
        if not listening.is_muted and decide(circumstances, NORMAL, PLAIN) is None:
            assert decide(circumstances, listening, channel) is None
