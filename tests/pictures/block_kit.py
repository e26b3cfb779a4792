"""Block Kit as HTML, near enough to what Slack's clients draw to look at a post as its readers would.

In these pictures nobody is mentioned but the bot.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt

from tests.slack_server import Message, View

JSON = Mapping[str, Any]

STYLE = """
body { margin: 0; font: 15px/1.47 "Noto Sans", "DejaVu Sans", sans-serif; color: #1d1c1d; background: #fff; }
main { width: 760px; padding: 8px 20px 20px; }
h1 { font-size: 18px; margin: 8px 0 12px; border-bottom: 1px solid #ddd; padding-bottom: 8px; }
article { display: flex; gap: 10px; padding: 6px 0; }
.face { flex: 0 0 36px; height: 36px; border-radius: 4px; color: #fff; display: grid; place-items: center; }
.body { flex: 1; min-width: 0; }
.name { font-weight: 700; }
.app { font-size: 10px; background: #e8e8e8; border-radius: 2px; padding: 1px 3px; color: #616061; }
.only, .status, .context { font-size: 12px; color: #616061; }
a { color: #1264a3; text-decoration: none; }
p { margin: 2px 0 6px; } ul, ol { margin: 2px 0 6px; padding-left: 26px; }
blockquote, .quote { border-left: 4px solid #ddd; margin: 4px 0; padding: 0 0 0 12px; white-space: pre-wrap; }
.rich { white-space: pre-wrap; margin: 4px 0; }
.row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
.button { border: 1px solid #bbb; border-radius: 4px; padding: 2px 12px; font-weight: 700; font-size: 13px; }
.primary { background: #007a5a; color: #fff; border-color: #007a5a; }
.danger { background: #e01e5a; color: #fff; border-color: #e01e5a; }
.plan { border: 1px solid #ddd; border-radius: 8px; padding: 8px 12px; margin: 6px 0; } .plan b { display: block; }
code, pre { background: #f6f6f6; border: 1px solid #ddd; border-radius: 3px; font-size: 12px; padding: 1px 3px; }
table { border-collapse: collapse; } td, th { border: 1px solid #ddd; padding: 3px 8px; }
hr { border: 0; border-top: 1px solid #ddd; }
.input { border: 1px solid #bbb; border-radius: 4px; padding: 6px 10px; color: #616061; }
.modal { border: 1px solid #ccc; border-radius: 8px; padding: 4px 20px 16px; box-shadow: 0 4px 16px #0003; }
"""
_SIGNS = {"pending": "○", "in_progress": "◐", "complete": "✓", "error": "✗"}
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")


def to_page(title: str, messages: Sequence[Message], status: str | None = None) -> str:
    """A thread, as somebody sees it who may see all of these messages."""
    shown = "".join(_message(message) for message in messages)
    line = f'<p class="status">Footnote {html.escape(status)}</p>' if status else ""
    return _page(f"<h1>{html.escape(title)}</h1>{shown}{line}")


def to_modal(view: View) -> str:
    payload = view.payload
    heading = f"<h1>{html.escape(payload['title']['text'])}</h1>" if payload.get("title") else ""
    return _page(f'<div class="modal">{heading}{_blocks(payload["blocks"])}</div>')


def _page(body: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style><main>{body}</main>'


def _message(message: Message) -> str:
    name = message.channel.team.users[message.user].name.title()
    colour = "#4a154b" if message.bot_id else "#2b7a6b"
    badge = ' <span class="app">APP</span>' if message.bot_id else ""
    only = '<div class="only">Only visible to you</div>' if message.only_to else ""
    plan = _plan(message) if message.stream is not None and not message.stream.ended else ""
    text = _markdown.render(message.text) if plan or not message.blocks else ""
    blocks = _blocks(message.blocks)
    return (
        f'<article><div class="face" style="background:{colour}">{name[:1]}</div><div class="body">{only}'
        f'<span class="name">{html.escape(name)}</span>{badge}{plan}{text}{blocks}</div></article>'
    )


def _plan(message: Message) -> str:
    assert message.stream is not None
    tasks = "".join(f"<div>{_SIGNS[one['status']]} {html.escape(one['title'])}</div>" for one in message.stream.tasks)
    return f'<div class="plan"><b>{html.escape(message.stream.title or "")}</b>{tasks}</div>'


def _blocks(blocks: Sequence[JSON]) -> str:
    return "".join(_block(block) for block in blocks)


def _block(block: JSON) -> str:
    match block["type"]:
        case "markdown":
            return str(_markdown.render(block["text"]))
        case "rich_text":
            return "".join(_rich(element) for element in block["elements"])
        case "actions" | "context_actions":
            return f'<div class="row">{"".join(_control(element) for element in block["elements"])}</div>'
        case "context":
            return f'<div class="context">{" ".join(_mrkdwn(one.get("text", "")) for one in block["elements"])}</div>'
        case "header":
            return f"<h1>{html.escape(block['text']['text'])}</h1>"
        case "divider":
            return "<hr>"
        case "input":
            return f'<p><b>{html.escape(block["label"]["text"])}</b></p><div class="input">&nbsp;</div>'
        case "section":
            return f"<p>{html.escape(block['text']['text'])}</p>"
        case other:
            return f"<p>[{html.escape(other)}]</p>"


def _mrkdwn(text: str) -> str:
    """Slack's own markup, as far as the bot uses it outside Markdown blocks: its text is escaped already."""
    return re.sub(r"<([^|<>]*)\|([^<>]*)>", r'<a href="\1">\2</a>', text)


def _rich(element: JSON) -> str:
    kind = element["type"]
    if kind == "rich_text_list":
        tag = "ol" if element.get("style") == "ordered" else "ul"
        items = "".join(f"<li>{_inline(item)}</li>" for item in element["elements"])
        return f'<{tag} style="margin-left:{20 * int(element.get("indent") or 0)}px">{items}</{tag}>'
    name = {"rich_text_quote": "quote", "rich_text_preformatted": "rich"}.get(kind, "rich")
    return f'<div class="{name}">{_inline(element)}</div>'


def _inline(element: JSON) -> str:
    return "".join(_styled(part) for part in element["elements"])


def _styled(part: JSON) -> str:
    text = html.escape("@Footnote" if part["type"] == "user" else part.get("text") or part.get("url") or "")
    shown = f'<a href="#">{text}</a>' if part["type"] in ("link", "user") else text
    for style, tag in (("bold", "b"), ("italic", "i"), ("code", "code")):
        shown = f"<{tag}>{shown}</{tag}>" if (part.get("style") or {}).get(style) else shown
    return shown


def _control(element: JSON) -> str:
    if element["type"] == "feedback_buttons":
        return "".join(
            f'<span class="button">{html.escape(element[name]["text"]["text"])}</span>'
            for name in ("positive_button", "negative_button")
        )
    if element["type"] == "overflow":
        return '<span class="button">⋯</span>'
    label = (element.get("text") or element.get("placeholder") or {}).get("text", element["type"])
    arrow = " ▾" if "select" in element["type"] else ""
    return f'<span class="button {element.get("style", "")}">{html.escape(str(label))}{arrow}</span>'
