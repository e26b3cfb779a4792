"""The home tab: what the bot can do, recent threads, sources, and how things are set. Pure.

Names: `Home`, `SourceRow`, `home_view`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_text import ThreadItem
from bot.presentation.rendering import clip
from bot.slackbot.blocks import Element, Row, actions, bullets, button, header, home, rich_text, stack, text
from bot.slackbot.layout import Block, View
from bot.slackbot.render_lists import thread_row

_LINE_LENGTH = 300
_NAME_LENGTH = 100
_THREADS = 15  # rows of each list; the others are counted
_SOURCES = 25
_LINES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source that this person can read from."""

    name: str
    documents: int  # that can be searched
    failed: int = 0  # that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What stands on one person's home tab."""

    threads: Sequence[ThreadItem] = ()  # newest first
    more_threads: int = 0  # not among `threads`
    sources: Sequence[SourceRow] = ()
    settings: Sequence[tuple[str, str]] = ()  # name and value, as sentences have them
    positions: Sequence[str] = ()  # "Guide: up to page 12", a line each
    examples: Sequence[str] = ()  # questions to try
    command: str = "/footnote"
    notice: str = ""  # said above everything: "Nothing has been read in yet."


def home_view(shown: Home) -> View:
    """Its buttons open forms: `fn:form:ask`, `fn:form:position`, `fn:form:settings`."""
    notice = [rich_text(*stack([Row((text(clip(shown.notice, _LINE_LENGTH), bold=True),))]))] if shown.notice else []
    return home(
        [
            *notice,
            rich_text(*stack(_welcome(shown))),
            actions(_form("Ask", "ask", "primary"), _form("Position", "position"), _form("Settings", "settings")),
            *_listed("Questions to try", _lines(shown.examples), _LINES),
            *_listed("Recent threads", [thread_row(row) for row in shown.threads], _THREADS, more=shown.more_threads),
            *_listed("Sources", [_source(row) for row in shown.sources], _SOURCES),
            *_listed("Reading positions", _lines(shown.positions), _LINES),
            *_listed("Settings", [_setting(name, value) for name, value in shown.settings], _LINES),
        ]
    )


def _welcome(shown: Home) -> list[Row]:
    command = clip(shown.command, _NAME_LENGTH)
    return [
        Row((text("I answer questions from your documents, with numbered footnotes that are checked word by word."),)),
        Row(
            (
                text("Mention me in a channel, write to me here, or use "),
                text(f"{command} ask", bold=True),
                text("; "),
                text(f"{command} help", bold=True),
                text(" lists the rest."),
            )
        ),
    ]


def _listed(heading: str, rows: Sequence[Row], most: int, *, more: int = 0) -> list[Block]:
    """A heading and a list; nothing where there is nothing to list."""
    if not rows:
        return []
    left_out = max(0, len(rows) - most) + more
    ending = [Row((text(f"… and {left_out} more", italic=True),))] if left_out else []
    return [header(heading), rich_text(bullets([*rows[:most], *ending]))]


def _lines(lines: Iterable[str]) -> list[Row]:
    return [Row((text(clip(line, _LINE_LENGTH)),)) for line in lines]


def _source(row: SourceRow) -> Row:
    documents = f"{row.documents:,} {'document' if row.documents == 1 else 'documents'}"
    failed = f", {row.failed:,} could not be read" if row.failed else ""
    return Row((text(clip(row.name, _NAME_LENGTH), bold=True), text(f": {documents}{failed}")))


def _setting(name: str, value: str) -> Row:
    return Row((text(f"{clip(name, _NAME_LENGTH)}: "), text(clip(value, _LINE_LENGTH), bold=True)))


def _form(label: str, command: str, style: str | None = None) -> Element:
    return button(label, to_action_name(ActionName(verb=Verb.FORM, id=command)), style=style)
