"""What can be the name of a thing that a text defines. Pure."""

import re

MAX_NAME = 60
MAX_NAME_WORDS = 6

_LABELS = frozenset(
    """date time when where location place venue attendees participants present absent apologies agenda notes note
    warning tip tips important caution info example examples question answer q a author authors status version type
    title summary description todo action actions decision decisions owner due deadline next steps result results
    update updates source sources see also link links file files path url method endpoint request response input
    output default required optional returns return parameters params arguments usage goal goals objective purpose
    problem solution context background pros cons advantages disadvantages step hint remember total price moderator
    facilitator chair scribe minutes recording video subject from cc bcc sent reply comments comment reference
    references related reviewers reviewer tags keywords category name email phone address contact created updated
    modified id key value yes no and or but first second third finally prerequisites requirements installation
    audience scope duration conclusion overview introduction features feature new fixed changed added removed
    deprecated security bug fix breaking""".split()
)


def is_name(name: str) -> bool:
    """Whether a text may be the name of a thing: short, with a letter, no sentence and no label of notes."""
    words = name.split()
    if not words or len(name) > MAX_NAME or len(words) > MAX_NAME_WORDS or not re.search(r"[^\W\d_]", name):
        return False
    if re.search(r"[?!;|<>={}\[\]]|[.:,]$|https?:|\.\s", name):
        return False
    if words[0].casefold().removesuffix("s") in _LABELS and words[-1][0].isdigit():
        return False
    return name.casefold().strip(" .") not in _LABELS and words[0].casefold() not in (
        "step",
        "note",
        "see",
        "if",
        "when",
    )
