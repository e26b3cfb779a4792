"""Names that tell nothing inside a long document, because they stand all over it: a novel's people. Pure.

They are rare in the whole library, so they lead a search to the right book; there, they drown the words that tell one
passage from another ("how much rent did Tapio pay?").
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from core.domain.corpus import Document, SourcedPassage
from core.text.words import collapse, content_words

# A document leads when it has this many of the first passages found, and is long when it has this many itself.
LOOKED_AT = 10
LEADING = 5
LONG = 100
# Uses for each passage of the document from which on a name is common. Anything from .08 to .15 gave the same.
COMMON = 0.12
# Fewer words left than these say too little to search for.
FEWEST_LEFT = 2

_NAME = re.compile(r"\b[^\W\d_a-z][^\W\d_]+")
_WORD = re.compile(r"\S+")
_ENDING = re.compile(r"['’]s?$")
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord"})


def leading_document(found: Sequence[SourcedPassage]) -> Document | None:
    """The long document that at least LEADING of the first passages are of; None where none is."""
    first = found[:LOOKED_AT]
    counts = Counter(item.document.id for item in first)
    return next((d.document for d in first if counts[d.document.id] >= LEADING and d.document.passages >= LONG), None)


def common_names(texts: Iterable[str], passages: int) -> frozenset[str]:
    """Capitalised words that a document of so many passages uses all over, as they are written."""
    counts = Counter(name for text in texts for name in _NAME.findall(text))
    return frozenset(name for name, count in counts.items() if count >= passages * COMMON)


def without_common(query: str, common: frozenset[str]) -> str | None:
    """The query without its names that are common; None where it has none, or little else."""
    kept = [match.group() for match in _WORD.finditer(query) if not _is_common(query, match, common)]
    rest = " ".join(kept)
    return rest if rest != collapse(query) and len(content_words(rest)) >= FEWEST_LEFT else None


def _is_name(query: str, match: re.Match[str]) -> bool:
    return match.start() > 0 and _NAME.search(match.group()) is not None


def _is_common(query: str, match: re.Match[str], common: frozenset[str]) -> bool:
    if not _is_name(query, match):
        return False
    bare = _ENDING.sub("", match.group().strip('"“”‘().,;:!?*_'))
    return bare in common or bare.lower() in _TITLES
