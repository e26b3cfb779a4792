"""Views of messages and threads for the chat page: safe HTML and JSON. Pure.

The Markdown has links, images and raw HTML disabled, so that only Footnote's own links (footnotes) can be clicked.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from html import escape
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from bot.presentation.answer_text import ReferenceRow, reference_rows
from core.answering.grounding import UNSUPPORTED_MARK
from core.domain.answer import Answer, AnswerStatus, Citation
from core.domain.conversation import Conversation, Message, Outcome, Role
from core.domain.features import Rating
from core.domain.jobs import Job
from core.knowledge.references.lists import SHOWN
from core.serializers.objects import Json
from core.text.words import collapse, shorten

SourceLink = Callable[[Citation], str]  # address of a footnote

# Characters of a quote in its card; the source viewer shows all of it.
QUOTE_LENGTH = 280
_SWITCHED_OFF = ["link", "autolink", "image", "reference", "html_inline", "html_block"]
_WIDE_TABLE = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>\n'
_MARKER = re.compile(r"\[(\d{1,3})\]|" + re.escape(UNSUPPORTED_MARK))


def answer_html(text: str, citations: Mapping[int, str] | None = None) -> str:
    """Render Markdown; each `[n]` with an address in `citations` becomes a link."""
    html: str = _markdown().render(text, {"links": citations or {}})
    return html


def message_view(
    message: Message,
    link: SourceLink,
    rated: Rating | None = None,
    summaries: Mapping[str, str] | None = None,
    stale: Mapping[str, str] | None = None,
) -> Json:
    """Return the view of a message. People's messages stay text; the bot's become HTML with footnotes.

    `summaries` are by page ID; `stale` holds questions that can be asked again, by answer ID.
    """
    view: Json = {
        "id": message.id,
        "role": message.role.value,
        "author": message.author,
        "at": message.created_at.isoformat(),
    }
    if message.role is Role.USER:
        return {**view, "text": message.content}
    links = {citation.number: link(citation) for citation in message.citations}
    outcome = message.outcome or Outcome()
    about = {} if message.stale else summaries or {}  # the summary of a changed document would be wrong
    return {
        **view,
        "html": answer_html(message.content, links),
        "status": message.status,
        "stale": message.stale,
        "job": message.job_id,
        "rated": rated.value if rated else None,
        "citations": [
            citation_view(citation, links[citation.number], about.get(citation.page_id, ""), stale=message.stale)
            for citation in message.citations
        ],
        "references": references_view(message),
        "suggestions": list(outcome.suggestions),
        "choices": list(outcome.choices),
        "gaps": [gap for gap in outcome.data_gaps if gap not in message.content],
        "note": message.is_note,
        "again": [
            {"message": id, "question": (stale or {})[id]}
            for id in (message.id, *outcome.note_on)
            if id in (stale or {})
        ],
    }


def citation_view(citation: Citation, address: str, summary: str = "", *, stale: bool = False) -> Json:
    """Return a source card; its thumbnail, if any, uses the signed link of the page."""
    is_pdf = citation.document.lower().endswith(".pdf") and not stale
    title, path = citation.document_title or citation.document, list(citation.heading_path)
    return {
        "number": citation.number,
        "title": title,
        "page": citation.page_number,
        "path": path[1:] if path[:1] == [title] else path,
        "quote": shorten(collapse(citation.quote), QUOTE_LENGTH),
        "href": address,
        "summary": summary,
        "thumbnail": f"{address.partition('#')[0]}/{citation.page_number}/thumbnail" if is_pdf else None,
    }


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


def thread_view(conversation: Conversation) -> Json:
    """Return a row of the list of threads."""
    return {
        "thread": conversation.address.thread,
        "channel": conversation.address.channel,
        "title": conversation.title or "(no title)",
        "owner": conversation.owner,
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
        "asked": shorten(job.asked, 80),
    }


def people_in(messages: Sequence[Message], besides: Collection[str] = ()) -> list[str]:
    """Return the authors in order of their first message."""
    names = dict.fromkeys(message.author for message in messages if message.role is Role.USER)
    return [name for name in names if name not in besides]


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(_SWITCHED_OFF)
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("text", _text)
    parser.add_render_rule("fence", _focusable)
    parser.add_render_rule("code_block", _focusable)
    parser.add_render_rule("table_open", lambda *_: _WIDE_TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, environment: EnvType
) -> str:
    links: Mapping[int, str] = environment["links"]
    content, parts, last = tokens[index].content, [], 0
    for match in _MARKER.finditer(content):
        parts += [escape(content[last : match.start()]), _mark(match, links)]
        last = match.end()
    return "".join([*parts, escape(content[last:])])


def _focusable(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, environment: EnvType
) -> str:
    """Render code that scrolls, with the keyboard too."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _mark(match: re.Match[str], links: Mapping[int, str]) -> str:
    if match[1] is None:
        return f'<mark class="unsupported" title="No cited passage supports this">{match[0]}</mark>'
    number = int(match[1])
    if number not in links:
        return match[0]
    address = escape(links[number])
    return (
        f'<a class="footnote" href="{address}" target="_blank" rel="noopener" data-number="{number}" '
        f'aria-label="Footnote {number}">[{number}]</a>'
    )
