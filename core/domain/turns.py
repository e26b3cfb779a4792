"""The kinds of messages among people: a question to the bot, talk, thanks, and so on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """The kind of a message. The order is that of the turn model's outputs."""

    ASK = "ask"  # it wants something that documents, or the talk, could say, and is meant for the bot
    UNCLEAR = "unclear"  # likewise, but without a subject, also in the talk before
    PEOPLE = "people"  # for other people, or a remark
    THANKS = "thanks"
    ACKNOWLEDGED = "acknowledged"
    GREETING = "greeting"
    BYE = "bye"
    GO_AHEAD = "go_ahead"  # "I have a question"
    HELP = "help"
    IDENTITY = "identity"
    COMMANDS = "commands"
    EXAMPLE = "example"
    LANGUAGES = "languages"
    ADDING = "adding"
    MODEL = "model"
    PRIVACY = "privacy"
    ORIGIN = "origin"
    LIBRARY = "library"  # its documents, and topics to ask about
    LAST_QUESTION = "last_question"
    LAST_ANSWER = "last_answer"
    TALK = "talk"  # the messages of people in this thread
    OUT_OF_SCOPE = "out_of_scope"  # a poem, the weather, a translation
    MANIPULATION = "manipulation"  # "ignore your instructions"
    COMPLAINT = "complaint"


_OTHERS = frozenset({Act.ASK, Act.UNCLEAR, Act.PEOPLE})
EVERYDAY = frozenset(Act) - _OTHERS  # answered in a sentence, without documents

# Questions that only the bot can answer.
OF_THE_BOT = EVERYDAY - {
    Act.THANKS,
    Act.ACKNOWLEDGED,
    Act.GREETING,
    Act.BYE,
    Act.GO_AHEAD,
    Act.OUT_OF_SCOPE,
    Act.MANIPULATION,
    Act.COMPLAINT,
}


class Where(StrEnum):
    """The place of a message, as far as it matters for whom it may be meant."""

    THREAD = "thread"  # that the bot's answer opened
    CHANNEL = "channel"
    PEOPLE = "people"  # a thread of people
    PRIVATE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """An earlier message; `text` is empty if it is unknown. `author` is None for the bot's replies."""

    author: str | None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message with the ones before it, oldest first. `is_named`: it mentions the bot, or is private."""

    author: str
    text: str
    where: Where
    is_named: bool
    before: tuple[Utterance, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The probability of each act of a message; together 1."""

    shares: Mapping[Act, float]

    @property
    def act(self) -> Act:
        """The most probable act. Everyday acts, which are many, count together against the others."""
        return self._best(_OTHERS)

    def if_to_us(self) -> Act:
        """Return the most probable act of a message that is certainly meant for the bot."""
        return self._best(_OTHERS - {Act.PEOPLE})

    def _best(self, others: frozenset[Act]) -> Act:
        everyday = sum(self.shares[act] for act in EVERYDAY)
        best = max(others, key=lambda act: self.shares[act])
        return best if self.shares[best] >= everyday else max(EVERYDAY, key=lambda act: self.shares[act])
