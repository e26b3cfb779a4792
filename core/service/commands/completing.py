"""What a half-typed value may become: documents, journals and conversations that may be read where it is typed."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.access.scopes import Access
from core.domain.corpus import Document
from core.knowledge.library import Library
from core.knowledge.search.documents import only_journals
from core.service.commands.base import CommandCall, Option, OptionKind, readable_by
from core.service.commands.threads import ThreadCommands
from core.text.words import shorten

MOST_COMPLETIONS = 25  # what a chat platform shows at once
LABEL_LENGTH = 100
LONGEST_VALUE = 100  # characters that a chat platform takes; ids are shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One proposal."""

    label: str  # for people, at most LABEL_LENGTH characters
    value: str  # what the option gets, at most LONGEST_VALUE characters


class Completions:
    def __init__(self, library: Library, access: Access, threads: ThreadCommands) -> None:
        self._library = library
        self._access = access
        self._threads = threads

    async def of(self, option: Option, typed: str, call: CommandCall) -> list[Completion]:
        """At most MOST_COMPLETIONS; names that begin with what was typed first, then those that hold it."""
        match option.kind:
            case OptionKind.CHOICE:
                found = [Completion(label=choice, value=choice) for choice in option.choices]
            case OptionKind.DOCUMENT:
                found = [_of_document(item) for item in await self._documents(call)]
            case OptionKind.JOURNAL:
                found = [_of_document(item) for item in only_journals(await self._documents(call))]
            case OptionKind.THREAD:
                listed = await self._threads.visible(call)
                found = [
                    Completion(label=shorten(item.title or item.id, LABEL_LENGTH), value=item.id) for item in listed
                ]
            case _:
                found = []
        return _best(found, typed.strip().casefold())

    async def _documents(self, call: CommandCall) -> list[Document]:
        documents = await self._library.documents(await readable_by(call, self._access))
        return [document for document in documents if document.revision is not None]


def _of_document(document: Document) -> Completion:
    label = document.title if document.title == document.path else f"{document.title} ({document.path})"
    path = f"{document.source}/{document.path}"
    return Completion(label=shorten(label, LABEL_LENGTH), value=path if len(path) <= LONGEST_VALUE else document.id)


def _best(found: Iterable[Completion], typed: str) -> list[Completion]:
    fitting = [item for item in found if typed in f"{item.label} {item.value}".casefold()]
    fitting.sort(key=lambda item: not item.label.casefold().startswith(typed))
    return fitting[:MOST_COMPLETIONS]
