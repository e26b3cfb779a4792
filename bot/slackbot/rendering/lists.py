"""Lists, notices, results of commands and the home tab, within Slack's limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_text import (
    ALL_REFERENCES_LABEL,
    EMPTY,
    NO_REFERENCES,
    TRUNCATED,
    ReferenceRow,
    ThreadItem,
    pack_items,
    reference_line,
)
from bot.presentation.markdown import clip, safe_cut, split_markdown
from bot.slackbot.rendering.answers import footnote, how_actions, page_actions, part_note
from bot.slackbot.rendering.blocks import (
    FLAVOUR,
    TEXT_BUDGET,
    Block,
    Element,
    Row,
    SlackMessage,
    SlackPost,
    View,
    actions,
    bullets,
    button,
    fallback,
    header,
    home,
    link,
    markdown,
    plain_of,
    rich_text,
    stack,
    text,
    unmarked,
)

_TITLE_LENGTH = 100
_DETAIL_LENGTH = 120
_HEADING_LENGTH = 200
_NAME_LENGTH = 80
# Characters of lists and results in one message; blocks and buttons take the rest.
_ROOM = TEXT_BUDGET - 1_000
_NOTICE_LENGTH = 3_000
_RESULT_LENGTH = 8_000
_REFERENCES_ROOM = TEXT_BUDGET - 1_000
_LINE_LENGTH = 300
_HOME_NAME_LENGTH = 100
_THREADS = 15  # rows of each list; the others are counted
_SOURCES = 25
_LINES = 15


def threads_message(
    rows: Sequence[ThreadItem], *, list_id: str, page: int, pages: int, heading: str, first: int = 1
) -> SlackMessage:
    """Return a page of a list, with buttons `fn:page:<list id>:<page>` to the previous and next one.

    Rows are numbered from `first`; rows that don't fit are counted.
    """
    where = text(f" (page {page} of {pages})") if pages > 1 else None
    head = Row((text(clip(heading, _HEADING_LENGTH) or "Conversations", bold=True), where))
    lines = [thread_row(row, f"{number}. ") for number, row in enumerate(rows, start=first)]
    kept = [line for place, line in enumerate(lines) if sum(one.size for one in lines[: place + 1]) <= _ROOM]
    more = [Row((text(f"… and {len(lines) - len(kept)} more"),))] if len(kept) < len(lines) else []
    block = rich_text(*stack([head, *(kept or [Row((text(EMPTY),))]), *more]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block, *page_actions(list_id, page, pages)))


def thread_row(row: ThreadItem, before: str = "") -> Row:
    """Return `1. Title (12 messages)` with a linked title."""
    detail = clip(row.detail, _DETAIL_LENGTH)
    title = link(clip(row.title, _TITLE_LENGTH) or "(no title)", row.url)
    return Row((text(before), title, text(f" ({detail})") if detail else None))


def notice_message(sentence: str, *, post_id: str | None = None) -> SlackMessage:
    """Return an error or a refusal; with a post id, marked as that post's first part."""
    parts = split_markdown(sentence, _NOTICE_LENGTH, FLAVOUR)
    shown = parts[0].text if parts else EMPTY
    blocks: list[Block] = [markdown(shown)]
    if len(parts) > 1:
        blocks.append(rich_text(*stack([Row((text(TRUNCATED, italic=True),))])))
    if post_id is not None:
        blocks.append(how_actions(post_id))
    return SlackMessage(text=fallback(unmarked(shown), TRUNCATED if len(parts) > 1 else ""), blocks=tuple(blocks))


def text_post(source: str, addresses: Mapping[int, str | None] | None = None) -> SlackPost:
    """Return a command's result in safe Markdown; each `[n]` of `addresses` is linked."""
    flavour = replace(FLAVOUR, footnote=partial(footnote, addresses)) if addresses else FLAVOUR
    texts = [part.text for part in split_markdown(source, _RESULT_LENGTH, flavour)] or [EMPTY]
    return SlackPost(parts=tuple(_result(shown, number, len(texts)) for number, shown in enumerate(texts, start=1)))


def said_message(name: str, question: str, *, does: str = "asks") -> SlackMessage:
    """Return “**Ada** asks: question”, a public message about a command or another action (`does`)."""
    cut = question[: safe_cut(question, _ROOM)] if question else ""
    said = text(f" {does}: {cut}" + ("…" if len(cut) < len(question) else ""))
    block = rich_text(*stack([Row((text(clip(name, _NAME_LENGTH) or "Somebody", bold=True), said))]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block,))


def _result(shown: str, number: int, count: int) -> SlackMessage:
    notes = [part_note(number, count)] if count > 1 else []
    return SlackMessage(
        text=fallback(unmarked(shown), "\n".join(map(plain_of, notes))), blocks=(markdown(shown), *notes)
    )


def references_post(rows: Sequence[ReferenceRow]) -> SlackPost:
    """Return a numbered list, in as many messages as necessary."""
    lines = [Row((text(f"{number}. {reference_line(row)}"),)) for number, row in enumerate(rows, start=1)]
    lines = lines or [Row((text(NO_REFERENCES),))]
    rooms = pack_items(lines, lambda row: row.size, _REFERENCES_ROOM - len(ALL_REFERENCES_LABEL), _REFERENCES_ROOM)
    return SlackPost(parts=tuple(_message(room, is_first=place == 0) for place, room in enumerate(rooms)))


def _message(rows: Sequence[Row], *, is_first: bool) -> SlackMessage:
    head = [Row((text(ALL_REFERENCES_LABEL, bold=True),))] if is_first else []
    block = rich_text(*stack([*head, *rows]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source that the person can read."""

    name: str
    documents: int  # searchable
    failed: int = 0  # unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Content of a person's home tab."""

    threads: Sequence[ThreadItem] = ()  # newest first
    more_threads: int = 0  # not in `threads`
    sources: Sequence[SourceRow] = ()
    settings: Sequence[tuple[str, str]] = ()  # name and value
    positions: Sequence[str] = ()  # "Guide: up to page 12"
    examples: Sequence[str] = ()  # questions to try
    notice: str = ""  # shown at the top


def home_view(shown: Home) -> View:
    """Return the home tab. Its buttons open forms: `fn:form:ask`, `fn:form:position`, `fn:form:settings`."""
    notice = [rich_text(*stack([Row((text(clip(shown.notice, _LINE_LENGTH), bold=True),))]))] if shown.notice else []
    return home(
        [
            *notice,
            rich_text(*stack(_welcome())),
            actions(_form("Ask", "ask", "primary"), _form("Position", "position"), _form("Settings", "settings")),
            *_listed("Questions to try", _lines(shown.examples), _LINES),
            *_listed("Recent threads", [thread_row(row) for row in shown.threads], _THREADS, more=shown.more_threads),
            *_listed("Sources", [_source(row) for row in shown.sources], _SOURCES),
            *_listed("Reading positions", _lines(shown.positions), _LINES),
            *_listed("Settings", [_setting(name, value) for name, value in shown.settings], _LINES),
        ]
    )


def _welcome() -> list[Row]:
    ways = (
        text("Mention me in a channel, write to me here, or use "),
        text("/footnote ask", bold=True),
        text("; "),
        text("/footnote help", bold=True),
        text(" lists the rest."),
    )
    return [
        Row((text("I answer questions from your documents, with numbered footnotes that are checked word by word."),)),
        Row(ways),
    ]


def _listed(heading: str, rows: Sequence[Row], most: int, *, more: int = 0) -> list[Block]:
    """Return a heading and a list; nothing for an empty list."""
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
    return Row((text(clip(row.name, _HOME_NAME_LENGTH), bold=True), text(f": {documents}{failed}")))


def _setting(name: str, value: str) -> Row:
    return Row((text(f"{clip(name, _HOME_NAME_LENGTH)}: "), text(clip(value, _LINE_LENGTH), bold=True)))


def _form(label: str, command: str, style: str | None = None) -> Element:
    return button(label, to_action_name(ActionName(verb=Verb.FORM, id=command)), style=style)
