"""A text as the checks read it: words, stems, language, quantities, dates, negations and names. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from core.domain.passages import Span
from core.text.dates import YEARS_OF_HISTORY, WrittenDate, find_dates
from core.text.glossary import in_english
from core.text.language import Language
from core.text.quantities import Quantity, find_quantities
from core.text.spelling import LibraryWords
from core.text.words import STOPWORDS, tokens, words

_SMALL = STOPWORDS | set(
    "according both either neither according despite although however also even beide alle".split()
)
NAME = re.compile(r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]")
_BEGINNINGS = '.!?:;"“„(*•-'
_BEFORE = 40  # characters looked at
_MARKUP = re.compile(r"\]\([^\s()]*+\)|\([^\s():]{0,12}://[^\s()]*+\)|[*`#>|\[\]]")
_GERMAN = frozenset(
    "der die das und ist ein eine einen nicht den dem des sind wird werden wurde wurden auf mit für von im in zu hat "
    "haben kann können darf dürfen oder als bei nach aus es sich wie sie er ihr ihrem beide keine nur auch noch "
    "pro millionen milliarden prozent jahr jahre menschen zwei drei vier fünf sieben acht neun zehn soll sollen bis "
    "zum zur vom dort hier muss müssen über unter vor zwischen gegen ohne seit rund etwa mehr weniger diese dieser "
    "dieses jede jeder ins gibt hatte hatten kein wer".split()
)
_SPANISH = frozenset(
    "el la los las de que es un una en por para con del no se su sus al son fue fueron está están puede pueden como "
    "más o y lo le dos ser han ha hay sin sobre entre tres cuatro cinco seis siete ocho nueve diez cada hasta desde "
    "cuando era eran había tiene tienen debe deben este esta muy cuyo ni ya también solo sólo todos todas".split()
)
_ENGLISH = frozenset("the a an of to and in is are was were for with that it on as by be this at from".split())
_UMLAUTS = re.compile(r"[äöüß]")
_ACCENTS = re.compile(r"[ñáíóú¿¡]")
NEGATIONS = frozenset(
    "no not never none nobody nothing neither nor without cannot hardly nowhere n't kein keine keinen keiner keinem "
    "nicht nie niemals niemand nichts ohne ningún ninguna ningun nunca nadie nada sin tampoco".split()
)


def _begins_sentence(before: str) -> bool:
    """Whether a sentence, line, quotation or list item begins behind these characters."""
    bare = before.rstrip()
    return not bare or "\n" in before[len(bare) :] or bare[-1] in _BEGINNINGS


class Text:
    """A text, read once for all checks."""

    def __init__(self, text: str) -> None:
        self.written = text
        self.text = _MARKUP.sub(" ", text)

    @cached_property
    def words(self) -> list[str]:
        return words(self.text.replace("’", "'"))

    @cached_property
    def stems(self) -> set[str]:
        return set(tokens(self.text))

    @cached_property
    def language(self) -> str:
        counts = {
            code: sum(word in known for word in self.words)
            for code, known in (("en", _ENGLISH), ("de", _GERMAN), ("es", _SPANISH))
        }
        counts["de"] += bool(_UMLAUTS.search(self.text))
        counts["es"] += bool(_ACCENTS.search(self.text))
        return max(counts, key=lambda code: counts[code])

    @cached_property
    def quantities(self) -> list[Quantity]:
        return list(_joined(find_quantities(self.text), self.text))

    @cached_property
    def dates(self) -> list[WrittenDate]:
        return find_dates(self.text, years=YEARS_OF_HISTORY)

    @cached_property
    def negations(self) -> int:
        return sum(word in NEGATIONS or word.endswith("n't") for word in self.words)

    @cached_property
    def names(self) -> list[str]:
        found = _names(self.text, self.language)
        return [name for place, name in found if not any(q.span.start <= place < q.span.end for q in self.quantities)]


_READ = {"de": Language.GERMAN, "es": Language.SPANISH}


def in_one_language(said: Text, quotes: Sequence[str]) -> tuple[str, list[str]]:
    """Return a sentence and quotes in English: as they are, or read word by word from German or Spanish."""
    evidence = Text("\n".join(quotes))
    shared = evidence.words if evidence.language == "en" else said.words if said.language == "en" else []
    read = [_in_english(quote, evidence.language, shared) for quote in quotes]
    return _in_english(said.text, said.language, shared or words(" ".join(read))), read


def _in_english(text: str, language: str, library: Sequence[str]) -> str:
    if language not in _READ:
        return text
    return in_english(text, _READ[language], LibraryWords(counts=Counter(library))).text


_BETWEEN = re.compile(r"(?P<unit>[^\W\d_]*+)[ ,]*(?:and|und|y)?")


def _joined(found: Sequence[Quantity], text: str) -> Iterable[Quantity]:
    """Join amounts in two units: "three minutes and 28 seconds"."""
    last: Quantity | None = None
    for quantity in found:
        if (
            last is not None
            and last.dimension == quantity.dimension
            and last.dimension in ("time", "length", "mass")
            and last.factor > quantity.factor
            and quantity.values[0] * quantity.factor < last.factor
            and (between := _BETWEEN.fullmatch(text[last.span.end : quantity.span.start].strip()))
            and between["unit"].lower() in ("", last.unit)
        ):
            value = last.values[0] * last.factor / quantity.factor + quantity.values[0]
            last = replace(quantity, span=Span(last.span.start, quantity.span.end), values=(value,))
            continue
        if last is not None:
            yield last
        last = quantity
    if last is not None:
        yield last


def _names(text: str, language: str) -> Iterable[tuple[int, str]]:
    """(place, word) of words with a capital that no start of a sentence explains; German has too many to tell."""
    found = list(NAME.finditer(text))
    for place, match in enumerate(found):
        word = match.group()
        if not word[0].isupper() or len(word) < 2:
            continue
        has_inner = any(c.isupper() for c in word[1:])
        if language == "de" and not has_inner:
            continue
        starts = _begins_sentence(text[max(0, match.start() - _BEFORE) : match.start()])
        follows = place + 1 < len(found) and found[place + 1].group()[0].isupper()
        if starts and not has_inner and (not follows or word.lower() in _SMALL) and not word.endswith(("'s", "’s")):
            continue
        yield match.start(), re.sub(r"['’]s?$", "", word)
