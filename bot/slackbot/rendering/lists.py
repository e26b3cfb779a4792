"""Lists, notices, results of commands and the home tab, within Slack's limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.presentation.action_names import Verb
from bot.presentation.additions import AdditionView
from bot.presentation.answer_buttons import action_name
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
from bot.presentation.platform_text import QUESTION_LENGTH, ThreadPage
from bot.slackbot.events.manifest import ADD_DOCUMENTS
from bot.slackbot.rendering.answers import button_row, footnote, how_actions, page_actions, part_note
from bot.slackbot.rendering.blocks import (
    FLAVOUR,
    TEXT_BUDGET,
    Block,
    Row,
    SlackMessage,
    SlackPost,
    View,
    actions,
    bullets,
    button,
    context,
    fallback,
    link,
    markdown,
    plain,
    plain_of,
    rich_text,
    stack,
    text,
    unmarked,
)
from core.work.commands import SourceRow

_TITLE_LENGTH = 100
_DETAIL_LENGTH = 120
_HEADING_LENGTH = 200
_NAME_LENGTH = 80
# Characters of lists and results in one message; blocks and buttons take the rest.
_ROOM = TEXT_BUDGET - 1_000
_NOTICE_LENGTH = 3_000
_RESULT_LENGTH = 8_000
_LINE_LENGTH = 300
_HOME_NAME_LENGTH = 100
_THREADS = 3  # rows of each list; the others are counted
_SOURCES = 25
_LINES = 15
HOME_QUESTION = action_name(Verb.FORM, "ask")  # of the field and its button: its form opens if the field is empty
_TITLE = "Ask your documents"
_WHO_SEES = "Only you see the answer, under Messages. To ask with others, mention me in a channel."


def threads_message(page: ThreadPage) -> SlackMessage:
    """Return a page of a list, with buttons `fn:page:<list id>:<page>` to the previous and next one.

    Rows that don't fit are counted.
    """
    where = text(f" (page {page.page} of {page.pages})") if page.pages > 1 else None
    head = Row((text(clip(page.heading, _HEADING_LENGTH) or "Conversations", bold=True), where))
    lines = [thread_row(row, f"{number}. ") for number, row in enumerate(page.rows, start=page.first)]
    kept = [line for place, line in enumerate(lines) if sum(one.size for one in lines[: place + 1]) <= _ROOM]
    more = [Row((text(f"… and {len(lines) - len(kept)} more"),))] if len(kept) < len(lines) else []
    ways = page_actions(page.list_id, page.page, page.pages)
    return _listing([head, *(kept or [Row((text(EMPTY),))]), *more], *ways)


def _listing(rows: Sequence[Row], *below: Block) -> SlackMessage:
    block = rich_text(*stack(rows))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block, *below))


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


def addition_message(view: AdditionView, mark: str | None = None) -> SlackMessage:
    """Return the post of an added document; its last block has the mark."""
    blocks = [markdown(view.text), *([button_row(view.buttons)] if view.buttons else [])]
    if mark is not None:
        blocks[-1] = {**blocks[-1], "block_id": mark}
    return SlackMessage(text=fallback(unmarked(view.text)), blocks=tuple(blocks))


def text_post(source: str, addresses: Mapping[int, str | None] | None = None) -> SlackPost:
    """Return a command's result in safe Markdown; each `[n]` of `addresses` is linked."""
    flavour = replace(FLAVOUR, footnote=partial(footnote, addresses)) if addresses else FLAVOUR
    texts = [part.text for part in split_markdown(source, _RESULT_LENGTH, flavour)] or [EMPTY]
    parts = []
    for number, shown in enumerate(texts, start=1):
        notes = [part_note(number, len(texts))] if len(texts) > 1 else []
        words = fallback(unmarked(shown), "\n".join(map(plain_of, notes)))
        parts.append(SlackMessage(text=words, blocks=(markdown(shown), *notes)))
    return SlackPost(parts=tuple(parts))


def said_message(name: str, question: str, *, does: str = "asks") -> SlackMessage:
    """Return “**Ada** asks: question”, a public message about a command or another action (`does`)."""
    cut = question[: safe_cut(question, _ROOM)] if question else ""
    said = text(f" {does}: {cut}" + ("…" if len(cut) < len(question) else ""))
    return _listing([Row((text(clip(name, _NAME_LENGTH) or "Somebody", bold=True), said))])


def references_post(rows: Sequence[ReferenceRow]) -> SlackPost:
    """Return a numbered list, in as many messages as necessary."""
    lines = [Row((text(f"{number}. {reference_line(row)}"),)) for number, row in enumerate(rows, start=1)]
    lines = lines or [Row((text(NO_REFERENCES),))]
    heading = Row((text(ALL_REFERENCES_LABEL, bold=True),))
    first, *others = pack_items(lines, lambda row: row.size, _ROOM - heading.size, _ROOM)
    return SlackPost(parts=(_listing([heading, *first]), *map(_listing, others)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Content of a person's home tab."""

    threads: Sequence[ThreadItem] = ()  # newest first
    more_threads: int = 0  # not in `threads`
    sources: Sequence[SourceRow] = ()
    positions: Sequence[str] = ()  # "Guide: up to page 12"
    examples: Sequence[str] = ()  # questions to try
    inbox: Sequence[str] = ()  # lines of a reviewer's inbox
    notice: str = ""  # shown at the top
    asked: str = ""  # the time of the last question asked here: Slack keeps its text while the field has its id
    answered: str = ""  # the address of its answer


def home_view(shown: Home) -> View:
    """Return the home tab. Its buttons open forms: `fn:form:ask`, `fn:form:add_documents` and the like."""
    notice = [rich_text(*stack([Row((text(clip(shown.notice, _LINE_LENGTH), bold=True),))]))] if shown.notice else []
    forms = (("Add documents", ADD_DOCUMENTS), ("Position", "position"), ("Settings", "settings"))
    buttons = [
        button("Ask", HOME_QUESTION, style="primary"),
        *(button(label, action_name(Verb.FORM, command)) for label, command in forms),
        button("Help", action_name(Verb.HELP, "home")),
    ]
    inbox, examples, positions = (
        [Row((text(clip(it, _LINE_LENGTH)),)) for it in lines]
        for lines in (shown.inbox, shown.examples, shown.positions)
    )
    threads = [thread_row(row) for row in shown.threads]
    answered = rich_text(*stack([Row((text("Answered. "), link("Open it", shown.answered)))]))
    blocks = [
        *notice,
        {"type": "header", "text": plain(_TITLE)},
        _question_field(f"ask{shown.asked}"),
        actions(*buttons),
        answered if shown.answered else context(_WHO_SEES),
        *_listed("Inbox", inbox, _LINES),
        *_listed("Pick up where you left off", threads, _THREADS, more=shown.more_threads),
        *_listed("Questions to try", examples, _LINES),
        *_listed("What I can read for you", [_source(row) for row in shown.sources], _SOURCES),
        *_listed("Reading positions", positions, _LINES),
    ]
    return {"type": "home", "blocks": blocks}


def _question_field(block_id: str) -> Block:
    field = {
        "type": "plain_text_input",
        "action_id": HOME_QUESTION,
        "max_length": QUESTION_LENGTH,
        "placeholder": plain("Your question, then Enter"),
        "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]},
    }
    label = plain("Your question")
    return {"type": "input", "block_id": block_id, "dispatch_action": True, "label": label, "element": field}


def _listed(heading: str, rows: Sequence[Row], most: int, *, more: int = 0) -> list[Block]:
    """Return a heading and a list; nothing for an empty list."""
    if not rows:
        return []
    left_out = max(0, len(rows) - most) + more
    ending = [Row((text(f"… and {left_out} more", italic=True),))] if left_out else []
    return [{"type": "header", "text": plain(heading)}, rich_text(bullets([*rows[:most], *ending]))]


def _source(row: SourceRow) -> Row:
    documents = f"{row.documents:,} {'document' if row.documents == 1 else 'documents'}"
    failed = f", {len(row.failures):,} could not be read" if row.failures else ""
    return Row((text(clip(row.name, _HOME_NAME_LENGTH), bold=True), text(f": {documents}{failed}")))
