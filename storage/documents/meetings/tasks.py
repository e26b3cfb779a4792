"""Tasks that stand in the sentences of meeting notes: who takes something on, or is given it. Pure; rather too few."""

import re
from dataclasses import dataclass

from storage.documents.meetings.people_names import People, is_name

# Characters; a longer sentence is a list or a transcript without full stops.
MAX_SENTENCE = 500

_NAME = r"(?:[^\W\d_a-z]\.\s?){0,2}[^\W\d_][\w'’-]*(?:\s[^\W\d_a-z][\w'’-]*){0,2}"
_MORE = r"[^\W\d_a-z][\w'’-]*(?:\s[^\W\d_a-z][\w'’-]*){0,2}"
_TASK = re.compile(
    rf"(?:^|[;,]\s(?:and\s)?|\bso\s|\bthen\s|\band\s)(?P<who>{_NAME}"
    rf"(?:(?:,\s|\sand\s|\sund\s|\set\s|\sy\s|\s&\s|/){_MORE}){{0,3}})"
    r"(?:\s|,\s|\s?[-=–]+>\s?)"
    r"(?:(?:will|shall|is going to|are going to|agreed to|agrees to|offered to|volunteered to|promised to|undertook to"
    r"|committed to|was asked to|was tasked (?:with|to)|is to|are to|to|needs? to|wird|werden|soll|va|doit|se charge de"
    r"|va a|debe|deve"
    r"|si occuperà di|zal|gaat)\s(?P<verb>(?:be\s)?[^\W\d_]{2,})"
    r"|takes? (?:the|an|this) action\b|took (?:the|an|this) action\b)",
)
# What people "will" without a task.
_NO_VERB = frozenset(
    """be have not also likely probably need want like miss attend join arrive leave become remain never no
    still now
    chair host present meet discuss know see feel agree think too often me him her us them""".split()
)
# What "get" is followed by where nothing is got.
_GETS = re.compile(
    r"\s(?:better|worse|back|used|started|going|home|on|off|in|out|there|together|along|easier|harder|to|more|into|ready)\b"
)
# Verbs of tasks: what somebody has to do whom the notes do not name among those who were there.
_ACTS = (
    r"(?:add|announce|arrange|ask|book|bring|build|buy|call|check|clarify|clean|close|collect|communicate|compile"
    r"|complete|confirm|contact|coordinate|create|develop|distribute|document|draft|email|e-mail|explore|file|finali[sz]e"
    r"|find|fix|follow|gather|implement|inform|investigate|invite|look|make|merge|move|notify|obtain|open|order|organi[sz]e"
    r"|pay|plan|post|prepare|provide|publish|put|reach|release|remove|replace|report|request|research|review|run|schedule"
    r"|send|set|share|sign|speak|start|submit|talk|test|try|update|upload|work|write)"
)
_ACT = re.compile(_ACTS, re.IGNORECASE)
_BODY = (
    r"(?P<body>(?:[Tt]he )?(?:[\w-]+ ){0,2}(?:[Tt]eam|[Bb]oard|[Gg]roup|[Cc]ommittee|[Cc]ouncil|[Pp]anel|[Ss]taff"
    r"|[Ss]ecretar\w+|[Tt]reasurer|[Cc]hair(?:s|man|woman|person)?|[Dd]irectors?|[Cc]lerk|[Oo]fficers?|[Mm]anagers?"
    r"|[Aa]dministrator|[Ee]ditors?|[Oo]ffice))"
)
_BODY_TASK = re.compile(rf"^{_BODY} (?:will|is to|are to|is going to|are going to) {_ACTS}\b")
_DONE_WORDS = (
    r"(?:added|announced|arranged|checked|circulated|clarified|collected|contacted|created|distributed|drafted|fixed"
    r"|forwarded|made|moved|opened|ordered|organi[sz]ed|posted|prepared|published|put|removed|replaced|reviewed|scheduled"
    r"|sent|shared|submitted|updated|uploaded|written)"
)
_PASSIVE = re.compile(rf"^(?:[\w'’./#-]+ ){{1,9}}(?:will|is to|are to|has to|have to|needs to) be {_DONE_WORDS}\b")
_NEXT = re.compile(
    r"(?:^|[,;]\s)(?:the )?next steps? (?:is|are|was|were|will be|would be)(?: to)?\s+\S+\s\S+", re.IGNORECASE
)
_GIVEN = re.compile(
    rf"\b(?:which|with|and|that)\s(?P<who>{_MORE}) (?:(?:is |was |were |has been )?(?:expected|tasked|asked) to"
    r"|(?:was|is|were|has been) tasked with|volunteered to|took (?:it )?on)\s(?P<verb>[^\W\d_]{2,})"
)
_MINE = re.compile(
    r"(?:^|[,;:.]\s|\b(?:and|so|then|okay|ok|yes|sure),?\s)I(?:['’]ll| will| shall|['’]m going to| am going to)\s"
    rf"(?:also |then |try to |go and )?{_ACTS}\b(?!\s(?:about|for a (?:second|minute|moment)|now)\b)",
    re.IGNORECASE,
)
_MAYBE = re.compile(r"\b(?:if|unless|maybe|perhaps|might|would|could)\b", re.IGNORECASE)
_TOLD = re.compile(
    r"\b(?:mention\w*|explain\w*|not(?:ed|ing)|report\w*|said|says|confirm\w*|stat(?:ed|ing)|announc\w*|believes?|thinks?"
    r"|expects?|hopes?|if|whether|once|when|unless|may|might|could|would|should)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Task:
    """`who` is the owner where the sentence's form gives one that its words alone would not; "": as they say."""

    who: str = ""
    is_named: bool = False  # whether it is somebody's by name
    leads: bool = False  # whether the sentence begins with that


def find_task(sentence: str, people: People) -> Task | None:
    """The task that a sentence gives somebody ("Ann will send the report"), or that it leaves open whose it is.

    Names have to be those of people who are known to be there; where nobody is, those that begin a sentence of a task.
    """
    if len(sentence) > MAX_SENTENCE or sentence.rstrip().endswith("?"):
        return None
    taken = _find_taken(sentence, people)
    if taken is not None:
        return Task(taken["who"] if taken.start() else "", is_named=True, leads=not taken.start())
    given = _GIVEN.search(sentence)
    if given and given["verb"].lower() not in _NO_VERB and _are_known(given["who"], people):
        return Task(given["who"], is_named=True)
    body = _BODY_TASK.match(sentence)
    if body:
        return Task(body["body"])
    if _NEXT.search(sentence):
        return Task()
    passive = _PASSIVE.match(sentence)
    return Task() if passive and not _TOLD.search(passive[0]) else None


def takes_on(words: str) -> bool:
    """Whether what somebody says takes something on: "I'll send the report"."""
    if len(words) > MAX_SENTENCE or words.rstrip().endswith("?"):
        return False
    match = _MINE.search(words)
    return match is not None and _MAYBE.search(words[: match.end()]) is None


def _find_taken(sentence: str, people: People) -> re.Match[str] | None:
    for match in _TASK.finditer(sentence):
        verb = (match["verb"] or "").lower().removeprefix("be ")
        going_on = (match["verb"] or "").startswith("be ")
        if (going_on and not verb.endswith("ing")) or verb in _NO_VERB:
            continue
        if verb == "get" and _GETS.match(sentence, match.end()):
            continue
        act = not match["verb"] or _ACT.match(verb) is not None
        if _are_known(match["who"], people) and (bool(people) or act):
            return match
    return None


def _are_known(who: str, people: People) -> bool:
    names = [name for name in re.split(r",\s|\s(?:and|und|et|y|&)\s|/", who) if name]
    return all(people.knows(name) if people else is_name(name) and name[0].isupper() for name in names)
