"""Documents by the names that people call them, in a table made once for many look-ups."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from rapidfuzz import fuzz, process, utils

from core.domain.corpus import Document
from core.domain.kept_answers import SAID_KINDS
from core.errors import Ambiguous, BadInput, NotFound
from core.ports import CorpusRepository

# Points of 100 (rapidfuzz's ratio of the sorted words). From CLOSE on, a document is meant if it leads the next one by
# LEAD; from NEAR on, the error names it.
_CLOSE = 82.0
_ALL_WORDS = 90.0
_LEAD = 4.0
_NEAR = 50.0
_NAMED = 5  # names in an error message
_LONGEST = 300  # characters of a name that are compared: a pasted text would take seconds

# Journals of `--journal` and the journal tool; kept answers count if there are others (core/features/kept_answers.py).
JOURNAL_KIND = "foundry"

_BETWEEN_WORDS = re.compile(r"[\s_\-–—]+")

Accepts = Callable[[Document], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The target of a [[link]]: one document, or none and the similar ones, the nearest first."""

    document: Document | None
    near: tuple[Document, ...] = ()
    is_ambiguous: bool = False  # all of `near` have the name


def only_journals(documents: Sequence[Document]) -> list[Document]:
    """Return the journals; all documents if there are no journals, as people may call a note a journal."""
    if not any(document.kind == JOURNAL_KIND for document in documents):
        return list(documents)
    return [document for document in documents if document.kind in (JOURNAL_KIND, *SAID_KINDS)]


def find_by_name(name: str, documents: Sequence[Document]) -> Document:
    """Look a name up once among documents, as DocumentNames.find does."""
    return DocumentNames(documents).find(name)


def everyone(_: Document) -> bool:
    return True


class DocumentNames:
    """The names of documents. Every look-up takes a filter (`accepts`), such as a scope's.

    With `is_lasting`, for many look-ups from any thread, everything is prepared at once; else when it is first needed.
    """

    def __init__(self, documents: Sequence[Document], *, is_lasting: bool = False) -> None:
        self.documents = documents
        self._tables = [_table(documents, names, form) for names, form in (*_RULES, *_LINK_RULES)]
        if is_lasting:
            _ = self._similar

    def find(self, name: str, accepts: Accepts = everyone) -> Document:
        """Return the document meant by `name`; the first of these rules that fits any document decides.

        Its id; its path, or source name and path ("notes/a.md"); its path, file name, title or an alias, in any case
        and with or without the ending; something close to one of these.

        Raises:
            BadInput: several documents fit equally; the message lists them.
            NotFound: no document fits; the message names the nearest.
        """
        wanted = _cleaned(name)
        if not wanted:
            raise BadInput("The document's name is empty: enter its path, title or alias")
        if found := self._named(wanted, accepts, rules=len(_RULES)):
            return _only(name, found)
        return self._closest(name, wanted, accepts)

    def linked(self, target: str, accepts: Accepts = everyone) -> Linked:
        """Return the target of a link, by the rules of `find` except the last, or by the end of a path.

        Signs between words count alike. A document with a similar name is no target, but proposed.
        """
        wanted = _cleaned(target)
        found = self._named(wanted, accepts) if wanted else []
        if len(found) == 1:
            return Linked(document=found[0])
        near = found or [document for document, _ in self._similar.ranked(wanted, accepts)]
        return Linked(document=None, near=tuple(near[:_NAMED]), is_ambiguous=bool(found))

    def named(self, target: str, accepts: Accepts = everyone) -> Document | None:
        """Return the target of a link, without a search for similar names: for many targets."""
        found = self._named(_cleaned(target), accepts) if target.strip() else []
        return found[0] if len(found) == 1 else None

    @cached_property
    def _similar(self) -> "_SimilarNames":
        return _SimilarNames(self.documents)

    def _named(self, wanted: str, accepts: Accepts, rules: int | None = None) -> list[Document]:
        for (_, form), table in zip((*_RULES, *_LINK_RULES), self._tables[:rules], strict=False):
            found = [document for document in table.get(form(wanted), ()) if accepts(document)]
            if found:
                return found
        return []

    def _closest(self, name: str, wanted: str, accepts: Accepts) -> Document:
        ranked = self._similar.ranked(wanted, accepts)
        best = ranked[0][1] if ranked else 0.0
        if best >= _CLOSE:
            return _only(name, [document for document, score in ranked if score > best - _LEAD])
        nearest = ", ".join(repr(document.path) for document, _ in ranked[:3])
        hint = f"the nearest are {nearest}" if nearest else "`footnote documents` lists them"
        raise NotFound(f"There is no document {name!r}: {hint}")


def qualified(document: Document) -> str:
    """Return source and path, a unique name."""
    return f"{document.source}/{document.path}"


def _cleaned(name: str) -> str:
    return name.strip().removeprefix("./")[:_LONGEST]


def _only(name: str, found: Sequence[Document]) -> Document:
    if len(found) == 1:
        return found[0]
    listed = ", ".join(repr(qualified(document)) for document in found[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    candidates = tuple(map(qualified, found))
    raise Ambiguous(f"{name!r} may be any of {listed}{more}: give the path", candidates=candidates)


# --------------------------------------------------------------------------------------------------------- equal names


def _table(
    documents: Sequence[Document], names: Callable[[Document], Iterable[str]], form: Callable[[str], str]
) -> dict[str, list[Document]]:
    by_name: dict[str, list[Document]] = {}
    for document in documents:
        for name in dict.fromkeys(map(form, names(document))):
            by_name.setdefault(name, []).append(document)
    return by_name


def _same_words(name: str) -> str:
    return _BETWEEN_WORDS.sub(" ", name).strip().casefold()


def _without_endings(document: Document) -> Sequence[str]:
    path = PurePosixPath(document.path)
    return (document.path, path.name, str(path.with_suffix("")), path.stem)


def _ends_of_path(document: Document) -> Iterator[str]:
    """`b/c` and `b/c.md` of `a/b/c.md`."""
    for name in (document.path, str(PurePosixPath(document.path).with_suffix(""))):
        parts = name.split("/")
        yield from ("/".join(parts[start:]) for start in range(1, len(parts) - 1))


def _all_names(document: Document) -> Sequence[str]:
    return (*_without_endings(document)[2:], document.title, *document.aliases)


# Names of a document, and the form in which they compare.
_RULES: Sequence[tuple[Callable[[Document], Iterable[str]], Callable[[str], str]]] = (
    (lambda document: (document.id,), str),
    (lambda document: (document.path, qualified(document)), str),
    (_without_endings, str.casefold),
    (lambda document: (document.title,), str.casefold),
    (lambda document: document.aliases, str.casefold),
)
_LINK_RULES = ((_ends_of_path, str.casefold), (_all_names, _same_words))


class _SimilarNames:
    """All names in the form in which they compare, and an index of their words."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._owners: list[int] = []
        self._names: list[str] = []
        self._with_word: dict[str, set[int]] = {}
        for owner, document in enumerate(documents):
            for name in dict.fromkeys(map(utils.default_process, _all_names(document))):
                words = name.split()
                for word in words:
                    self._with_word.setdefault(word, set()).add(len(self._names))
                self._owners.append(owner)
                self._names.append(" ".join(sorted(words)))

    def ranked(self, wanted: str, accepts: Accepts) -> list[tuple[Document, float]]:
        """Return documents with a name from NEAR points on, best first: similar spelling, or all words are in it.

        A name that is only a part of the wanted one doesn't count: "the report on bridges" isn't the document "report".
        """
        words = utils.default_process(wanted).split()
        scores: dict[int, float] = {}
        similar = process.extract(
            " ".join(sorted(words)), self._names, scorer=fuzz.ratio, limit=None, score_cutoff=_NEAR
        )
        holding = [self._with_word.get(word, set()) for word in words]
        for place, score in [
            *((place, score) for _, score, place in similar),
            *((place, _ALL_WORDS) for place in (set.intersection(*holding) if holding else ())),
        ]:
            owner = self._owners[place]
            scores[owner] = max(score, scores.get(owner, 0.0))
        ranked = [(self._documents[owner], scores[owner]) for owner in sorted(scores)]
        return sorted((item for item in ranked if accepts(item[0])), key=lambda item: -item[1])


KEPT = 8  # workspaces in memory; ten thousand documents take about 20 MB


class NamesOfWorkspaces:
    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._kept: OrderedDict[str, tuple[str, DocumentNames]] = OrderedDict()  # version, names
        self._making = asyncio.Lock()  # one table at a time: callers that wait find it ready

    async def of(self, workspace: str) -> DocumentNames:
        """Return the names of all documents of a workspace, up to date."""
        async with self._making:
            version = await self._corpus.version(workspace)  # before reading: changes in between give another version
            kept = self._kept.get(workspace)
            if kept is None or kept[0] != version:
                documents = await self._corpus.list_documents(workspace)
                kept = version, await asyncio.to_thread(DocumentNames, documents, is_lasting=True)
            self._kept[workspace] = kept
            self._kept.move_to_end(workspace)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept[1]
