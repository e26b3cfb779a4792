"""Commands in text: how they are named on Slack, and which messages are commands. Pure.

Core's sentences say `/stop`; on Slack that is `/footnote stop`, and `@footnote stop` in threads, where Slack offers no
slash commands. `@footnote stop` is a command; "stop words in the index?" is not.
"""

import re
from collections.abc import Collection, Mapping

from core.features.export import FORMATS
from core.service.commands.help import ALL, TOPICS
from core.service.commands.settings import SETTINGS
from core.service.commands.threads import WHOSE
from core.work.questions import to_command

COMMAND = "/footnote"
MENTION = "@footnote"  # as people type it; in a post of the bot it pings no one
FOR_THREADS = frozenset({"mute", "listen", "unmute"})  # only available in threads
# A whole word with a slash: no command in /slack/install, and/or and /help.html.
_NAMED = re.compile(r"(?<![^\s`\"'“‘(\[*_|])/([a-z]+)(?![\w/-]|\.\w)")
_QUESTION = re.compile(r"[?？؟][^\w?？؟]*+\Z")
_BEFORE = " \t\n,:;–—-"  # after the name is removed from "@footnote: stop"
_OURSELVES = re.compile(
    r"\A[\s`]*[@/]?footnote\b", re.IGNORECASE
)  # typed in threads, where Slack has no slash commands
_PLEASE = re.compile(r"(?<![,\s])[,\s]++(?:please|now|thanks)\b[\s.!]*+\Z", re.IGNORECASE)
_ENDING_LENGTH = 40  # characters searched for it
_STOPS = " \t\n.!…"
_FIRST_WORD = re.compile(r"([a-z]+)(?:\s+(.+))?\Z", re.DOTALL | re.IGNORECASE)
# Function words, which sentences have and names in lower case don't. English, as the commands are.
_OF_SENTENCES = frozenset(
    """a about across after again all also an and any are as at be been before between both but by can could did do does
    each every everything for from has have here how i if in into is it its may me mine must my near of off on or our
    out over should so some something than that the their them then there these they this those through throughout to
    under until up us was we were what when where which who whose why will with without would you your""".split()
)
# A part of a document, which is no title.
_PART = re.compile(r"(?:chapter|part|page|section|book|session|act)(?:\s+[\divxlc]+)?", re.IGNORECASE)
# Objects after commands that take no argument.
_OBJECTS: Mapping[str, str] = {
    "stop": "it|this|that",
    "new": "conversation|thread|chat",
    "delete": "this (?:conversation|thread|chat)",
    "keep": "(?:this|that|the) answer",
    "mute": "this (?:conversation|thread)",
    "unmute": "this (?:conversation|thread)",
    "listen": "(?:to this thread|here)",
}
_THREAD = r"(?:\d+|[0-9a-fA-F]{8}[0-9a-fA-F-]*)"  # a number of the list, or a distinct prefix of an id
_FORMAT = rf"(?:{'|'.join(FORMATS)})"
_PLACE = r"(?:\d+|end|the end|off|none|(?:chapter|part|book|session|act|page) \S+)"
_SETTING = rf"(?:{'|'.join(SETTINGS)})"
# Name of a command -> forms of its argument, which has single spaces. A `name` in a form has to look like one
# (`_is_name`). One line per form. Other commands take no argument.
_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "ask": (r".*(?<!\S)--(?:document|journal|private)(?!\w).*",),  # without options it is a question
    "summary": (r"(?P<name>.+?)(?: --private)?",),
    "search": (r"(?P<name>.+)",),
    "threads": (
        r"(?:list )?\d+|list",
        rf"(?:{'|'.join(WHOSE)})(?: \d+)?",
        rf"(?:open|resume|delete) {_THREAD}",
        rf"export {_THREAD}(?: {_FORMAT})?",
        rf"rename {_THREAD} .+",
    ),
    "open": (_THREAD,),
    "rename": (r"(?P<name>.+)",),
    "export": (_FORMAT,),
    "page": (r"(?P<name>.+) \d+",),
    "source": (r"\[?\d+\]?",),
    "facts": (r".*(?:\w:\S|[<>]=? ?\d{4}).*",),  # a query; plain words are a question
    "extract": (r"(?P<name>.+?)(?: --(?:type|words) \S.*)?",),
    "keep": (r"back(?: [0-9a-f]{6})?",),
    "inbox": (r"(?:accept|decline|undo|ask) [0-9a-f]{6}",),
    "library": (r"list|add", r"add https?://\S+.*", r"remove (?P<name>.+)"),
    "help": ("|".join((*TOPICS, ALL)),),
    "position": (
        r"(?:--channel )?[\"“][^\"”]+[\"”] \S.*",
        rf"(?:--channel )?(?P<name>[^=]+?)(?: ?= ?| ){_PLACE}(?: --channel)?",
    ),
    "settings": (
        _SETTING,
        r"(?:auto_answer|answer_posts) (?:on|off)|auto_answer (?:shadow|live)",
        r"sources (?:all|none|(?P<name>.+))",
        r"language (?:off|(?P<name>\S+))",
        r"limit (?:\d+|off|none|default)",
    ),
}
_FITTING = {name: tuple(re.compile(form, re.DOTALL) for form in forms) for name, forms in _ARGUMENTS.items()}


def format_command_names(text: str, commands: Collection[str], *, in_thread: bool) -> str:
    """Return a sentence of core with the commands of the table named as on Slack.

    Don't pass quoted text: a page may be about `/stop`.
    """

    def said(found: re.Match[str]) -> str:
        before = MENTION if in_thread or found[1] in FOR_THREADS else COMMAND
        return f"{before} {found[1]}" if found[1] in commands else found[0]

    return _NAMED.sub(said, text)


def to_command_text(text: str, commands: Collection[str]) -> str | None:
    """Return text addressed to the bot as `/name argument` if it is a command of the table, None if it is a question.

    - With a slash (`/stop`, `/search what is a day?`) it is always a command.
    - With a final question mark it is a question.
    - A single name (`stop`, `Help!`, `stop it, please`) is a command.
    - A name with an argument is a command if the argument has its form: a number for `source`, an id for `open`, a name
      for `search` and `summary`. A name in lower case has no function words: "search wild magic" and "summary The
      Lighthouse", but not "search for the key" or "summary of the lighthouse".
    - In doubt it is a question: people notice, and type the slash.
    """
    said = _OURSELVES.sub("", text).strip(" \t\n`").lstrip(_BEFORE).lstrip("`")
    slashed = to_command(said)
    if slashed is not None:
        return said if slashed.name in commands else None
    words = said.rstrip(_STOPS)
    end = max(0, len(words) - _ENDING_LENGTH)  # the text may be long
    found = _FIRST_WORD.match(words[:end] + _PLEASE.sub("", words[end:]))
    if found is None or _QUESTION.search(said) or (name := found[1].lower()) not in commands:
        return None
    argument = " ".join((found[2] or "").split())
    if not argument or re.fullmatch(_OBJECTS.get(name, ""), argument, re.IGNORECASE):
        return f"/{name}"
    # its single spaces keep the matching fast
    matches = (form.fullmatch(argument) for form in _FITTING.get(name, ()))
    fits = any(_is_name(match.groupdict().get("name") or "X") for match in matches if match is not None)
    return f"/{name} {found[2]}" if fits else None


def _is_name(text: str) -> bool:
    """Return whether text may be a title, a path or search words, and not the rest of a sentence."""
    words = text.split()
    if not words or _PART.fullmatch(text):
        return False
    first = words[0]
    if not first[:1].islower() or "." in first.rstrip(".,") or "/" in first:
        return True
    return not _OF_SENTENCES & {word.strip(",;:.!()\"'").lower() for word in words}
