"""Questions in German, Spanish or French, read in English word by word, for a library in English.

A word is looked up in the glossary (glossary.txt: everyday words in four languages), in this form or another one; a
German compound in its parts; else it is taken for a word of the library that is spelt alike ("Reparatur", "solaire").
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest

from py_rust_stemmers import SnowballStemmer
from rapidfuzz import process
from rapidfuzz.distance import OSA

from core.text.language import FUNCTION_WORDS, Language
from core.text.spelling import LibraryWords

_ORDER = (Language.GERMAN, Language.SPANISH, Language.FRENCH)
_SNOWBALL = {Language.GERMAN: "german", Language.SPANISH: "spanish", Language.FRENCH: "french"}
_WORD = re.compile(r"\d[\d.,:]*\d|\d|[^\W_]+(?:['’-][^\W_]+)*['’]?|\S")
# Letters before an apostrophe that are words of their own in French: "l'étude", "qu'est".
_ELIDED = re.compile(r"\b(qu|[dlnsjmtc])['’](?=\w)", re.IGNORECASE)
_INVERTED = re.compile(r"(?<=\w)-(?:t-)?(?=(?:ils?|elles?|on|tu|vous|nous|je|ce)\b)", re.IGNORECASE)
_PREFIXES = frozenset("an auf ab aus ein zu vor mit nach fest statt los".split())
MOST_WORDS = 4  # of a phrase in the glossary
SHORTEST_PART = 4  # letters of a part of a compound
SHORTEST_ALIKE = 5  # letters of a word that may be one of the library's, spelt otherwise
ALIKE = 0.3  # share of the letters that may differ
# Endings that differ between the languages, and their English ones.
_ENDINGS: Mapping[Language, Sequence[tuple[str, str]]] = {
    Language.GERMAN: (
        ("ierung", "ation"), ("ieren", "e"), ("iert", "ed"), ("ität", "ity"), ("tion", "tion"), ("isch", "ic"),
        ("ische", "ic"), ("ischen", "ic"), ("ie", "y"), ("ik", "ics"), ("ur", "ure"), ("or", "or"), ("ell", "al"),
    ),
    Language.SPANISH: (
        ("aciones", "ations"), ("ación", "ation"), ("ciones", "tions"), ("ción", "tion"), ("dades", "ties"),
        ("dad", "ty"), ("mente", "ly"), ("encia", "ence"), ("ancia", "ance"), ("ico", "ic"), ("ica", "ic"),
        ("ivo", "ive"), ("iva", "ive"), ("oso", "ous"), ("ario", "ary"), ("orio", "ory"), ("ía", "y"), ("ado", "ed"),
        ("ar", "e"), ("o", ""), ("a", ""), ("os", "s"), ("as", "s"),
    ),
    Language.FRENCH: (
        ("ités", "ities"), ("ité", "ity"), ("ement", "ly"), ("ique", "ic"), ("iques", "ic"), ("aire", "ary"),
        ("eur", "or"), ("euse", "ous"), ("eux", "ous"), ("if", "ive"), ("ive", "ive"), ("ie", "y"), ("é", "ed"),
        ("ée", "ed"), ("er", "e"), ("e", ""), ("es", "s"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class InEnglish:
    """A question in English words; `unknown` are its words that nothing was found for."""

    text: str
    unknown: tuple[str, ...]
    known: int  # telling words that were read


@dataclass(frozen=True, slots=True)
class _Glossary:
    phrases: Mapping[tuple[str, ...], tuple[str, ...]]  # words of the language -> English words to choose from
    stems: Mapping[str, tuple[str, ...]]
    by_length: Mapping[int, Sequence[str]]  # single words, by their length


def in_english(question: str, language: Language, library: LibraryWords) -> InEnglish:
    """Return a question word by word in English, in the library's own words as far as possible."""
    glossary = _glossary(language)
    text = _INVERTED.sub(" ", _ELIDED.sub(r"\1' ", question)) if language is Language.FRENCH else question
    found = [match.group().replace("’", "'") for match in _WORD.finditer(unicodedata.normalize("NFC", text))]
    if language is Language.GERMAN:
        found = _without_prefix(found)
    read: list[str] = []
    unknown: list[str] = []
    known = place = 0
    while place < len(found):
        size, options = _phrase(found, place, glossary)
        word = found[place]
        is_name = word[0].isupper() and word.casefold() in library.counts
        if not word[0].isalpha() or (is_name and not (options and language is Language.GERMAN)):
            read.append(word)
            known += word[0].isalpha()
        elif options or (options := _other_form(word, language, library)):
            chosen = _choose(options, library)
            read.append(_plural(chosen, library) if read[-1:] == ["how many"] else chosen)
            known += not _is_function(found[place : place + size])
        else:
            read.append(word)
            if word.casefold() not in library.common or not library.has(word):
                unknown.append(word)
        place += size
    return InEnglish(text=_joined(read), unknown=tuple(unknown), known=known)


def _without_prefix(found: list[str]) -> list[str]:
    """Leave out the prefix of a German verb at the end of a question: "wann fährt die Fähre ab?"."""
    last = max((place for place, word in enumerate(found) if word[0].isalpha()), default=0)
    return [*found[:last], *found[last + 1 :]] if last and found[last] in _PREFIXES else found


def _phrase(found: Sequence[str], place: int, glossary: _Glossary) -> tuple[int, tuple[str, ...]]:
    for size in range(min(MOST_WORDS, len(found) - place), 0, -1):
        options = glossary.phrases.get(tuple(word.casefold() for word in found[place : place + size]))
        if options is not None:
            return size, options or ("",)
    return 1, ()


def _other_form(word: str, language: Language, library: LibraryWords) -> tuple[str, ...]:
    """Return the English words for another form of a word, its parts, a misspelt one, or one that is spelt alike."""
    lowered, glossary = word.casefold(), _glossary(language)
    for form in (lowered, *([lowered[2:]] if language is Language.GERMAN and lowered.startswith("ge") else ())):
        if (options := glossary.stems.get(_stem(form, language))) is not None:
            return options
    if library.has(word) and not (language is Language.GERMAN and word[0].isupper() and len(word) > SHORTEST_ALIKE):
        return (word,)
    if language is Language.GERMAN and (parts := _parts(lowered, library) or _parts(lowered, library, alike=True)):
        return parts
    if alike := _alike(lowered, language, library):
        return (alike,)
    if len(lowered) >= SHORTEST_ALIKE:
        near = [each for size in (-1, 0, 1) for each in glossary.by_length.get(len(lowered) + size, ())]
        slips = [word for word, *_ in process.extract(lowered, near, scorer=OSA.distance, score_cutoff=1, limit=None)]
        if slips:
            return min((glossary.phrases[(word,)] for word in slips), key=lambda options: _rarity(options, library))
    return (word,) if library.has(word) else ()


def _parts(word: str, library: LibraryWords, *, alike: bool = False) -> tuple[str, ...]:
    """Return a German compound in English: "Ticketschranken", "Gezeitenmodus"."""
    for place in range(len(word) - SHORTEST_PART + 1, SHORTEST_PART - 2, -1):
        last = _part(word[place:], library, alike=alike)
        if not last:
            continue
        for joint in ("", "s", "es", "n", "en", "e"):
            first = word[:place].removesuffix(joint)
            if len(first) < SHORTEST_PART - 1 or not word[:place].endswith(joint):
                continue
            if options := _part(first, library, alike=False) or _parts(first, library):
                return (f"{_choose(options, library)} {_choose(last, library)}",)
    return ()


def _part(word: str, library: LibraryWords, *, alike: bool) -> tuple[str, ...]:
    glossary = _glossary(Language.GERMAN)
    if len(word) < SHORTEST_PART - 1 or word in FUNCTION_WORDS:
        return ()
    for form in (word, f"{word}e"):  # "Schul-", "Fähr-"
        if options := glossary.phrases.get((form,)):
            return options
    if options := glossary.stems.get(_stem(word, Language.GERMAN)):
        return options
    if len(word) >= SHORTEST_PART and word in library.counts:
        return (word,)
    near = _alike(word, Language.GERMAN, library) if alike else None
    return (near,) if near else ()


def _alike(word: str, language: Language, library: LibraryWords) -> str | None:
    """Return the word of the library that differs least from a foreign one, if they share most letters."""
    if len(word) < SHORTEST_ALIKE:
        return None
    bare = _unaccented(word)
    forms = {bare}
    for ending, english in _ENDINGS[language]:
        plain = _unaccented(ending)
        if bare.endswith(plain) and len(bare) - len(plain) >= 3:
            forms.add(bare.removesuffix(plain) + english)
    best: tuple[float, str] | None = None
    for form in forms:
        for near, distance in library.near(form, max(1, int(len(form) * ALIKE))):
            share = distance / max(len(near), len(form))
            if near[:2] == bare[:2] and near in library.counts and share <= ALIKE and (best is None or share < best[0]):
                best = (share, near)
    return best[1] if best else None


def _choose(options: Sequence[str], library: LibraryWords) -> str:
    """Return the first of English words that the library has; else the first."""
    having = (option for option in options if option and all(map(library.has, option.split())))
    return next(having, options[0])


def _rarity(options: tuple[str, ...], library: LibraryWords) -> tuple[bool, int]:
    """Return what a word is compared by that a misspelt one may be: the library's words come first, then usual ones."""
    is_there = any(option and all(map(library.has, option.split())) for option in options)
    return not is_there, _order()[options]


def _plural(word: str, library: LibraryWords) -> str:
    return f"{word}s" if f"{word}s" in library.counts else word


def _is_function(said: Sequence[str]) -> bool:
    return all(word.casefold() in FUNCTION_WORDS for word in said)


def _joined(read: Sequence[str]) -> str:
    text = " ".join(filter(None, read))
    return re.sub(r"\s+([?!.,;:)])", r"\1", text.replace("¿", "").replace("¡", "")).strip()


def _unaccented(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


# ---------------------------------------------------------------------------------------------------------- the file


@cache
def _glossary(language: Language) -> _Glossary:
    phrases: dict[tuple[str, ...], tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    for english, form in _entries(language):
        phrases.setdefault(tuple(form.casefold().split("_")), english)
    for said, english in list(phrases.items()):
        phrases.setdefault(tuple(map(_unaccented, said)), english)
    for said, english in phrases.items():
        if len(said) == 1:
            stems.setdefault(_stem(said[0], language), english)
    by_length: dict[int, list[str]] = {}
    for said in phrases:
        if len(said) == 1 and len(said[0]) >= SHORTEST_ALIKE - 1:
            by_length.setdefault(len(said[0]), []).append(said[0])
    return _Glossary(phrases=phrases, stems=stems, by_length=by_length)


@cache
def _order() -> Mapping[tuple[str, ...], int]:
    """Return the places of English words in the glossary, whose usual words come first."""
    found: dict[tuple[str, ...], int] = {}
    for language in _ORDER:
        for english, _ in _entries(language):
            found.setdefault(english, len(found))
    return found


def _entries(language: Language) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the English words of each entry with each of its forms in a language."""
    for line in files("core.text").joinpath("glossary.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        english, *columns = (column.strip() for column in line.split("|"))
        options = tuple(option.strip() for option in english.split(","))
        for name, column in zip_longest(_ORDER, columns, fillvalue=""):
            if name is language:
                for form in column.split():
                    yield options, form


def _stem(word: str, language: Language) -> str:
    return str(_stemmer(language).stem_word(word))


@cache
def _stemmer(language: Language) -> SnowballStemmer:
    return SnowballStemmer(_SNOWBALL[language])
