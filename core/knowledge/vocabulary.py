"""The words of the documents that a question may read, kept for the documents last read."""

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from sys import intern

from core.domain.corpus import Document, Page, SearchScope
from core.ports import CorpusRepository
from core.text.glossary import InEnglish, in_english
from core.text.language import FUNCTION_WORDS, Language, language_of, languages_of
from core.text.spelling import LibraryWords

KEPT_DOCUMENTS = 20_000  # of 500 words and about 20 kB each
KEPT_SCOPES = 16
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_OTHERS = tuple(language for language in Language if language is not Language.ENGLISH)


@dataclass(frozen=True, slots=True)
class _Read:
    words: frozenset[str]
    languages: frozenset[Language]


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a scope, and the languages that its documents are in."""

    words: LibraryWords
    languages: frozenset[Language]

    def in_english(self, text: str, language: Language) -> InEnglish | None:
        """Return a question of another language in English, if the library is in English; None for others.

        `language` is that of the conversation.
        """
        written = language_of(text)
        if written is not None and written is not Language.ENGLISH:
            return in_english(text, written, self.words) if self._is_foreign(text, written) else None
        said = _LETTERS.findall(text)
        if written is Language.ENGLISH or all(map(self.words.is_spelt, said)):
            return None
        # Words without a sign of their language: "solaire". In a conversation in a language, they are of it.
        for candidate in sorted(_OTHERS, key=lambda one: one is not language):
            if self._is_foreign(text, candidate):
                read = in_english(text, candidate, self.words)
                if read.known and not read.unknown:
                    return read
        return None

    def _is_foreign(self, text: str, language: Language) -> bool:
        """Return whether the library has no documents in a language, or few words of a question in it."""
        if language not in self.languages:
            return True
        telling = [word for word in _LETTERS.findall(text) if word.casefold() not in FUNCTION_WORDS]
        return 2 * sum(map(self.words.has, telling)) < len(telling)


class Vocabularies:
    """Reads the words of scopes: each page once, until its document changes."""

    def __init__(self, corpus: CorpusRepository, common: Callable[[], Collection[str]]) -> None:
        """`common` returns words of English that are spelt right although no document has them; it may block."""
        self._corpus = corpus
        self._common = common
        self._read: OrderedDict[tuple[str, str | None, int | None], _Read] = OrderedDict()
        self._scopes: OrderedDict[tuple[str, str, str], Vocabulary] = OrderedDict()
        self._reading = asyncio.Lock()  # simultaneous questions share one reading

    async def of(self, scope: SearchScope) -> Vocabulary:
        """Return the words of a scope: no word beyond it, or beyond a reading position, is among them."""
        version = await self._corpus.version(scope.workspace)
        key = (scope.workspace, version, scope.digest)
        async with self._reading:
            if key not in self._scopes:
                self._scopes[key] = await self._collect(scope)
            self._scopes.move_to_end(key)
            while len(self._scopes) > KEPT_SCOPES:
                self._scopes.popitem(last=False)
            return self._scopes[key]

    async def _collect(self, scope: SearchScope) -> Vocabulary:
        counts: Counter[str] = Counter()
        languages: set[Language] = set()
        for document in await self._corpus.list_readable(scope):
            if document.pages:
                read = await self._words_of(document, scope)
                counts.update(read.words)
                languages |= read.languages
        common = await asyncio.to_thread(self._common)
        return Vocabulary(words=LibraryWords(counts=counts, common=common), languages=frozenset(languages))

    async def _words_of(self, document: Document, scope: SearchScope) -> _Read:
        key = (document.id, document.revision, scope.positions.get(document.id))
        if key not in self._read:
            pages = await self._corpus.list_pages(document.id, scope)
            self._read[key] = await asyncio.to_thread(_read, document, pages)
        self._read.move_to_end(key)
        while len(self._read) > KEPT_DOCUMENTS:
            self._read.popitem(last=False)
        return self._read[key]


def _read(document: Document, pages: Sequence[Page]) -> _Read:
    found: set[str] = set()
    for text in (document.title, *document.aliases, *(page.text for page in pages)):
        for word in set(_WORD.findall(text)):
            lowered = word.casefold().replace("’", "'")
            found.update(intern(piece) for piece in (lowered, *lowered.replace("'", "-").split("-")) if piece)
    return _Read(words=frozenset(found), languages=languages_of(found))
