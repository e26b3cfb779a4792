"""Markup that all page views share: quote marks and Markdown."""

import html
import re
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from core.domain.corpus import Heading
from core.domain.passages import Span

CITED = "cited"  # ID of the first mark; links scroll to it
# Elements allowed in documents; others are removed, but their text stays.
ALLOWED_TAGS = frozenset(
    "h2 h3 h4 h5 h6 p br hr em strong b i u s del ins code pre kbd samp var sub sup q cite small abbr mark span div "
    "blockquote ul ol li dl dt dd table caption thead tbody tfoot tr th td a".split()
)
_UNREADABLE = frozenset({"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"})
_WEB = ("http://", "https://", "mailto:")


class Marker:
    """Escapes text and marks the cited part, with IDs and classes that differ from the document's."""

    def __init__(self, cited: Span | None) -> None:
        self._cited = cited
        self.has_marked = False  # whether any cited text was marked
        self.own = f"x{secrets.token_hex(12)}-"  # prefix of our IDs and classes until they are cleaned

    def html(self, text: str, start: int) -> str:
        """Escape `text`, which begins at `start` of the page, and mark its cited part."""
        cited = self._part_of(start, start + len(text))
        if cited is None:
            return html.escape(text)
        first, last = cited.start - start, cited.end - start
        before, inside, after = text[:first], text[first:last], text[last:]
        if not inside.strip():
            return html.escape(text)
        anchor = "" if self.has_marked else f' id="{self.own}{CITED}"'
        self.has_marked = True
        mark = f'<mark class="{self.own}{CITED}"{anchor}>{html.escape(inside)}</mark>'
        return f"{html.escape(before)}{mark}{html.escape(after)}"

    def touches(self, start: int, end: int) -> bool:
        """Return whether any of the page's characters from `start` to `end` are cited."""
        return self._part_of(start, end) is not None

    def clean(self, body: str) -> str:
        between = re.compile(rf'</mark>(\s+)<mark class="{self.own}{CITED}">')  # a line break in the citation
        return nh3.clean(
            between.sub(r"\1", body),
            tags=set(ALLOWED_TAGS),
            clean_content_tags=set(_UNREADABLE),
            attributes={"*": {"id", "class"}, "a": {"href"}, "ol": {"start"}},
            attribute_filter=self._attribute,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )

    def _attribute(self, tag: str, name: str, value: str) -> str | None:
        if name in ("id", "class") or (name == "href" and value.startswith(self.own)):
            return value.removeprefix(self.own) if value.startswith(self.own) else None
        if name == "href":
            return value if value.lower().startswith(_WEB) else None
        return value if value.isdigit() else None  # first number of a list

    def _part_of(self, start: int, end: int) -> Span | None:
        if self._cited is None or self._cited.start >= end or self._cited.end <= start:
            return None
        return Span(max(start, self._cited.start), min(end, self._cited.end))


def heading_id(heading: Heading) -> str:
    """Return the anchor of a heading in its page."""
    return f"h-{heading.start}"


def heading_tag(level: int, headings: Sequence[Heading]) -> str:
    """Return the tag of a heading: the page's highest level is h2 below the document's title, and none is left out."""
    above = {heading.level for heading in headings if heading.level < level}
    return f"h{min(len(above) + 2, 6)}"


# Longest [[wikilink]], and longest line of prose; longer ones are data, and slow to parse.
_LONGEST_WIKILINK = 300
_LONGEST_LINE = 8_000
_WITH_TEXT = ("text", "text_special", "code_inline", "image", "fence", "code_block", "html_block", "html_inline")
_RAW_TAG = re.compile(r"<(?:/?([A-Za-z][A-Za-z0-9-]*)|[!?])")
_COMMENT = re.compile(r"<!--(?:(?!-->).)*-->\s*", re.DOTALL)
_ALIGNED = re.compile(r"text-align:(left|right|center)")


def render_markdown(text: str, base: int, headings: Sequence[Heading], marker: Marker, *, internal_links: bool) -> str:
    """Render Markdown that begins at `base` of its page. Not sanitised: raw HTML stays in it."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable("text_join")
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    tokens = parser.parse(text, {})
    _Places(text, base, marker, headings).mark(tokens, internal_links=internal_links)
    rules = cast("dict[str, Any]", cast("RendererHTML", parser.renderer).rules)
    for name in _WITH_TEXT:
        rules[name] = _ready
    return str(parser.renderer.render(tokens, parser.options, {}))


def is_prose(text: str) -> bool:
    """Return whether Markdown can be parsed in reasonable time."""
    return max(map(len, text.split("\n")), default=0) <= _LONGEST_LINE


def _ready(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    return str(tokens[index].meta["html"])


def _is_harmless(raw: str) -> bool:
    """Return whether raw HTML has only allowed elements. A script is shown as text, so that it hides nothing."""
    return bool(_COMMENT.fullmatch(raw)) or all(
        match[1] and match[1].lower() in ALLOWED_TAGS for match in _RAW_TAG.finditer(raw)
    )


def _wikilink(state: Any, silent: bool) -> bool:
    """Parse `[[target|label]]` as a link to that document (a rule of markdown-it)."""
    start = state.pos
    if not state.src.startswith("[[", start):
        return False
    end = state.src.find("]]", start, start + _LONGEST_WIKILINK)
    inner = state.src[start + 2 : end]
    if end < 0 or not inner.strip() or any(sign in inner for sign in "[]\n"):
        return False
    if not silent:
        target, _, label = inner.partition("|")
        opened = state.push("link_open", "a", 1)
        opened.meta["wikilink"] = target.rstrip("\\").partition("#")[0].strip()
        state.push("text", "", 0).content = label or target
        state.push("link_close", "a", -1).meta["wikilink"] = True
    state.pos = end + 2
    return True


class _Places:
    """Finds each token's characters in the source, in text order."""

    def __init__(self, text: str, base: int, marker: Marker, headings: Sequence[Heading]) -> None:
        self._text = text
        self._base = base
        self._marker = marker
        self._headings = {heading.start: heading for heading in headings}
        self._all_headings = headings
        self._lines = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
        self._place = 0
        self._tag = "h2"  # of the open heading

    def mark(self, tokens: Sequence[Any], *, internal_links: bool) -> None:
        """Store the HTML of all text in the tokens' `meta`."""
        for token in tokens:
            if token.map is not None and token.nesting >= 0:
                self._place = max(self._place, self._lines[token.map[0]])
            if token.type in ("heading_open", "heading_close"):
                self._heading(token)
            elif token.type == "inline":
                self._inline(token, internal_links=internal_links)
            elif token.type in ("fence", "code_block"):
                token.meta["html"] = f"<pre><code>{self._by_line(token.content)}</code></pre>\n"
            elif token.type == "html_block":
                self._html_block(token)
            elif token.type in ("th_open", "td_open"):
                aligned = _ALIGNED.fullmatch(str(token.attrs.pop("style", "")))
                if aligned:
                    token.attrSet("class", f"{self._marker.own}{aligned[1]}")

    def _heading(self, token: Any) -> None:
        if token.nesting >= 0:
            self._tag = heading_tag(int(token.tag[1]), self._all_headings)
        token.tag = self._tag
        if token.map is not None:
            heading = self._headings.get(self._base + self._lines[token.map[0]])
            if heading is not None:
                token.attrSet("id", f"{self._marker.own}{heading_id(heading)}")

    def _html_block(self, token: Any) -> None:
        """Keep raw HTML, to be sanitised; show it as text if it is cited or would hide something."""
        start = self._base + self._place
        if self._marker.touches(start, start + len(token.content)) or not _is_harmless(token.content):
            token.meta["html"] = f"<pre>{self._by_line(token.content)}</pre>"
        else:
            token.meta["html"] = token.content

    def _inline(self, token: Any, *, internal_links: bool) -> None:
        for child in token.children or []:
            if child.type == "link_open" and "wikilink" in child.meta:
                self._open_wikilink(child, internal_links=internal_links)
            elif child.type == "link_close" and "wikilink" not in child.meta:
                self._pass_link()
            elif child.type == "image":  # images aren't fetched; their alt text replaces them
                child.meta["html"] = self._find(child.content)
            elif child.type == "code_inline":
                child.meta["html"] = f"<code>{self._find(child.content)}</code>"
            elif child.type == "text_special":
                child.meta["html"] = self._find(child.content, child.markup)
            elif child.type == "html_inline":
                child.meta["html"] = child.content if _is_harmless(child.content) else self._find(child.content)
            elif child.type == "text":
                child.meta["html"] = self._find(child.content)

    def _open_wikilink(self, token: Any, *, internal_links: bool) -> None:
        self._place = max(self._place, self._text.find("[[", self._place))
        if internal_links and token.meta["wikilink"]:
            name = quote(token.meta["wikilink"], safe="")
            token.attrSet("href", f"{self._marker.own}/library/find?name={name}")

    def _pass_link(self) -> None:
        """Skip the address of a link, which isn't text."""
        if self._text.startswith("](", self._place):
            end = self._text.find(")", self._place, self._place + 2_000)
            self._place = end + 1 if end >= 0 else self._place

    def _find(self, content: str, written: str = "") -> str:
        """Return the marked HTML of `content`, written as `written` at or after the current position."""
        if not content:
            return ""
        line = bisect_right(self._lines, self._place)
        limit = self._lines[min(line + 1, len(self._lines) - 1)] + len(content)
        found = self._text.find(written or content, self._place, limit)
        start = self._place if found < 0 else found
        if found >= 0:
            self._place = found + len(written or content)
        return self._marker.html(content, self._base + start)

    def _by_line(self, content: str) -> str:
        return "".join(self._find(line) for line in content.splitlines(keepends=True))
