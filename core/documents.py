"""Finds the document that a person means by a name. Pure."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from core.domain.corpus import Document
from core.errors import Ambiguous, BadInput, NotFound

# Points of 100 (rapidfuzz's ratio of the sorted words). From CLOSE on a document is taken as meant when it leads the
# next one by LEAD; from NEAR on it is worth naming in the error.
_CLOSE = 82.0
_ALL_WORDS = 90.0
_LEAD = 4.0
_NEAR = 50.0
# Names in an error message.
_NAMED = 5

# What `--journal` and the journal tool mean by one.
JOURNAL_KIND = "foundry"
KEPT_KIND = "kept"  # one, too, where there are others (core/keeping.py)

Names = Callable[[Document], Sequence[str]]


def only_journals(documents: Sequence[Document]) -> list[Document]:
    """Those that are journals; all, where none is: whoever has no journals may still say "journal" of a note."""
    if not any(document.kind == JOURNAL_KIND for document in documents):
        return list(documents)
    return [document for document in documents if document.kind in (JOURNAL_KIND, KEPT_KIND)]


def find_by_name(name: str, documents: Sequence[Document]) -> Document:
    """The one document meant by `name`; the first of these rules that fits any document decides.

    Its id; its path, or source name and path ("notes/a.md"); its path, file name, title or an alias, whatever the
    case and with or without the ending; something close to one of these.

    Raises:
        BadInput: several fit equally; the message lists them.
        NotFound: none fits; the message names the nearest.
    """
    wanted = name.strip().removeprefix("./")
    if not wanted:
        raise BadInput("The name of a document is empty: give its path, title or alias")
    for names in _RULES:
        exact = names in _EXACT
        key = wanted if exact else wanted.casefold()
        found = [
            document
            for document in documents
            if key in (names(document) if exact else [each.casefold() for each in names(document)])
        ]
        if found:
            return _only(name, found)
    return _closest(name, wanted, documents)


def _only(name: str, found: Sequence[Document]) -> Document:
    if len(found) == 1:
        return found[0]
    listed = ", ".join(repr(_qualified(document)) for document in found[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    candidates = tuple(map(_qualified, found))
    raise Ambiguous(f"{name!r} may be any of {listed}{more}: give the path", candidates=candidates)


def _closest(name: str, wanted: str, documents: Sequence[Document]) -> Document:
    scores = _scores(wanted, [(each, document.id) for document in documents for each in _all_names(document)])
    ranked = sorted(documents, key=lambda document: -scores.get(document.id, 0.0))
    best = scores.get(ranked[0].id, 0.0) if ranked else 0.0
    if best >= _CLOSE:
        return _only(name, [document for document in ranked if scores.get(document.id, 0.0) > best - _LEAD])
    nearest = ", ".join(repr(document.path) for document in ranked[:3] if scores.get(document.id, 0.0) >= _NEAR)
    hint = f"the nearest are {nearest}" if nearest else "`footnote documents` lists them"
    raise NotFound(f"There is no document {name!r}: {hint}")


def _scores(wanted: str, names: Sequence[tuple[str, str]]) -> dict[str, float]:
    """For each document id the best score of its names: likeness of spelling, or that all words wanted are in the name.

    That a name is part of what is wanted says nothing: "the report on bridges" is not the document "report".
    """
    from rapidfuzz import fuzz, utils

    text = utils.default_process(wanted)
    words = set(text.split())
    scores: dict[str, float] = {}
    for name, document_id in names:
        candidate = utils.default_process(name)
        has_all = bool(words) and words <= set(candidate.split())
        score = _ALL_WORDS if has_all else fuzz.token_sort_ratio(text, candidate, score_cutoff=_NEAR)
        scores[document_id] = max(score, scores.get(document_id, 0.0))
    return scores


def _qualified(document: Document) -> str:
    return f"{document.source}/{document.path}"


def _ids(document: Document) -> Sequence[str]:
    return (document.id,)


def _paths(document: Document) -> Sequence[str]:
    return (document.path, _qualified(document))


def _without_endings(document: Document) -> Sequence[str]:
    path = PurePosixPath(document.path)
    return (document.path, path.name, str(path.with_suffix("")), path.stem)


def _titles(document: Document) -> Sequence[str]:
    return (document.title,)


def _aliases(document: Document) -> Sequence[str]:
    return document.aliases


def _all_names(document: Document) -> Sequence[str]:
    return (*_without_endings(document)[2:], document.title, *document.aliases)


_EXACT: tuple[Names, ...] = (_ids, _paths)
_RULES: tuple[Names, ...] = (*_EXACT, _without_endings, _titles, _aliases)
