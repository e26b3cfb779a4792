"""Words to the bot that ask for nothing: answered in kind, without looking anything up. Pure; English cues."""

import re

_HELLO = re.compile(
    r"^\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)"
    r"(?: (?:there|all|team|footnote|bot))?\W*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:(?:many |ok(?:ay)?,? |great,? )?(?:thanks?(?: you)?|thx|ty|cheers)"
    r"(?: (?:a lot|so much|very much|again|you|all|footnote))*)\W*$",
    re.IGNORECASE,
)
_BYE = re.compile(r"^\W*(?:bye|goodbye|good night|see you(?: later)?)\W*$", re.IGNORECASE)

HELLO = "Hello! Ask me what your documents say, and I quote the passages that answer."
THANKS = "You are welcome."
BYE = "Goodbye."


def reply_to(text: str) -> str | None:
    """What to say to a greeting, thanks or a goodbye that stands alone; None for everything else."""
    rules = ((_HELLO, HELLO), (_THANKS, THANKS), (_BYE, BYE))
    return next((reply for pattern, reply in rules if pattern.match(text)), None)
