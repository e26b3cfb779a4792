"""The home tab: what the bot can do, recent threads, sources, and how things are set. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.slackbot.layout import View
from bot.slackbot.render_lists import ThreadRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source that this person can read from."""

    name: str
    documents: int  # that can be searched
    failed: int = 0  # that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What stands on one person's home tab."""

    threads: Sequence[ThreadRow] = ()  # newest first
    more_threads: int = 0  # not among `threads`
    sources: Sequence[SourceRow] = ()
    settings: Sequence[tuple[str, str]] = ()  # name and value, as sentences have them
    positions: Sequence[str] = ()  # "Guide: up to page 12", a line each
    examples: Sequence[str] = ()  # questions to try
    command: str = "/footnote"
    notice: str = ""  # said above everything: "Nothing has been read in yet."


def home_view(home: Home) -> View:
    """Its buttons open forms: `fn:form:ask`, `fn:form:position`, `fn:form:settings`."""
    raise NotImplementedError
