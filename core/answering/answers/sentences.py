"""Footnote's own sentences around quotes and answers, in the asker's language. Quotes stay as they are written."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from core.domain.incoming import IncomingMessage
from core.text.language import Language, language_named, language_of
from core.text.spelling import Correction

_SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files("core.answering.answers").joinpath("sentences.toml").read_text(encoding="utf-8")
)


def say(name: str, language: Language = Language.ENGLISH, **values: object) -> str:
    """Return a sentence of sentences.toml with its values. KeyError for an unknown name or a missing value."""
    return _SENTENCES[name][language].format(**values)


def has_sentence(name: str, text: str) -> bool:
    """Return whether a text has a sentence without values, in any language."""
    return any(sentence in text for sentence in _SENTENCES[name].values())


def without_quotes_note(text: str) -> str:
    """Return a text without the note about quotes, which the frame of each web page has."""
    for note in _SENTENCES["quotes_note"].values():
        text = text.replace(f"\n\n{note}", "")
    return text.rstrip()


def language_for(message: IncomingMessage) -> Language:
    """Return the language that is set for a message, else that of its text; English for others."""
    return language_named(message.language) or language_of(message.text) or Language.ENGLISH


def quoted(texts: Iterable[str], language: Language, between: str | None = None) -> str:
    """Return texts in quotation marks of a language, joined by "and" or by `between`."""
    marked = [say("quoted", language, text=text) for text in texts]
    return (say("and", language) if between is None else between).join(marked)


def tell_corrections(made: Sequence[Correction], language: Language) -> str:
    """Return the sentence about misspelt words: "I read “tiket” as “ticket”."."""
    link = f" {say('read_as', language)} "
    words = dict.fromkeys(quoted((item.typed, item.read), language, link) for item in made)
    return say("read_words", language, words=", ".join(words))


def tell_english(text: str, language: Language) -> str:
    """Return the sentence about a question that was read in English."""
    return say("read_in_english", language, text=quoted([text], language))
