"""The policy for posting refusals. The stored decision is always there for `/why`."""

from datetime import datetime, timedelta

from core.domain.limits import OVER_LIMIT, OVER_LIMIT_AGAIN
from core.domain.service import Decision, Receipt
from core.ports import Clock
from core.service.addressing import ACKNOWLEDGED, ANOTHER_BOT, LEFT_TO_PEOPLE, OWN
from core.service.inbox import MAY_NOT_ASK, OTHER_CHANNEL

SEEN = "👍"  # the reaction to a message that only acknowledges an answer
TOLD_FOR = timedelta(hours=1)

# Refusals that are not posted: the message was not meant for the bot, or its author knows of the limit.
_SILENT = LEFT_TO_PEOPLE | {OWN.code, ANOTHER_BOT.code, OVER_LIMIT_AGAIN}
# Refusals that hold until an admin changes something.
_STANDING = frozenset({MAY_NOT_ASK.code, OTHER_CHANNEL.code})
# Refusals that concern only the person.
PRIVATE_REFUSALS = _STANDING | {OVER_LIMIT}


def is_silent(receipt: Receipt) -> bool:
    """Whether a refusal stays unposted. The inbox announces limits once, by whichever message reaches them."""
    is_overheard = receipt.is_unasked and receipt.decision.code != OVER_LIMIT
    return is_overheard or receipt.decision.code in _SILENT


def is_reaction(receipt: Receipt) -> bool:
    """Whether a reaction is the whole reply to a message."""
    return receipt.decision.code == ACKNOWLEDGED.code


class ToldRefusals:
    """The standing refusals of the last hour, by person, as far as this process knows them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[tuple[str, str], datetime] = {}  # by person and code

    def is_news(self, person: str, decision: Decision) -> bool:
        """Return whether to post a refusal, and remember a standing one. The inbox announces limits once itself."""
        if decision.code not in _STANDING:
            return True
        key, now = (person, decision.code), self._clock.now()
        self._until = {told: until for told, until in self._until.items() if until > now}
        is_news = key not in self._until
        self._until.setdefault(key, now + TOLD_FOR)
        return is_news
