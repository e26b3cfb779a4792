"""Foundry's inline commands to the text a reader sees: links to names, embeds to the embedded text, rolls to dice."""

import html
import re
from dataclasses import dataclass

from storage.documents.foundry.export import Journal, JournalPage
from storage.documents.foundry.library import JournalLibrary, Target
from storage.documents.foundry.system import system_strings
from storage.documents.html.text import has_markup, html_to_text

# Embeds within embeds that are followed; Foundry itself stops at five.
MAX_DEPTH = 5
# Characters that one page may grow by through embeds: a journal that embeds itself in many ways would never end.
MAX_EMBEDDED = 1_000_000

_DOCUMENTS = "JournalEntryPage|JournalEntry|Actor|Item|Scene|RollTable|Macro|Cards|Playlist|Compendium|Adventure"
_COMMAND = re.compile(
    rf"@(?P<kind>UUID|Embed|{_DOCUMENTS})\[(?P<target>[^\[\]]*)\](?:\{{(?P<label>[^{{}}]*)\}})?"
    r"|&(?:amp;)?Reference\[(?P<reference>[^\[\]]*)\](?:\{(?P<reference_label>[^{}]*)\})?"
    r"|\[\[(?P<roll>(?:[^\[\]]|\[[^\[\]]*\])+)\]\](?:\{(?P<roll_label>[^{}]*)\})?"
)
_ID = re.compile(r"[A-Za-z0-9]{16}")
_ROLL = re.compile(r"/(\w+)\s+(.*)", re.DOTALL)
_FORMULA = re.compile(r"[\d(@].*", re.DOTALL)
_OPTION = re.compile(r"\s+\w+=\S*|^\w+=")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands: relative links start here, and an embed of what is open would never end."""

    journal: Journal
    open: frozenset[tuple[str, str]]


class LinkResolver:
    """Resolves the commands of one file and remembers what it pointed at.

    `links` are targets as written, `depends_on` the other files whose names or text were used, both in order of
    first use; `unresolved` counts embeds whose target the source does not hold.
    """

    def __init__(self, library: JournalLibrary) -> None:
        self._library = library
        self._embedded = 0
        self.links: dict[str, None] = {}
        self.depends_on: dict[str, None] = {}
        self.unresolved = 0

    def to_html(self, source: str, journal: Journal, page: JournalPage) -> str:
        """HTML with every command replaced."""
        self._embedded = 0
        return self._expand(source, _Place(journal, frozenset({_key(journal, page)})), is_html=True)

    def to_plain(self, source: str, journal: Journal, page: JournalPage) -> str:
        """Plain text or Markdown with every command replaced."""
        self._embedded = 0
        return self._expand(source, _Place(journal, frozenset({_key(journal, page)})), is_html=False)

    def _expand(self, source: str, place: _Place, *, is_html: bool) -> str:
        def replace(match: re.Match[str]) -> str:
            if match["kind"]:
                return self._link(match, place, is_html=is_html)
            if match["reference"] is not None:
                return match["reference_label"] or _OPTION.sub("", match["reference"]).strip()
            return _roll(match)

        return _COMMAND.sub(replace, source)

    def _link(self, match: re.Match[str], place: _Place, *, is_html: bool) -> str:
        written = match["target"].split()[0] if match["target"].strip() else ""
        if written:
            self.links[written] = None
        found = self._find(match["kind"], written, place)
        if match["kind"] == "Embed":
            text = self._embed(found, place, is_html=is_html)
            if text is not None:
                return text
        if match["label"]:
            return match["label"]
        name = _name(found) or _name_part(match["target"] if match["kind"] != "Embed" else written)
        if found and found.path:
            self.depends_on[found.path] = None
        return html.escape(name, quote=False) if is_html else name

    def _find(self, kind: str, written: str, place: _Place) -> Target | None:
        prefix = f"{kind}." if kind.startswith("Journal") else ""
        ids = _target_ids(prefix + written, place.journal.id)
        return self._library.find(*ids) if ids else None

    def _embed(self, found: Target | None, place: _Place, *, is_html: bool) -> str | None:
        """The target's text with its own commands replaced; None where there is none to be had."""
        if found is None:
            self.unresolved += 1
            return None
        pages = [found.page] if found.page else list(found.journal.pages)
        texts = []
        for page in pages:
            key = _key(found.journal, page)
            source = _page_html(page)
            self._embedded += len(source)
            if key in place.open or len(place.open) > MAX_DEPTH or self._embedded > MAX_EMBEDDED:
                return None
            texts.append(self._expand(source, _Place(found.journal, place.open | {key}), is_html=True))
        if found.path:
            self.depends_on[found.path] = None
        joined = "\n".join(texts)
        return joined if is_html else html_to_text(joined).text


def _key(journal: Journal, page: JournalPage) -> tuple[str, str]:
    return journal.id or journal.name, page.id or page.name


def _page_html(page: JournalPage) -> str:
    if page.html.strip():
        return page.html
    if page.markdown:
        return f"<pre>{html.escape(page.markdown, quote=False)}</pre>"
    strings = (piece.text for piece in system_strings(page.system))
    return "".join(f"<p>{text if has_markup(text) else html.escape(text, quote=False)}</p>" for text in strings)


def _target_ids(uuid: str, current: str) -> tuple[str, str] | None:
    """(journal id, page id) of a link; either may be "". None when it points at no journal."""
    parts = uuid.partition("#")[0].split(".")
    if parts[0] == "":
        return (current, parts[-1]) if parts[-1] else None
    journal = _after(parts, "JournalEntry")
    page = _after(parts, "JournalEntryPage")
    if journal or page:
        return journal, page
    if parts[0] == "Compendium" and len(parts) == 4:  # the form before version 11 names no kind
        return parts[-1], ""
    return None


def _after(parts: list[str], word: str) -> str:
    place = parts.index(word) + 1 if word in parts else len(parts)
    return parts[place] if place < len(parts) else ""


def _name(found: Target | None) -> str:
    if found is None:
        return ""
    return found.page.name if found.page else found.journal.name


def _name_part(target: str) -> str:
    """What an unresolved link shows: its last part, unless that is an id."""
    last = " ".join(target.partition("#")[0].rpartition(".")[2].split())
    return "" if _ID.fullmatch(last) else last


def _roll(match: re.Match[str]) -> str:
    if match["roll_label"]:
        return match["roll_label"]
    command = _ROLL.fullmatch(match["roll"].strip())
    if command:
        return _OPTION.sub("", command[2].partition("#")[0]).strip() or match[0]
    return match["roll"].strip() if _FORMULA.fullmatch(match["roll"].strip()) else match[0]
