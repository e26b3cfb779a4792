"""Foundry journals exported as JSON or YAML: a page for each journal page, with links and embeds resolved."""

from dataclasses import replace
from pathlib import Path

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.foundry.export import (
    SUFFIXES,
    Journal,
    JournalCache,
    JournalLibrary,
    JournalPage,
    is_json,
    limits_of,
    may_be_journal,
    read_journals,
)
from storage.documents.foundry.links import LinkResolver, system_strings
from storage.documents.html.text import HtmlText, has_markup, html_to_text
from storage.documents.markup.markdown_text import read_markdown
from storage.documents.texts.encodings import clean, decode, say_hidden

# Names of pages that one warning lists.
MAX_NAMED = 5


class FoundryJournalReader:
    """Reads `.json`, `.yml` and `.yaml` journal entries, single or in lists, folders and compendia.

    A page's own name is the last part of its heading path, and not part of the text.
    """

    kind = "foundry"
    suffixes = SUFFIXES
    expects = "a Foundry journal"

    def __init__(self) -> None:
        self._cache = JournalCache()

    def accepts(self, path: Path, head: bytes) -> bool:
        return may_be_journal(head) or may_be_journal(path.read_bytes())

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        journals = read_journals(decoded.text, is_json=is_json(path, decoded.text))
        resolver = LinkResolver(JournalLibrary(path, root, journals, self._cache))
        pages: list[ParsedPage] = []
        empty: list[str] = []
        unseen = 0
        for journal in journals:
            above = (journal.name,) if len(journals) > 1 and journal.name else ()
            for page in journal.pages:
                body = _with_system(_body(journal, page, resolver), journal, page, resolver)
                unseen += body.unseen
                parsed = ParsedPage(
                    title=clean(page.name),
                    text=body.text,
                    headings=body.headings,
                    heading_path=tuple(clean(name) for name in (*above, page.category) if name),
                    deep_link=_deep_link(journal, page),
                )
                if parsed.text:
                    pages.append(parsed)
                else:
                    empty.append(page.name)
        if not pages:
            raise ReadError("empty: no page of the journal has text")
        hidden = say_hidden(unseen)
        return ParsedDocument(
            title=(journals[0].name if len(journals) == 1 else "") or path.stem,
            kind=self.kind,
            pages=tuple(pages),
            links=tuple(resolver.links),
            depends_on=tuple(resolver.depends_on),
            warnings=(*decoded.warnings, *_warnings(empty, resolver.unresolved), *hidden),
            hidden=hidden,
            named_readers=limits_of(journals),
        )


def _warnings(empty: list[str], unresolved: int) -> list[str]:
    warnings = []
    if empty:
        more = f" and {len(empty) - MAX_NAMED} more" if len(empty) > MAX_NAMED else ""
        warnings.append(f"pages without text left out: {', '.join(map(repr, empty[:MAX_NAMED]))}{more}")
    if unresolved:
        warnings.append(f"{unresolved} embed{'s' * (unresolved > 1)} left out: the target is not in this source")
    return warnings


def _body(journal: Journal, page: JournalPage, resolver: LinkResolver) -> HtmlText:
    if page.markdown:
        text = clean(resolver.resolve(page.markdown, journal, page, is_html=False)).strip("\n").rstrip()
        return HtmlText(text, read_markdown(text).headings)
    return html_to_text(resolver.resolve(page.html, journal, page, is_html=True))


def _with_system(body: HtmlText, journal: Journal, page: JournalPage, resolver: LinkResolver) -> HtmlText:
    """Append the strings of a page's own fields that its text lacks."""
    text, headings, unseen = body.text, list(body.headings), body.unseen
    said = collapse(text)
    for piece in system_strings(page.system):
        part = _part(piece.text, journal, page, resolver)
        unseen += part.unseen
        if not part.text or (said and not piece.level and collapse(part.text) in said):
            continue
        text += "" if not text else "\n\n" if piece.level or part.headings else "\n"
        start = len(text)
        if piece.level:
            headings.append(Heading(level=piece.level, title=collapse(part.text), start=start))
        else:
            headings += [replace(item, start=start + item.start) for item in part.headings]
        text += part.text
    return HtmlText(text, tuple(headings), unseen=unseen)


def _part(source: str, journal: Journal, page: JournalPage, resolver: LinkResolver) -> HtmlText:
    if has_markup(source):
        return html_to_text(resolver.resolve(source, journal, page, is_html=True))
    return HtmlText(clean(resolver.resolve(source, journal, page, is_html=False)).strip())


def _deep_link(journal: Journal, page: JournalPage) -> str | None:
    if not journal.id:
        return None
    return f"@UUID[JournalEntry.{journal.id}{f'.JournalEntryPage.{page.id}' if page.id else ''}]"
