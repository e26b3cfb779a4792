"""The kind of answer that a question's wording asks for; for `agent.strategy = "auto"`. Pure. English cues."""

import re

# The first that matches decides.
_CUES: tuple[tuple[str, str], ...] = (
    (
        "comparison",
        r"\bcompar(?:e|es|ed|ing|ison)\b|\bdifferences? between\b|\b(?:versus|vs\.?)\b|\bdiffers? from\b"
        r"|\bpros and cons\b",
    ),
    (
        "timeline",
        r"\btime ?line\b|\bchronolog(?:y|ical|ically)\b|\b(?:in|by) order of (?:date|time)\b"
        r"|\bwhat happened when\b|\bsequence of events\b",
    ),
    (
        "meeting_brief",
        r"\b(?:meeting|agenda) brief(?:ing)?\b|\bbrief(?:ing)? (?:me )?(?:on|for|about) .{0,40}\bmeeting\b",
    ),
    ("stat_block", r"\bstat(?:s|istics)? ?block\b|\bstats (?:of|for)\b"),
    (
        "financial_summary",
        r"\bfinancial (?:summary|overview|results|figures)\b|\bsummar\w+ .{0,30}\b(?:financials?|revenues?|earnings)\b",
    ),
)
_RULES = tuple((name, re.compile(cue, re.IGNORECASE)) for name, cue in _CUES)


def wording_of(question: str) -> str | None:
    """Return the response type that the words ask for, or None."""
    return next((name for name, cue in _RULES if cue.search(question)), None)
