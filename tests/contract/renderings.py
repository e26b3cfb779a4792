"""One answer as each platform shows it, read back to what people see; each fails where a limit is passed."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich.console import Console

from bot.discordbot.rendering.answers import RenderOptions as DiscordOptions
from bot.discordbot.rendering.answers import render_answer as render_discord
from bot.discordbot.rendering.components import Row as DiscordRow
from bot.discordbot.rendering.components import more_row
from bot.presentation.answer_buttons import ChoiceMenu
from bot.slackbot.rendering.answers import RenderOptions as SlackOptions
from bot.slackbot.rendering.answers import render_answer as render_slack
from bot.terminal.render import answer_view
from bot.web.render import message_view
from core.answering.answers.stored import answer_message
from core.domain.answer import Answer, Citation
from tests.builders import NOON, build_incoming
from tests.slack_server.transcript import elements, texts
from tests.unit.bot.any_answers import POST
from tests.unit.bot.discordbot import shown as discord
from tests.unit.bot.markdown_texts import GOOD, ZERO_WIDTH
from tests.unit.bot.slackbot import shown as slack

_MARKS = re.compile(r"\[(\d+)\](?:–\[(\d+)\])?(?= |$)")
_LINKED = re.compile(rf"\[\[(\d+)\]\]\({re.escape(GOOD)}")
_ADDRESS = re.compile(rf"\({re.escape(GOOD)}[^)\s]*\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """`footnotes` are linked in the text, each here once, in order; `sources` are numbers with what is said of them."""

    body: str
    footnotes: tuple[int, ...]
    sources: tuple[tuple[int, str], ...]
    everything: str  # buttons, menus and lists besides
    quotes_aside: bool = False  # the sources name documents and lead to a pane with quotes and pages
    named: str = ""  # the lines of sources, where they name five documents at most


def link_to(citation: Citation, answer: str = "") -> str:
    return f"{GOOD}?n={citation.number}"


def on_discord(answer: Answer) -> Shown:
    post = render_discord(answer, DiscordOptions(post_id=POST, link=link_to))
    assert discord.faults_of(post, POST) == []
    bodies = [part.texts[0] for part in post.parts]
    lines = [_unescaped(line) for part in post.parts for line in part.texts[1:]]
    (menu,) = more_row(answer, is_private=False).items if answer.message_id else (None,)
    everything = [_unmarked(text) for part in post.parts for text in part.texts]
    everything += [label for label, _ in menu.options] if isinstance(menu, ChoiceMenu) else []
    for block in (block for part in post.parts for block in part.blocks if isinstance(block, DiscordRow)):
        for item in block.items:
            everything += [label for label, _ in item.options] if isinstance(item, ChoiceMenu) else [item.label]
    files = [file.content for part in post.parts for file in part.files]
    return _shown(bodies, lines, everything, files)


def on_slack(answer: Answer) -> Shown:
    post = render_slack(answer, SlackOptions(post_id=POST, link=link_to))
    assert slack.faults_of(post, POST) == []
    bodies = [slack.body_of(part) for part in post.parts]
    lines = [html.unescape(slack.sources_of(part)) for part in post.parts]
    everything = [_unmarked(body) for body in bodies]
    for part in post.parts:
        everything += texts([block for block in part.blocks if block["type"] != "markdown"])
        everything += slack.labels_of(part)
        menus = [one for one in elements(part.blocks) if one["type"] in ("static_select", "overflow")]
        everything += [option["text"]["text"] for menu in menus for option in menu["options"]]
    return _shown(bodies, lines, everything, [file.content for file in post.files])


def on_the_web(answer: Answer) -> Shown:
    message = answer_message(answer, build_incoming(), "c1", None, NOON)
    view = message_view(message, link_to)
    page = str(view["html"])
    documents: list[Mapping[str, Any]] = view["sources"]  # type: ignore[assignment]  # JSON
    body = html.unescape(re.sub(r"<[^>]*>", " ", page))
    sources = sorted((note["number"], f"{one['title']} {note['href']}") for one in documents for note in one["notes"])
    listed = [*view["choices"], *view["suggestions"]]  # type: ignore[misc]  # JSON
    return Shown(
        body=body,
        footnotes=tuple(dict.fromkeys(int(number) for number in re.findall(r'data-number="(\d+)"', page))),
        sources=tuple(sources),
        everything="\n".join([body, *listed]),
        quotes_aside=True,
    )


def on_the_terminal(answer: Answer) -> Shown:
    written = StringIO()
    Console(width=2_000, file=written).print(answer_view(answer))
    text = written.getvalue()
    found = list(re.finditer(r"^\[(\d+)\] Page ", text, re.MULTILINE))
    ends = [*(match.start() for match in found[1:]), len(text)]
    sources = [(int(match[1]), text[match.start() : end]) for match, end in zip(found, ends, strict=False)]
    body = text[: found[0].start()] if found else text
    known = {citation.number for citation in answer.citations}
    marks = [int(number) for number in re.findall(r"\[(\d+)\]", body)]
    return Shown(
        body=body,
        footnotes=tuple(dict.fromkeys(number for number in marks if number in known)),
        sources=tuple(sources),
        everything=text,
    )


PLATFORMS: Mapping[str, Callable[[Answer], Shown]] = {
    "discord": on_discord,
    "slack": on_slack,
    "web": on_the_web,
    "terminal": on_the_terminal,
}


def _shown(bodies: list[str], lines: list[str], everything: list[str], files: list[str]) -> Shown:
    """`lines` name the documents, below each part of the text; `files` follow it."""
    body = "\n".join(bodies)
    return Shown(
        body=_unmarked("\n".join([body, *files])),
        footnotes=tuple(dict.fromkeys(int(number) for number in _LINKED.findall(body))),
        sources=tuple(dict.fromkeys((number, "") for line in lines for number in _numbers_of(line))),
        everything="\n".join(everything),
        named="\n".join(lines),
    )


def _numbers_of(line: str) -> Iterator[int]:
    """The numbers before the names, with those of ranges."""
    for first, last in _MARKS.findall(line):
        yield from range(int(first), int(last or first) + 1)


def _unescaped(line: str) -> str:
    return _ESCAPED.sub(r"\1", line)


def _unmarked(markdown: str) -> str:
    return _ESCAPED.sub(r"\1", _ADDRESS.sub("", markdown).replace(ZERO_WIDTH, ""))
