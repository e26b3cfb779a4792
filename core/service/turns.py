"""Turn-taking: whether the bot speaks without being named. The same for all platforms; milliseconds, no chat model.

`Turns.read` takes a message as people mean it: the bot's name as an address, and a burst of one person as one thought,
also behind a mention that asks nothing yet ("about the pager").
`Turns.decide` gives the reason to stay silent, or to react only; None: it is the bot's turn.
"""

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
from core.errors import FootnoteError
from core.knowledge.library_questions import ListQuestion, read_library_question
from core.ports import Clock
from core.ports.service import InboxStore, SettingsRepository
from core.service.addressing import (
    ACKNOWLEDGED,
    ANOTHER_BOT,
    CHATTER,
    FOR_PEOPLE,
    NEEDS_MENTION_IN_THREAD,
    NOT_COVERED,
    ONLY_NAMED,
)
from core.service.auto_answers import FIRST_BAR, LOWEST_BAR
from core.text.asking import Asked, Form, count_telling, is_about, is_follow_up, read_asked
from core.text.courtesies import Courtesy, Spoken, has_words, read_courtesies, without_links
from core.text.everyday import OUR_NAME, Everyday, read_everyday

LOOKED_BACK = 20  # entries of a thread
TELLING_WORDS = 2  # content words; a question with fewer is about the message before
FEW_BETWEEN = 1  # messages of people, after which "how long is it?" may still be about the last answer
BURST_SECONDS = 3.0  # between two messages of one thought
BURST_MESSAGES = 4
TOPIC_QUESTIONS = 3
MOST_BURSTS = 500  # people who are remembered for it
# Relevance (0..1, the cross-encoder's) from which the library counts as knowing something. Below it, a follow-up of
# another person or after other talk is left to people. A channel itself has a bar of its own.
KNOWN_FROM = LOWEST_BAR
SAID_FROM = 0.2  # of a few words without the form of a question: most of these ("poor thing") ask nothing

_ADDRESS = re.compile(
    rf"^\W*(?:(?:hey|hi|hello|ok|okay|yo|dear|hallo|liebes?|hola|oye|bonjour|salut|so|and|und|y|et|say|sag|dis|dime)\W+){{0,2}}+@?{OUR_NAME}\b"
    r"(?P<pause>\s{0,3}[,:;!?–—-])?",
    re.IGNORECASE,
)
_ADDRESS_LAST = re.compile(rf",\s?{OUR_NAME}[?!.\s]*+$", re.IGNORECASE)

_OUR_NAME = re.compile(rf"(?<=\s)@?{OUR_NAME}\b", re.IGNORECASE)
_OF_US = frozenset({Everyday.LIBRARY, Everyday.SOURCES, Everyday.COMMANDS, Everyday.LAST_QUESTION})
_CALLS = frozenset("hey hi oye na so and ok dis sag".split())  # before a name

_Place = tuple[ThreadAddress | ChannelAddress, str]  # and the author
Evidence = Callable[[IncomingMessage, str], Awaitable[float]]
Bar = Callable[[ChannelAddress], Awaitable[float]]


async def same_bar(channel: ChannelAddress) -> float:
    """Return the bar of a channel that has learned nothing."""
    return FIRST_BAR


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
    waiting: frozenset[str]  # authors of questions that are being answered
    between: tuple[InboxEntry, ...]  # people's talk since the last question, newest first
    names: frozenset[str]  # of people who wrote here, case-folded

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
        evidence: Evidence | None = None,
        bar: Bar = same_bar,
    ) -> None:
        """`evidence` returns how well the library covers a question, 0..1; without it, every question counts as
        covered. `bar` returns the evidence from which a channel is answered by itself.
        """
        self._settings = settings
        self._entries = entries
        self._clock = clock
        self._evidence = evidence
        self._bar = bar
        self._bursts: OrderedDict[_Place, _Burst] = OrderedDict()

    # ------------------------------------------------------------------ reading

    def read(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return the message as it is meant: addressed by the bot's name, or as the end of a burst."""
        how = incoming.circumstances
        if how.from_bot or how.is_own:
            return incoming
        if not (how.mentioned or how.direct) and (rest := addressed(incoming.text)) is not None:
            return replace(incoming, text=rest, circumstances=replace(how, mentioned=True))
        burst = None if how.mentioned else self._burst_before(incoming)
        if burst is None:
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
        if burst is None or is_late or incoming.event_key != incoming.message_key:
            return None
        return None if burst.named is not None and _is_for_others(incoming) else burst

    def _remember(self, incoming: IncomingMessage, decision: Decision | None) -> None:
        """Keep a message for a moment that was not answered, or that named the bot without asking anything: the next
        one may continue it. `text` is joined already.
        """
        how, places = incoming.circumstances, _places(incoming)
        before = [self._bursts.pop(key) for key in places if key in self._bursts]
        named = before[0].named if before else None
        if named is None or named.message_key != incoming.message_key:
            asked = read_asked(read_courtesies(without_links(incoming.text)).rest or "?")
            asks_nothing = asked.form in (Form.FRAGMENT, Form.STATEMENT) and not asked.is_elliptical
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
        decision = await self._judge(incoming)
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
        if not has_words(incoming.text) or spoken.is_all:
            return self._to_courtesy(spoken, incoming, situation, is_to_us=is_to_us)
        if situation.askers and how.in_thread and self._asks_of_us(spoken.rest):
            return None
        asked = read_asked(spoken.rest)
        if not is_to_us and (asked.for_person or calls_somebody(spoken.rest, situation.names)):
            return FOR_PEOPLE if asked.form is not Form.STATEMENT else CHATTER
        if asked.form is Form.STATEMENT:
            return ACKNOWLEDGED if is_to_us else CHATTER
        return await self._to_question(incoming, spoken, asked, situation, is_to_us=is_to_us)

    async def _to_question(
        self,
        incoming: IncomingMessage,
        spoken: Spoken,
        asked: Asked,
        situation: _Situation,
        *,
        is_to_us: bool,
    ) -> Decision | None:
        """Decide about a question or request that is not meant for people by its words."""
        if is_to_us:
            return None if asked.form is not Form.FRAGMENT or asked.is_connected else CHATTER
        has_thanked = Courtesy.THANKS in spoken.kinds and incoming.author in situation.askers
        follows_us = has_thanked or situation.is_followed_up_by(incoming.author)
        is_tail = asked.form in (Form.CORRECTION, Form.FRAGMENT) and incoming.author in situation.waiting
        if is_tail:  # of a question that is being answered
            return CHATTER
        if follows_us and asked.form is not Form.FRAGMENT and not asked.maybe_for_person:
            return None
        if asked.form is Form.CORRECTION or (asked.form is Form.FRAGMENT and not (follows_us and situation.topic)):
            return CHATTER
        if follows_us and asked.is_connected:
            return None
        in_thread = incoming.circumstances.in_thread
        says_little = asked.is_elliptical or count_telling(spoken.rest) < TELLING_WORDS
        if not follows_us and (asked.maybe_for_person or (says_little and situation.between)):
            return FOR_PEOPLE
        if asked.form is Form.REQUEST and not in_thread:
            return CHATTER
        leans = is_follow_up(spoken.rest) and situation.askers and len(situation.between) <= FEW_BETWEEN
        goes_on = follows_us or situation.is_at_once or leans
        context = situation.topic if in_thread and goes_on and asked.form is not Form.FRAGMENT else ""
        least = SAID_FROM if asked.form is Form.FRAGMENT else 0.0
        return None if await self._covers(incoming, spoken.rest, context, least) else NOT_COVERED

    def _to_courtesy(
        self, spoken: Spoken, incoming: IncomingMessage, situation: _Situation, *, is_to_us: bool
    ) -> Decision:
        """Thanks and the like right after an answer get a reaction."""
        kinds = {*spoken.kinds}
        is_thanks = bool(kinds & {Courtesy.THANKS, Courtesy.ACKNOWLEDGEMENT}) or not spoken.kinds
        after_us = is_to_us or (situation.is_at_once and incoming.circumstances.in_thread)
        return ACKNOWLEDGED if after_us and is_thanks else CHATTER

    async def _covers(self, incoming: IncomingMessage, text: str, context: str, least: float) -> bool:
        """Return whether the library covers a question at least so well, by itself or as a follow-up on `context`."""
        if self._evidence is None:
            return True
        is_in_thread = incoming.circumstances.in_thread
        try:
            bar = KNOWN_FROM if is_in_thread else await self._bar(ChannelAddress.of(incoming.address))
            bar = max(bar, least)
            if await self._evidence(incoming, text) >= bar:
                return True
            return bool(context) and await self._evidence(incoming, f"{context} {text}") >= bar
        except FootnoteError:  # the bot was not asked: silence is safe
            return False

    def _asks_of_us(self, text: str) -> bool:
        """Return whether only the bot can answer a message, even one with "you": about its library, or the history."""
        asked = read_library_question(text, self._clock.now().date())  # but people, too, are asked "what's new?"
        return read_everyday(text) in _OF_US or isinstance(asked, ListQuestion)

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


def _is_for_others(incoming: IncomingMessage) -> bool:
    """Return whether a message is a command, or meant for people: it doesn't continue what was said to the bot."""
    how, text = incoming.circumstances, incoming.text
    is_to_people = how.replies_to is RepliesTo.SOMEBODY or how.mentions_others or read_asked(text).for_person
    return is_to_people or text.lstrip().startswith("/")


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
        topic=" ".join(reversed([read_courtesies(entry.incoming.text).rest for entry in accepted[:TOPIC_QUESTIONS]])),
        waiting=frozenset(entry.incoming.author for entry in accepted if not entry.status.is_final),
        between=tuple(between),
        names=frozenset(name.casefold() for full in names for name in (full, *full.split()[:1]) if len(name) > 1),
    )


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


def calls_somebody(text: str, names: frozenset[str]) -> bool:
    """Return whether a text begins or ends with one of these names, as a call does."""
    said = [word.strip(".,:;!?…()\"'").casefold() for word in text.split()]
    said = [word for word in said if word]
    if not said:
        return False
    first = next((word for word in said[:2] if word not in _CALLS), "")
    return first in names or said[-1] in names
