"""How commands are named on Slack, and which messages are commands. Pure.

Core's sentences say `/stop`; on Slack that is `/footnote stop`, and `@footnote stop` in threads, where Slack offers no
slash commands. And who writes `@footnote stop` means the command, who writes "stop words in the index?" does not.
"""

import re
from collections.abc import Collection, Mapping

from core.commands.threads import WHOSE
from core.export import FORMATS
from core.inbox import to_command

COMMAND = "/footnote"
MENTION = "@footnote"  # as people type it; in what we post it pings nobody

# A slash that begins a word, and a word that ends there: in /slack/install, and/or and /help.html there is no command.
_NAMED = re.compile(r"(?<![^\s`\"'“‘(\[*_|])/([a-z]+)(?![\w/-]|\.\w)")
_QUESTION = re.compile(r"[?？؟]\W*\Z")
_WORD = re.compile(r"([a-z]+)(?:\s+(.+))?\Z", re.DOTALL | re.IGNORECASE)
_ENDING = re.compile(r"(?:[,\s]+please)?[\s.!…]*\Z", re.IGNORECASE)

# With one of these behind it, a command's name is a verb or a noun of a sentence. In lower case alone: titles begin
# with "The". English, as the names are.
_SENTENCE = (
    r"(?:a|about|across|after|again|all|also|an|and|any|are|as|at|be|been|before|between|both|but|by|can|could|did|do|"
    r"does|each|every|everything|for|from|has|have|here|how|i|if|in|into|is|it|its|may|me|mine|must|my|near|of|off|on|"
    r"or|our|out|over|should|so|some|something|than|that|the|their|them|then|there|these|they|this|those|through|"
    r"throughout|to|under|until|up|us|was|we|were|what|when|where|which|who|whose|why|will|with|without|would|you|your)"
)
_NAME = rf"(?!{_SENTENCE}(?:[\s,;:.!]|\Z))\S.*"
_THREAD = r"(?:\d+|[0-9a-fA-F]{8}[0-9a-fA-F-]*)"  # a number of the list, or an id as far as it tells it apart
_FORMAT = rf"(?:{'|'.join(FORMATS)})"
_OPTIONS = r"(?:\s+--[a-z_]+.*)?"
_PLACE = r"(?:\d+|end|the\s+end|off|none|(?:chapter|part|book|session|act|page)\s+\S+)"
# Name of a command -> what stands behind it when it is meant. Those that are not here stand alone.
_ARGUMENTS: Mapping[str, str] = {
    "ask": r".*(?<!\S)--(?:document|journal|private)(?!\w).*",  # without options it is a question as it stands
    "summary": _NAME,
    "search": _NAME,
    "threads": (
        rf"(?:list\s+)?\d+|list|(?:{'|'.join(WHOSE)})(?:\s+\d+)?|"
        rf"(?:open|resume|delete)\s+{_THREAD}|export\s+{_THREAD}(?:\s+{_FORMAT})?|rename\s+{_THREAD}\s+.+"
    ),
    "open": _THREAD,
    "rename": _NAME,
    "export": _FORMAT,
    "page": rf"{_NAME}\s+\d+",
    "source": r"\[?\d+\]?",
    "position": rf"(?:[\"“].+[\"”]\s+\S.*|{_NAME}=\s*\S.*|{_NAME}\s+{_PLACE}){_OPTIONS}",
    "settings": (
        r"(?:auto_answer|answer_posts)(?:\s+(?:on|off))?|sources(?:\s+(?:all|.*,.*|[\"“].+[\"”]|\S+))?|"
        rf"language(?:\s+(?!{_SENTENCE}\b)[\w-]+)?|limit(?:\s+(?:\d+|off|none|default))?"
    ),
}
_FITTING = {name: re.compile(pattern, re.DOTALL) for name, pattern in _ARGUMENTS.items()}


def in_slack_words(text: str, commands: Collection[str], *, in_thread: bool, command: str = COMMAND) -> str:
    """One of core's sentences, with the commands in it as they are given on Slack.

    Only names of the table change. What documents and people say is not for this: a page may be about `/stop`.
    """
    before = MENTION if in_thread else command

    def said(found: re.Match[str]) -> str:
        return f"{before} {found[1]}" if found[1] in commands else found[0]

    return _NAMED.sub(said, text)


def to_command_text(text: str, commands: Collection[str]) -> str | None:
    """What is said to the bot as `/name argument`, where it is a command of the table; None where it is a question.

    - With a slash (`/stop`, `/search what is a day?`) it is a command, whatever follows.
    - What ends in a question mark is a question.
    - A name alone (`stop`, `Help!`, `stop please`) is a command.
    - A name with words behind it is one where these are what it takes: a number for `source`, an id for `open`, a title
      or words that don't go on as a sentence for `search` ("search wild magic", not "search for the key").
    - In doubt it is a question: whoever meant the command sees that it was not taken as one, and writes the slash.
    """
    said = text.strip()
    slashed = to_command(said)
    if slashed is not None:
        return said if slashed.name in commands else None
    found = _WORD.match(_ENDING.sub("", said))
    if found is None or _QUESTION.search(said) or (name := found[1].lower()) not in commands:
        return None
    if found[2] is None:
        return f"/{name}"
    argument = said[found.start(2) :]
    fitting = _FITTING.get(name)
    return f"/{name} {argument}" if fitting is not None and fitting.fullmatch(argument) else None
