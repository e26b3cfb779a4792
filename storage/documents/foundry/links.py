"""Links and mentions in the pages of Foundry journals, and strings of game systems."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.words import collapse
from storage.documents.foundry.export import Journal, JournalLibrary, JournalPage, Target, read_journal_file
from storage.documents.html.text import has_markup, html_to_text
from storage.documents.texts.structured import Value

# Levels and strings that are looked at: a page has tens of them.
MAX_LEVELS = 32
MAX_STRINGS = 20_000

_LABELS = ("label", "name", "title")
# Fields that control how a page is shown or found.
_TECHNICAL = frozenset(
    "type _id id uuid img src icon image color colour key slug identifier flags sort ownership anchor style class "
    "format folder path url link pack source".split()
)
_ONE_WORD = re.compile(r"[\w'’%+-]+[.!?:]?")
_NO_WORD = re.compile(r"[A-Za-z0-9]{16}|.*_.*|.*[a-z][A-Z].*|[\d.+-]+|true|false", re.DOTALL)
_FILE = re.compile(
    r"(?:[^/\n]*+/)++[^/\n]*\.(?:webp|png|jpe?g|svg|gif|webm|ogg|mp[34]|wav|pdf|html?|js|css|hbs)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SystemText:
    """A string in file order; `level` is that of a heading for the label of a group, 0 for text."""

    text: str
    level: int = 0


def system_strings(system: Mapping[str, Value]) -> list[SystemText]:
    """Return the readable strings at any depth, in file order, but groups last.

    A nested group starts with its label as a heading.
    """
    fields: dict[str, Value] = dict(system)
    names = frozenset(_names(fields, 0))
    found = []
    for piece in _strings(fields, 0, names):
        found.append(piece)
        if len(found) >= MAX_STRINGS:
            break
    while found and found[-1].level:
        found.pop()
    return [piece for place, piece in enumerate(found) if not piece.level or found[place + 1].level != piece.level]


def _strings(value: Value, depth: int, names: frozenset[str]) -> Iterator[SystemText]:
    if depth > MAX_LEVELS:
        return
    if isinstance(value, str):
        if _is_readable(value, names):
            yield SystemText(value.strip())
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, depth + 1, names)
    elif isinstance(value, dict):
        label = _label(value, names) if depth else None
        if label:
            yield SystemText(" ".join(str(value[label]).split()), level=min(1 + depth, 6))
        named = [(name, item) for name, item in value.items() if name != label and name not in _TECHNICAL]
        # Ungrouped strings come first: after a group, they would read as part of it.
        for _, item in sorted(named, key=lambda pair: _is_group(pair[1])):
            yield from _strings(item, depth + 1, names)


def _is_group(value: Value) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _label(group: Mapping[str, Value], names: frozenset[str]) -> str | None:
    """Return the field that names a group with more than a name."""
    for name in _LABELS:
        value = group.get(name)
        if isinstance(value, str) and _is_readable(value, names) and len(group) > 1:
            return name
    return None


def _is_readable(text: str, names: frozenset[str]) -> bool:
    text = text.strip()
    if not text or text in names or _FILE.fullmatch(text):
        return False
    if any(character.isspace() for character in text):
        return True
    return "<" in text or (bool(_ONE_WORD.fullmatch(text)) and not _NO_WORD.fullmatch(text)) or not text.isascii()


def _names(value: Value, depth: int) -> Iterator[str]:
    if depth > MAX_LEVELS:
        return
    if isinstance(value, dict):
        yield from value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _names(child, depth + 1)


_DOCUMENTS = "JournalEntryPage|JournalEntry|Actor|Item|Scene|RollTable|Macro|Cards|Playlist|Compendium|Adventure"
COMMAND = re.compile(
    rf"@(?P<kind>UUID|Embed|{_DOCUMENTS})"
    r"\[(?P<target>[^\[\]\n]{1,300})\](?:\{(?P<label>[^{}\n]{1,200})\})?"
)
_PAGE_LINK = re.compile(r"JournalEntryPage\.(?P<id>[^.\[\]]{1,64})\]")
_ID = re.compile(r"[A-Za-z0-9]{16}")
_KINDS = {"Actor": "actor", "Item": "item", "Scene": "place", "RollTable": "table"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A link of a page. `kind` is "actor", "item", "place", "table" or ""."""

    page: Page
    span: Span
    name: str
    kind: str
    is_embed: bool


def find_mentions(path: Path | None, pages: Sequence[Page]) -> list[Mention]:
    """Return the links of a journal's pages whose names are in their texts; none if the file is no longer a journal."""
    by_id = {match["id"]: page for page in pages if (match := _PAGE_LINK.search(page.deep_link or ""))}
    found: list[Mention] = []
    if path is None or not by_id:
        return found
    journals = read_journal_file(path)
    names = {page.id: page.name for journal in journals for page in journal.pages}
    names |= {journal.id: journal.name for journal in journals}
    for journal in journals:
        for source in journal.pages:
            if source.id in by_id:
                found += _in_page(source, by_id[source.id], names)
    return found


def kind_of(command: str, target: str) -> str:
    """Return the kind of a link's target: "actor" of @Actor[x], @UUID[Actor.x] and @UUID[Compendium.a.b.Actor.x]."""
    parts = [command, *target.split(".")[:-1]]
    return next((_KINDS[part] for part in reversed(parts) if part in _KINDS), "")


def name_of(match: re.Match[str], names: Mapping[str, str]) -> str:
    """Return the name a link shows: its label, its target's name, or its target's last part if that is no id."""
    target = match["target"].split()[0] if match["target"].split() else ""
    last = target.partition("#")[0].rpartition(".")[2]
    return collapse(match["label"] or names.get(last, "") or _name_part(last))


def _in_page(source: JournalPage, page: Page, names: Mapping[str, str]) -> Iterator[Mention]:
    texts = [source.html, source.markdown, *(piece.text for piece in system_strings(source.system))]
    seen: set[tuple[str, bool]] = set()
    for text in texts:
        for match in COMMAND.finditer(text):
            name, is_embed = name_of(match, names), match["kind"] == "Embed"
            if not name or (name, is_embed) in seen:
                continue
            seen.add((name, is_embed))
            span = _place(page.text, name, is_embed=is_embed)
            if span is not None:
                yield Mention(page, span, name, kind_of(match["kind"], match["target"].strip()), is_embed)


def _place(text: str, name: str, *, is_embed: bool) -> Span | None:
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    if match:
        return Span(match.start(), match.end())
    if not is_embed:
        return None
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return Span(start, end if end > 0 else len(text))


# Embeds within embeds that are followed; Foundry itself stops at five.
MAX_DEPTH = 5
# Characters that one page may grow by through embeds: a journal that embeds itself in many ways would never end.
MAX_EMBEDDED = 1_000_000

_COMMAND = re.compile(
    rf"@(?P<kind>UUID|Embed|{_DOCUMENTS})\[(?P<target>[^\[\]]*)\](?:\{{(?P<label>[^{{}}]*)\}})?"
    r"|&(?:amp;)?Reference\[(?P<reference>[^\[\]]*)\](?:\{(?P<reference_label>[^{}]*)\})?"
    r"|\[\[(?P<roll>(?:[^\[\]]|\[[^\[\]]*\])+)\]\](?:\{(?P<roll_label>[^{}]*)\})?"
)
_ROLL = re.compile(r"/(\w+)\s+(.*)", re.DOTALL)
_FORMULA = re.compile(r"[\d(@].*", re.DOTALL)
_OPTION = re.compile(r"(?<!\s)\s++\w++=\S*|^\w++=")


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a text, for relative links and to stop circular embeds."""

    journal: Journal
    open: frozenset[tuple[str, str]]


class LinkResolver:
    """Resolves the commands of one file and records their targets.

    `links` are targets as written, `depends_on` the other files whose names or text were used, both in order of first
    use; `unresolved` counts embeds without a target in the source.
    """

    def __init__(self, library: JournalLibrary) -> None:
        self._library = library
        self._embedded = 0
        self.links: dict[str, None] = {}
        self.depends_on: dict[str, None] = {}
        self.unresolved = 0

    def resolve(self, source: str, journal: Journal, page: JournalPage, *, is_html: bool) -> str:
        """Return HTML, or else plain text or Markdown, with every command replaced."""
        self._embedded = 0
        return self._expand(source, _Place(journal, frozenset({_key(journal, page)})), is_html=is_html)

    def _expand(self, source: str, place: _Place, *, is_html: bool) -> str:
        def replace(match: re.Match[str]) -> str:
            if match["kind"]:
                return self._link(match, place, is_html=is_html)
            if match["reference"] is not None:
                return match["reference_label"] or _OPTION.sub("", match["reference"]).strip()
            if match["roll_label"]:
                return match["roll_label"]
            command = _ROLL.fullmatch(match["roll"].strip())
            if command:
                return _OPTION.sub("", command[2].partition("#")[0]).strip() or match[0]
            return match["roll"].strip() if _FORMULA.fullmatch(match["roll"].strip()) else match[0]

        return _COMMAND.sub(replace, source)

    def _link(self, match: re.Match[str], place: _Place, *, is_html: bool) -> str:
        written = match["target"].split()[0] if match["target"].strip() else ""
        if written:
            self.links[written] = None
        kind = match["kind"]
        prefix = f"{kind}." if kind.startswith("Journal") else ""
        ids = _target_ids(prefix + written, place.journal.id)
        found = self._library.find(*ids) if ids else None
        if found is not None and not self._library.may_show(found):
            if found.path:
                self.depends_on[found.path] = None  # it may be opened later
            found = None
        if match["kind"] == "Embed":
            text = self._embed(found, place, is_html=is_html)
            if text is not None:
                return text
        if match["label"]:
            return match["label"]
        name = (found.page or found.journal).name if found else ""
        name = name or _name_part(match["target"] if match["kind"] != "Embed" else written)
        if found and found.path:
            self.depends_on[found.path] = None
        return html.escape(name, quote=False) if is_html else name

    def _embed(self, found: Target | None, place: _Place, *, is_html: bool) -> str | None:
        """Return the target's text with its own commands replaced, or None."""
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
    """Return (journal id, page id) of a link, either may be ""; None for a link to something else."""
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


def _name_part(target: str) -> str:
    last = " ".join(target.partition("#")[0].rpartition(".")[2].split())
    return "" if _ID.fullmatch(last) else last
