"""Turn-taking: whether the bot speaks without being named. The same for all platforms; milliseconds, no chat model.

A small local model tells the kind of a message (core/domain/turns.py): a question to the bot, talk, thanks and so on.

`Turns.read` takes a message as people mean it: the bot's name as an address, and a burst of one person as one thought,
also behind a mention that asks nothing yet ("about the pager").
`Turns.decide` gives the reason to stay silent, or to react only; None: it is the bot's turn.
"""

import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.domain.incoming import (
    ChannelAddress,
    IncomingMessage,
    RepliesTo,
    ThreadAddress,
    is_asked_again,
    is_asked_later,
    message_key,
)
from core.domain.service import (
    ACCEPTED,
    UNASKED,
    WOULD_ANSWER,
    AutoAnswer,
    Decision,
    FollowUps,
    InboxEntry,
    Listening,
)
from core.domain.turns import EVERYDAY, OF_THE_BOT, Act, Reading, Turn, Utterance, Where
from core.errors import FootnoteError
from core.ports import Clock, TurnModel
from core.ports.service import InboxStore, SettingsRepository
from core.service.addressing import (
    ACKNOWLEDGED,
    ANOTHER_BOT,
    CANNOT_TELL,
    CHATTER,
    FOR_PEOPLE,
    NEEDS_MENTION_IN_THREAD,
    NOT_COVERED,
    ONLY_NAMED,
)
from core.service.auto_answers import FIRST_BAR, LOWEST_BAR
from core.text.asking import Form, is_about, is_follow_up, points_back, read_asked
from core.text.courtesies import Courtesy, Spoken, has_words, read_courtesies, without_links
from core.text.everyday import OUR_NAME, is_open

log = logging.getLogger(__name__)

LOOKED_BACK = 20  # entries of a thread
FEW_BETWEEN = 1  # messages of people, after which "how long is it?" may still be about the last answer
BURST_SECONDS = 3.0  # between two messages of one thought
BURST_MESSAGES = 4
TOPIC_QUESTIONS = 3
MOST_BURSTS = 500  # people who are remembered for it
# Relevance (0..1, the judge's) from which the library counts as knowing something. Below it, a follow-up of another
# person or after other talk is left to people; LOWEST_BAR is enough for a sure question.
KNOWN_FROM = 0.4
SURE = 0.9  # probability of a question to the bot
# Of a question by another person than the asker, or after other talk. Less may be covered by chance: "do you remember
# the storm?"
LIKELY = 0.65
DOUBTED = 0.3  # probability of talk, above which the library has to cover the asker's next question, too
TOLD_UP_TO = 0.1  # probability of talk, above which a statement asks nothing

_ADDRESS = re.compile(
    rf"^\W*(?:(?:hey|hi|hello|ok|okay|yo|dear|hallo|liebes?|hola|oye|bonjour|salut|so|and|und|y|et|say|sag|dis|dime)\W+){{0,2}}+@?{OUR_NAME}\b"
    r"(?P<pause>\s{0,3}[,:;!?–—-])?",
    re.IGNORECASE,
)
_ADDRESS_LAST = re.compile(rf",\s?{OUR_NAME}[?!.\s]*+$", re.IGNORECASE)

_OUR_NAME = re.compile(rf"(?<=\s)@?{OUR_NAME}\b", re.IGNORECASE)
_ASKS_NOTHING_YET = frozenset({Courtesy.GREETING, Courtesy.FILLER})
# Meals and meetings, which a few words after an answer are about rarely: "pizza afterwards?", "lunch?".
_PLANS = re.compile(
    r"\b(?:lunch|dinner|breakfast|coffee|beers?|pizza|drinks|pub|standup|party|mittagessen|kaffee|feierabend|"
    r"cena|comida|almuerzo|cervezas?|déjeuner|dîner|apéro)\b",
    re.IGNORECASE,
)
MOST_OF_PLANS = 4  # words
_CALLS = frozenset("hey hi oye na so and ok dis sag".split())  # before a name

_Place = tuple[ThreadAddress | ChannelAddress, str]  # and the author
Evidence = Callable[[IncomingMessage, str], Awaitable[float]]
Bar = Callable[[ChannelAddress], Awaitable[float]]


async def same_bar(channel: ChannelAddress) -> float:
    """Return the bar of a channel that has learned nothing."""
    return FIRST_BAR


class _Unread(Exception):
    """The turn model or the index failed. Nobody named the bot, so silence is safe."""


@dataclass(frozen=True, slots=True)
class _Burst:
    """The last messages of one person that were not answered, or that named the bot and asked nothing yet."""

    texts: tuple[str, ...]
    at: float  # of the last one, by the monotonic clock
    named: IncomingMessage | None = None  # the first one, if it named the bot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Situation:
    """The entries of a thread before a message, as far as the inbox knows."""

    askers: frozenset[str]  # authors of questions that were answered
    topic: str  # the last questions that were answered; "" if those were only greetings
    only: InboxEntry | None  # the only one so far: the bot asks back what a first question means
    waiting: frozenset[str]  # authors of questions that are being answered
    between: tuple[InboxEntry, ...]  # people's talk since the last question, newest first
    names: frozenset[str]  # of people who wrote here, case-folded
    said: tuple[Utterance, ...]  # oldest first; without the texts of people's talk, which the inbox doesn't keep

    @property
    def is_at_once(self) -> bool:
        """Whether the last question and its answer are the newest messages."""
        return bool(self.askers) and not self.between

    def is_followed_up_by(self, author: str) -> bool:
        """Whether a message of this asker follows the last answer, without messages by others between."""
        return author in self.askers and all(entry.incoming.author == author for entry in self.between)


class Turns:
    def __init__(
        self,
        settings: SettingsRepository,
        entries: InboxStore,
        clock: Clock,
        model: TurnModel,
        evidence: Evidence | None = None,
        bar: Bar = same_bar,
    ) -> None:
        """`evidence` returns how well the library covers a question, 0..1; without it, every question counts as
        covered. `bar` returns the evidence from which a channel is answered by itself.
        """
        self._settings = settings
        self._entries = entries
        self._clock = clock
        self._model = model
        self._evidence = evidence
        self._bar = bar
        self._bursts: OrderedDict[_Place, _Burst] = OrderedDict()

    # ------------------------------------------------------------------ reading

    async def read(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return the message as it is meant: addressed by the bot's name, or as the end of a burst."""
        how = incoming.circumstances
        if how.from_bot or how.is_own:
            return incoming
        if not (how.mentioned or how.direct) and (rest := addressed(incoming.text)) is not None:
            return replace(incoming, text=rest, circumstances=replace(how, mentioned=True))
        burst = None if how.mentioned else self._burst_before(incoming)
        if burst is None:
            return incoming
        if burst.named is not None and await self._is_for_others(incoming, burst):
            return incoming
        text = "\n".join([*burst.texts, incoming.text])
        if burst.named is not None:  # like an edit of that message: its answer, if any, makes way
            named = replace(burst.named, text=text, event_key=incoming.event_key)
            return replace(named, attachments=(*burst.named.attachments, *incoming.attachments))
        return incoming if how.direct else replace(incoming, text=text)

    def _burst_before(self, incoming: IncomingMessage) -> _Burst | None:
        """Return the messages that one continues: of the same person, a moment ago. An edit continues none."""
        burst = next((self._bursts[key] for key in _places(incoming) if key in self._bursts), None)
        is_late = burst is None or self._clock.monotonic() - burst.at > BURST_SECONDS
        return None if is_late or incoming.event_key != incoming.message_key else burst

    async def _is_for_others(self, incoming: IncomingMessage, burst: _Burst) -> bool:
        """Return whether a message is a command, or meant for people: no continuation of a mention."""
        how, text = incoming.circumstances, incoming.text
        if (
            how.replies_to is RepliesTo.SOMEBODY
            or how.mentions_others
            or text.lstrip().startswith("/")
            or _is_plan(text)
        ):
            return True
        author = incoming.author_name or incoming.author
        before = tuple(Utterance(author=author, text=said) for said in burst.texts)
        where = Where.PRIVATE if how.direct else Where.THREAD
        turn = Turn(author=author, text=text, where=where, is_named=how.direct, before=before)
        try:
            return (await self._read(turn)).act is Act.PEOPLE
        except _Unread:
            return True  # the mention and this message are decided apart

    def _remember(self, incoming: IncomingMessage, decision: Decision | None) -> None:
        """Keep a message for a moment that was not answered, or that named the bot without asking anything: the next
        one may continue it. `text` is joined already.
        """
        how, places = incoming.circumstances, _places(incoming)
        before = [self._bursts.pop(key) for key in places if key in self._bursts]
        named = before[0].named if before else None
        if named is None or named.message_key != incoming.message_key:
            spoken = read_courtesies(without_links(incoming.text))
            asked = read_asked(spoken.rest or "?")
            is_greeting = spoken.is_all and bool(spoken.kinds) and {*spoken.kinds} <= _ASKS_NOTHING_YET
            is_begun = asked.form in (Form.FRAGMENT, Form.STATEMENT) and not asked.is_elliptical
            asks_nothing = is_greeting or is_begun
            named = incoming if (how.mentioned or how.direct) and decision is None and asks_nothing else None
        if decision in (CHATTER, FOR_PEOPLE, NOT_COVERED) or named is not None:
            texts = tuple(incoming.text.split("\n"))[-BURST_MESSAGES:]
            for key in places if named is not None else places[:1]:
                self._bursts[key] = _Burst(texts, self._clock.monotonic(), named)
            while len(self._bursts) > MOST_BURSTS:
                self._bursts.popitem(last=False)

    # ------------------------------------------------------------------ deciding

    async def decide(self, incoming: IncomingMessage) -> Decision | None:
        """Return why the bot stays silent, or only reacts; None if it is its turn.

        Called for messages that the rules of addressing.py let through.
        """
        how = incoming.circumstances
        if how.mentioned or how.direct:
            self._remember(incoming, None)
            return None
        if how.opens_post or await self._is_settled(incoming):
            return None
        try:
            decision = await self._judge(incoming)
        except _Unread:
            decision = CANNOT_TELL
        self._remember(incoming, decision)
        return decision

    async def accept(self, incoming: IncomingMessage) -> Decision:
        """Return the decision about a message that `decide` and all gates let through."""
        if not incoming.circumstances.is_unasked:
            return ACCEPTED
        mode = (await self._settings.channel(ChannelAddress.of(incoming.address))).auto_answer
        if mode is AutoAnswer.SHADOW and not await self._is_settled(incoming):
            return WOULD_ANSWER
        return UNASKED if mode is AutoAnswer.LIVE else ACCEPTED

    async def _is_settled(self, incoming: IncomingMessage) -> bool:
        """Return whether it is asked again, or an earlier version of it was answered: its post has to follow."""
        keys = incoming.event_key, incoming.message_key
        if is_asked_again(*keys) or is_asked_later(*keys):
            return True
        if incoming.event_key == incoming.message_key:
            return False
        return any(entry.decision.accepted for entry in await self._entries.list_versions(incoming.message_key))

    async def _judge(self, incoming: IncomingMessage) -> Decision | None:
        how, address = incoming.circumstances, incoming.address
        settings = await self._settings.channel(ChannelAddress.of(address))
        listening = await self._settings.listening(address)
        situation = await self._situation(incoming)
        is_to_us = how.replies_to is RepliesTo.US
        if how.in_thread and not is_to_us and listening is not Listening.LISTENING:
            if settings.follow_ups is FollowUps.NAMED:
                return ONLY_NAMED
            if settings.follow_ups is FollowUps.ASKER and not await self._is_ours(incoming):
                return NEEDS_MENTION_IN_THREAD
        spoken = read_courtesies(without_links(incoming.text))
        after_us = is_to_us or (situation.is_at_once and how.in_thread)
        if not has_words(incoming.text) or spoken.is_all:
            kinds = {*spoken.kinds}
            is_thanks = bool(kinds & {Courtesy.THANKS, Courtesy.ACKNOWLEDGEMENT}) or not kinds
            return ACKNOWLEDGED if after_us and is_thanks else CHATTER
        if not is_to_us and (_is_plan(spoken.rest) or calls_somebody(spoken.rest, situation.names)):
            return FOR_PEOPLE
        reading = await self._read(await self._turn(incoming, situation, listening))
        act = reading.if_to_us() if is_to_us else reading.act
        if act in (Act.THANKS, Act.ACKNOWLEDGED):
            return ACKNOWLEDGED if after_us else CHATTER
        if act is Act.PEOPLE:
            return FOR_PEOPLE if read_asked(spoken.rest).form in (Form.QUESTION, Form.REQUEST) else CHATTER
        if is_to_us:
            return None
        if act in EVERYDAY:
            return None if situation.askers and how.in_thread and act in OF_THE_BOT else CHATTER
        return await self._to_question(incoming, spoken, reading, situation)

    async def _to_question(
        self, incoming: IncomingMessage, spoken: Spoken, reading: Reading, situation: _Situation
    ) -> Decision | None:
        """Decide about a question or request that is not meant for people."""
        has_thanked = Courtesy.THANKS in spoken.kinds and incoming.author in situation.askers
        follows_us = has_thanked or situation.is_followed_up_by(incoming.author)
        form = read_asked(spoken.rest).form
        if form in (Form.CORRECTION, Form.FRAGMENT) and incoming.author in situation.waiting:
            return CHATTER  # the end of a question that is being answered
        may_be_told = form is Form.STATEMENT and reading.shares[Act.PEOPLE] > TOLD_UP_TO
        if may_be_told and not await self._completes(incoming, situation):
            return CHATTER
        in_thread = incoming.circumstances.in_thread
        if follows_us and reading.shares[Act.PEOPLE] <= DOUBTED:
            return None
        if not follows_us and reading.shares[Act.ASK] < LIKELY:
            return FOR_PEOPLE
        leans = is_follow_up(spoken.rest) and situation.askers and len(situation.between) <= FEW_BETWEEN
        goes_on = in_thread and (situation.is_at_once or leans)
        lacks_subject = not goes_on and (is_open(spoken.rest) or points_back(spoken.rest))
        if reading.act is Act.UNCLEAR and lacks_subject:
            return FOR_PEOPLE
        is_sure = form is not Form.STATEMENT and reading.shares[Act.ASK] >= SURE
        context = situation.topic if goes_on else ""
        known = await self._covers(incoming, spoken.rest, context, LOWEST_BAR if is_sure else KNOWN_FROM)
        return None if known else NOT_COVERED

    async def _completes(self, incoming: IncomingMessage, situation: _Situation) -> bool:
        """Return whether this follows the same person's first question, so unclear that the bot asked back."""
        first = situation.only
        if first is None or situation.between or first.incoming.author != incoming.author:
            return False
        name, text = first.incoming.author_name or first.incoming.author, without_links(first.incoming.text)
        asked = Turn(author=name, text=text, where=Where.THREAD, is_named=True)
        return (await self._read(asked)).if_to_us() is Act.UNCLEAR

    async def _read(self, turn: Turn) -> Reading:
        try:
            return await self._model.read(turn)
        except FootnoteError as error:
            log.error("The turn model failed: %s", error)
            raise _Unread from error

    async def _turn(self, incoming: IncomingMessage, situation: _Situation, listening: Listening) -> Turn:
        how = incoming.circumstances
        is_ours = listening is Listening.LISTENING or (how.in_thread and await self._is_ours(incoming))
        in_thread = Where.THREAD if is_ours else Where.PEOPLE
        return Turn(
            author=incoming.author_name or incoming.author,
            text=without_links(incoming.text),
            where=in_thread if how.in_thread else Where.CHANNEL,
            is_named=how.replies_to is RepliesTo.US,
            before=situation.said,
        )

    async def _covers(self, incoming: IncomingMessage, text: str, context: str, least: float) -> bool:
        """Return whether the library covers a question, by itself or as a follow-up on `context`.

        `least` is the bar in threads; a channel has its own.
        """
        if self._evidence is None:
            return True
        is_in_thread = incoming.circumstances.in_thread
        try:
            bar = least if is_in_thread else await self._bar(ChannelAddress.of(incoming.address))
            if await self._evidence(incoming, text) >= bar:
                return True
            return bool(context) and await self._evidence(incoming, f"{context} {text}") >= bar
        except FootnoteError as error:
            log.error("The library could not be asked whether it covers a message: %s", error)
            raise _Unread from error

    async def _is_ours(self, incoming: IncomingMessage) -> bool:
        """Return whether the bot's answer opened the thread, and not people's talk."""
        address = incoming.address
        if incoming.circumstances.opened_by_us:
            return True
        root = await self._entries.list_versions(message_key(address, address.thread))
        return any(entry.decision.accepted for entry in root)

    async def _situation(self, incoming: IncomingMessage) -> _Situation:
        address = incoming.address
        found = await self._entries.recent(address.workspace, address=address, limit=LOOKED_BACK)
        return situation_of([entry for entry in found if entry.message_key != incoming.message_key], incoming.author)


def _places(incoming: IncomingMessage) -> list[_Place]:
    """Return where the next message of a burst may be: in the thread, or, outside of threads, in the channel."""
    in_thread = incoming.circumstances.in_thread
    channel = [] if in_thread else [(ChannelAddress.of(incoming.address), incoming.author)]
    return [(incoming.address, incoming.author), *channel]


def situation_of(entries: Sequence[InboxEntry], author: str) -> _Situation:
    """Read the entries of a thread, newest first."""
    accepted = [entry for entry in entries if entry.decision.accepted]
    between: list[InboxEntry] = []
    for entry in entries:
        if entry.decision.accepted:
            break
        if entry.decision.code not in (ACKNOWLEDGED.code, ANOTHER_BOT.code, "command"):
            between.append(entry)
    names = (entry.incoming.author_name for entry in entries if entry.incoming.author != author)
    return _Situation(
        askers=frozenset(entry.incoming.author for entry in accepted),
        only=accepted[0] if len(accepted) == 1 else None,
        topic=" ".join(reversed([read_courtesies(entry.incoming.text).rest for entry in accepted[:TOPIC_QUESTIONS]])),
        waiting=frozenset(entry.incoming.author for entry in accepted if not entry.status.is_final),
        between=tuple(between),
        names=frozenset(name.casefold() for full in names for name in (full, *full.split()[:1]) if len(name) > 1),
        said=tuple(utterance for entry in reversed(entries) for utterance in _utterances(entry)),
    )


def _utterances(entry: InboxEntry) -> Sequence[Utterance]:
    """Return an entry as a message, with the bot's reply behind a question."""
    author = entry.incoming.author_name or entry.incoming.author
    if entry.decision.code in (ANOTHER_BOT.code, "command"):
        return ()
    if not entry.decision.accepted:
        return (Utterance(author=author),)
    return Utterance(author=author, text=entry.incoming.text), Utterance(author=None)


def addressed(text: str) -> str | None:
    """Return the words to the bot around its name ("Footnote, when ...?", "thanks Footnote!"); else None.

    Without a pause behind the name, only a question or request is an address: "footnote seems slow" is not.
    """
    found = _ADDRESS.match(text)
    if found is not None:
        rest = text[found.end() :].strip()
        is_asked = read_asked(rest).form in (Form.QUESTION, Form.REQUEST) and not is_about(rest)
        if found["pause"] or not rest or is_asked:
            return rest or text
        return None
    thanked = _OUR_NAME.search(text)
    if thanked is not None and Courtesy.THANKS in (spoken := read_courtesies(text[: thanked.start()])).kinds:
        return f"{text[: thanked.start()].rstrip()}{text[thanked.end() :]}" if spoken.is_all else None
    last = _ADDRESS_LAST.search(text)
    return f"{text[: last.start()].rstrip()}{'?' if '?' in last.group() else ''}" if last is not None else None


def _is_plan(text: str) -> bool:
    return len(text.split()) <= MOST_OF_PLANS and _PLANS.search(text) is not None


def calls_somebody(text: str, names: frozenset[str]) -> bool:
    """Return whether a text begins or ends with one of these names, as a call does."""
    said = [word.strip(".,:;!?…()\"'").casefold() for word in text.split()]
    said = [word for word in said if word]
    if not said:
        return False
    first = next((word for word in said[:2] if word not in _CALLS), "")
    return first in names or said[-1] in names
