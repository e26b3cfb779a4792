"""Commands in text: how they are named on Slack, and which messages are commands. Pure.

Core's sentences say `/stop`; on Slack that is `/footnote stop`, and `@footnote stop` in threads, where Slack offers no
slash commands. `@footnote stop` is a command; "stop words in the index?" is not.
"""

import re
from collections.abc import Collection, Mapping

from core.features.export import FORMATS
from core.service.commands.settings import SETTINGS
from core.service.commands.threads import WHOSE
from core.service.inbox import to_command

COMMAND = "/footnote"
MENTION = "@footnote"  # as people type it; in what we post it pings nobody
FOR_THREADS = frozenset({"mute", "listen", "unmute"})  # can be given in threads alone
# A slash that begins a word, and a word that ends there: in /slack/install, and/or and /help.html there is no command.
_NAMED = re.compile(r"(?<![^\s`\"'“‘(\[*_|])/([a-z]+)(?![\w/-]|\.\w)")
_QUESTION = re.compile(r"[?？؟]\W*\Z")
_BEFORE = " \t\n,:;–—-"  # what is left of "@footnote: stop"
_OURSELVES = re.compile(r"\A[\s`]*[@/]?footnote\b", re.IGNORECASE)  # typed where Slack has no slash commands
_PLEASE = re.compile(r"[,\s]+(?:please|now|thanks)\b[\s.!]*\Z", re.IGNORECASE)
_ENDING_LENGTH = 40  # characters in which it stands
_STOPS = " \t\n.!…"
_FIRST_WORD = re.compile(r"([a-z]+)(?:\s+(.+))?\Z", re.DOTALL | re.IGNORECASE)
# What sentences are made of, and names in lower case are not. English, as the commands are.
_OF_SENTENCES = frozenset(
    """a about across after again all also an and any are as at be been before between both but by can could did do does
    each every everything for from has have here how i if in into is it its may me mine must my near of off on or our
    out over should so some something than that the their them then there these they this those through throughout to
    under until up us was we were what when where which who whose why will with without would you your""".split()
)
# A part of a document, which no document is called.
_PART = re.compile(r"(?:chapter|part|page|section|book|session|ctx)(?:\s+[\divxlc]+)?", re.IGNORECASE)
# What is said behind commands that take nothing, without meaning anything else.
_OBJECTS: Mapping[str, str] = {
    "stop": "it|this|that",
    "new": "conversation|thread|chat",
    "delete": "this (?:conversation|thread|chat)",
    "keep": "(?:this|that|the) answer",
    "mute": "this (?:conversation|thread)",
    "unmute": "this (?:conversation|thread)",
    "listen": "(?:to this thread|here)",
}
_THREAD = r"(?:\d+|[0-9a-fA-F]{8}[0-9a-fA-F-]*)"  # a number of the list, or an id as far as it tells it apart
_FORMAT = rf"(?:{'|'.join(FORMATS)})"
_PLACE = r"(?:\d+|end|the\s+end|off|none|(?:chapter|part|book|session|ctx|page)\s+\S+)"
_SETTING = rf"(?:{'|'.join(SETTINGS)})"
# Name of a command -> what stands behind it when it is meant; a `name` in it has to look like one (`_is_name`). One
# line for each form. Commands that are not here stand alone.
_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "ask": (r".*(?<!\S)--(?:document|journal|private)(?!\w).*",),  # without options it is a question as it stands
    "summary": (r"(?P<name>.+?)(?:\s+--private)?",),
    "search": (r"(?P<name>.+)",),
    "threads": (
        r"(?:list\s+)?\d+|list",
        rf"(?:{'|'.join(WHOSE)})(?:\s+\d+)?",
        rf"(?:open|resume|delete)\s+{_THREAD}",
        rf"export\s+{_THREAD}(?:\s+{_FORMAT})?",
        rf"rename\s+{_THREAD}\s+.+",
    ),
    "open": (_THREAD,),
    "rename": (r"(?P<name>.+)",),
    "export": (_FORMAT,),
    "page": (r"(?P<name>.+)\s+\d+",),
    "source": (r"\[?\d+\]?",),
    "facts": (r".*(?:\w:\S|[<>]=?\s*\d{4}).*",),  # in the form of a query; in plain words it is a question
    "extract": (r"(?P<name>.+?)(?:\s+--(?:type|words)\s+\S.*)?",),
    "position": (
        r"(?:--channel\s+)?[\"“][^\"”]+[\"”]\s+\S.*",
        rf"(?:--channel\s+)?(?P<name>[^=]+?)(?:\s*=\s*|\s+){_PLACE}(?:\s+--channel)?",
    ),
    "settings": (
        _SETTING,
        r"(?:auto_answer|answer_posts)\s+(?:on|off)",
        r"sources\s+(?:all|none|(?P<name>.+))",
        r"language\s+(?:off|(?P<name>\S+))",
        r"limit\s+(?:\d+|off|none|default)",
    ),
}
_FITTING = {name: tuple(re.compile(form, re.DOTALL) for form in forms) for name, forms in _ARGUMENTS.items()}


def format_command_names(text: str, commands: Collection[str], *, in_thread: bool) -> str:
    """One of core's sentences, with the commands in it as they are given on Slack.

    Only names of the table change. What documents and people say is not for this: a page may be about `/stop`.
    """

    def said(found: re.Match[str]) -> str:
        before = MENTION if in_thread or found[1] in FOR_THREADS else COMMAND
        return f"{before} {found[1]}" if found[1] in commands else found[0]

    return _NAMED.sub(said, text)


def to_command_text(text: str, commands: Collection[str]) -> str | None:
    """What is said to the bot as `/name argument`, where it is a command of the table; None where it is a question.

    - With a slash (`/stop`, `/search what is a day?`) it is a command, whatever follows.
    - What ends in a question mark is a question.
    - A name alone (`stop`, `Help!`, `stop it, please`) is a command.
    - A name with words behind it is one where these are what it takes: a number for `source`, an id for `open`, a name
      for `search` and `summary`. In a name that begins in lower case there are no words that sentences are made of:
      "search wild magic" and "summary The Lighthouse", but not "search for the key" or "summary of the lighthouse".
    - In doubt it is a question: whoever meant the command sees that it was not taken as one, and writes the slash.
    """
    said = _OURSELVES.sub("", text).strip(" \t\n`").lstrip(_BEFORE).lstrip("`")
    slashed = to_command(said)
    if slashed is not None:
        return said if slashed.name in commands else None
    found = _FIRST_WORD.match(_without_please(said.rstrip(_STOPS)))
    if found is None or _QUESTION.search(said) or (name := found[1].lower()) not in commands:
        return None
    argument = " ".join((found[2] or "").split())
    if not argument or re.fullmatch(_OBJECTS.get(name, ""), argument, re.IGNORECASE):
        return f"/{name}"
    return f"/{name} {found[2]}" if _fits(name, argument) else None


def _without_please(said: str) -> str:
    """Looked for at the end alone: what people send may be long."""
    place = max(0, len(said) - _ENDING_LENGTH)
    return said[:place] + _PLEASE.sub("", said[place:])


def _fits(command: str, argument: str) -> bool:
    """`argument` has single spaces, which keeps matching quick however long it is."""
    matches = (form.fullmatch(argument) for form in _FITTING.get(command, ()))
    return any(_is_name(found.groupdict().get("name") or "X") for found in matches if found is not None)


def _is_name(text: str) -> bool:
    """Whether it may be a title, a path or words to look for, and not what follows a verb in a sentence."""
    words = text.split()
    if not words or _PART.fullmatch(text):
        return False
    first = words[0]
    if not first[:1].islower() or "." in first.rstrip(".,") or "/" in first:
        return True
    return not _OF_SENTENCES & {word.strip(",;:.!()\"'").lower() for word in words}
