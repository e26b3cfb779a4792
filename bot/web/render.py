"""Views of messages and threads for the chat page: safe HTML and JSON. Pure.

The Markdown has links, images and raw HTML disabled, so that only Footnote's own links (footnotes) can be clicked.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from html import escape
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from bot.presentation.answer_text import ReferenceRow, reference_rows, step_words
from bot.presentation.sources import place_of, sources_of, title_of
from bot.web.translate import shown_name
from core.answering.answers.sentences import without_quotes_note
from core.answering.answers.suggestions import LONGEST, MAX_SUGGESTIONS
from core.answering.grounding import UNSUPPORTED_MARK
from core.answering.providers.extractive.provider import ExtractiveProvider
from core.domain.answer import Answer, AnswerStatus, Citation
from core.domain.conversation import Conversation, Message, Outcome, Role
from core.domain.features import Rating
from core.domain.jobs import Job
from core.knowledge.references.lists import SHOWN
from core.serializers.objects import Json
from core.text.markup import without_directions

SourceLink = Callable[[Citation, str], str]  # address of a footnote

_SWITCHED_OFF = ["link", "autolink", "image", "reference", "html_inline", "html_block"]
_WIDE_TABLE = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>\n'
_MARKERS_AND_STOP = re.compile(r"(?<![ \t])(?<!\d\])((?:[ \t]*+\[\d{1,3}\])++)([.!?]++)(?=\s|$)")
_MARKER = re.compile(r"(?<![ \t])[ \t]*+\[(\d{1,3})\]|" + re.escape(UNSUPPORTED_MARK))


def shown_json(value: object) -> str:
    """Return a value as JSON for the pages' scripts, which show its texts: without marks of the writing direction."""
    return without_directions(json.dumps(value, ensure_ascii=False))


def shown(value: object) -> object:
    """Return a template's value as it is shown: text without marks of the writing direction."""
    if not isinstance(value, str) or value.isascii():
        return value
    return type(value)(without_directions(value))


def answer_html(text: str, citations: Mapping[int, str] | None = None, names: Mapping[int, str] | None = None) -> str:
    """Render Markdown; each `[n]` with an address in `citations` becomes a link; `names` are read out."""
    html: str = _markdown().render(text, {"links": citations or {}, "names": names or {}})
    return html


def message_view(
    message: Message,
    link: SourceLink,
    rated: Rating | None = None,
    stale: Mapping[str, str] | None = None,
    me: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> Json:
    """Return the view of a message. People's messages stay text; the bot's become HTML with footnotes.

    `stale` holds questions that can be asked again, by answer ID; `me` are the reader's own names, and `names` the
    present ones of people who signed in.
    """
    view: Json = {
        "id": message.id,
        "role": message.role.value,
        "author": shown_name(message.author, names),
        "at": message.created_at.isoformat(),
    }
    if message.role is Role.USER:
        return {**view, "text": message.content, "mine": message.author in me}
    links = {citation.number: link(citation, message.id) for citation in message.citations}
    spoken = {citation.number: _spoken(citation) for citation in message.citations}
    outcome = message.outcome or Outcome()
    return {
        **view,
        "html": answer_html(without_quotes_note(message.content), links, spoken),
        "status": message.status,
        "stale": message.stale,
        "job": message.job_id,
        "rated": rated.value if rated else None,
        "quoted": is_quoted(message),
        "sources": sources_view(message.citations, links),
        "references": references_view(message),
        "suggestions": [text for text in outcome.suggestions if len(text) <= LONGEST][:MAX_SUGGESTIONS],
        "choices": list(outcome.choices),
        "gaps": [gap for gap in outcome.data_gaps if gap not in message.content],
        "note": message.is_note,
        "again": [
            {"message": id, "question": (stale or {})[id]}
            for id in (message.id, *outcome.note_on)
            if id in (stale or {})
        ],
    }


def is_quoted(message: Message) -> bool:
    """Return whether an answer is made of quotes, because there was no language model."""
    return bool(message.citations and message.outcome and message.outcome.model == ExtractiveProvider.name)


def sources_view(citations: Sequence[Citation], links: Mapping[int, str]) -> list[Json]:
    """Return a row for each cited document, in the order of its first use, with its footnotes and its place."""
    return [
        {
            "title": source.title,
            "place": source.place,
            "notes": [
                {"number": item.number, "href": links[item.number], "name": _spoken(item), "place": place_of(item)}
                for item in source.notes
            ],
        }
        for source in sources_of(citations)
    ]


def _spoken(citation: Citation) -> str:
    place = place_of(citation).replace("p. ", "page ", 1)
    return ", ".join(part for part in (f"Footnote {citation.number}", title_of(citation), place) if part)


def references_view(message: Message) -> Json:
    """Return named and unused references; `shown` of them at once, named ones first."""
    rows = [
        row
        for row in reference_rows(
            Answer(status=AnswerStatus.ANSWERED, text="", citations=message.citations, references=message.references)
        )
        if row.is_named or not row.is_cited
    ]
    return {
        "named": [_row_view(row) for row in rows if row.is_named],
        "seen": [_row_view(row) for row in rows if not row.is_named],
        "shown": SHOWN,
    }


def _row_view(row: ReferenceRow) -> Json:
    href = f"/library/documents/{quote(row.document_id, safe='')}" if row.document_id else None
    return {"label": row.label, "detail": row.detail, "summary": row.summary, "href": href}


def thread_view(conversation: Conversation, me: Collection[str] = (), names: Mapping[str, str] | None = None) -> Json:
    """Return a row of the list of threads; `me` are the reader's own names, `names` the present ones of people."""
    return {
        "thread": conversation.address.thread,
        "channel": conversation.address.channel,
        "title": conversation.title or "(no title)",
        "owner": shown_name(conversation.owner, names),
        "mine": conversation.owner in me,
        "messages": conversation.message_count,
        "at": conversation.last_message_at.isoformat(),
    }


def step_view(job: Job) -> Json:
    """Describe a step of a running answer."""
    return {
        "id": job.id,
        "parent": job.parent_id,
        "name": job.name,
        "kind": job.kind.value,
        "status": job.status.value,
        "words": step_words(job),
    }


def people_in(messages: Sequence[Message], besides: Collection[str] = ()) -> list[str]:
    """Return the authors in order of their first message."""
    names = dict.fromkeys(message.author for message in messages if message.role is Role.USER)
    return [name for name in names if name not in besides]


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable([*_SWITCHED_OFF, "text_join"])
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("text", _text)
    parser.add_render_rule("text_special", _text)  # escaped by a backslash, apart from the text: no footnote
    parser.add_render_rule("fence", _focusable)
    parser.add_render_rule("code_block", _focusable)
    parser.add_render_rule("table_open", lambda *_: _WIDE_TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, environment: EnvType
) -> str:
    links: Mapping[int, str] = environment["links"]
    content, parts, last = _MARKERS_AND_STOP.sub(partial(_behind_stop, links), tokens[index].content), [], 0
    for match in _MARKER.finditer(content):
        parts += [escape(content[last : match.start()]), _mark(match, links, environment["names"])]
        last = match.end()
    return "".join([*parts, escape(content[last:])])


def _behind_stop(links: Mapping[int, str], match: re.Match[str]) -> str:
    """Move footnotes behind the sentence that they prove."""
    is_ours = all(int(number) in links for number in re.findall(r"\d+", match[1]))
    return f"{match[2]}{match[1]}" if is_ours else match[0]


def _focusable(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, environment: EnvType
) -> str:
    """Render code that scrolls, with the keyboard too."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _mark(match: re.Match[str], links: Mapping[int, str], names: Mapping[int, str]) -> str:
    """Return a footnote's number as a link, without the space before it: it never begins a line."""
    if match[1] is None:
        return f'<mark class="unsupported" title="No cited passage supports this">{match[0]}</mark>'
    number = int(match[1])
    if number not in links:
        return match[0]
    address, name = escape(links[number]), escape(names.get(number, f"Footnote {number}"))
    return f'<a class="footnote" href="{address}" data-number="{number}" aria-label="{name}">{number}</a>'
