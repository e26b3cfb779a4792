"""What a journal's own links name. Its pages show a link as words only: which ones are links, the file alone tells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.corpus import Page, Span
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.foundry.export import Journal, JournalPage, is_json, read_journals
from storage.documents.foundry.system import system_strings
from storage.documents.texts.encodings import decode

# Bytes of a file that is read a second time for its links.
MAX_BYTES = 32_000_000

COMMAND = re.compile(
    r"@(?P<kind>UUID|Embed|JournalEntryPage|JournalEntry|Actor|Item|Scene|RollTable|Macro|Cards|Playlist|Compendium|Adventure)"
    r"\[(?P<target>[^\[\]\n]{1,300})\](?:\{(?P<label>[^{}\n]{1,200})\})?"
)
_PAGE_LINK = re.compile(r"JournalEntryPage\.(?P<id>[^.\[\]]{1,64})\]")
_ID = re.compile(r"[A-Za-z0-9]{16}")
_KINDS = {"Actor": "actor", "Item": "item", "Scene": "place", "RollTable": "table"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A link of a page. `kind` is "actor", "item", "place" or "table" where it names such a thing, else ""."""

    page: Page
    span: Span
    name: str
    kind: str
    is_embed: bool


def find_mentions(path: Path | None, pages: Sequence[Page]) -> list[Mention]:
    """The links of a journal's pages whose names stand in their texts; none where the file is no journal any more."""
    by_id = {match["id"]: page for page in pages if (match := _PAGE_LINK.search(page.deep_link or ""))}
    found: list[Mention] = []
    if path is None or not by_id:
        return found
    journals = _read(path)
    names = {page.id: page.name for journal in journals for page in journal.pages}
    names |= {journal.id: journal.name for journal in journals}
    for journal in journals:
        for source in journal.pages:
            if source.id in by_id:
                found += _in_page(source, by_id[source.id], names)
    return found


def kind_of(command: str, target: str) -> str:
    """What a link names: "actor" of @Actor[x], of @UUID[Actor.x] and of @UUID[Compendium.a.b.Actor.x]."""
    parts = [command, *target.split(".")[:-1]]
    return next((_KINDS[part] for part in reversed(parts) if part in _KINDS), "")


def name_of(match: re.Match[str], names: Mapping[str, str]) -> str:
    """The name a link shows: its label, that of its target, or its target's last part, unless that is an id."""
    target = match["target"].split()[0] if match["target"].split() else ""
    last = target.partition("#")[0].rpartition(".")[2]
    return collapse(match["label"] or names.get(last, "") or ("" if _ID.fullmatch(last) else last))


def _read(path: Path) -> tuple[Journal, ...]:
    """Nothing where it can't be read: the reader tells people of it when it reads the file the next time."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return ()
        text = decode(path.read_bytes()).text
        return read_journals(text, is_json=is_json(path, text))
    except (OSError, ReadError):
        return ()


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
    """Where a name stands as words of its own; of what is embedded, the page's first line."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    if match:
        return Span(match.start(), match.end())
    if not is_embed:
        return None
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return Span(start, end if end > 0 else len(text))
