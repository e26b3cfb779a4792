"""The question in the library's own words, for answers without a model: misspelt words, and other languages."""

import re
from collections.abc import Callable
from dataclasses import replace

from core.answering.answers.sentences import tell_corrections, tell_english
from core.answering.pipeline import Question
from core.answering.steps.everyday import language_of_reply
from core.domain.answer import QueryType
from core.knowledge.vocabulary import Vocabularies, Vocabulary
from core.ports import ChatProvider
from core.text.courtesies import read_courtesies
from core.text.glossary import InEnglish, in_english
from core.text.language import FUNCTION_WORDS, Language, language_of
from core.text.spelling import correct

LONGEST = 400  # characters of a question that is read so
_WORD = re.compile(r"[^\W\d_]{2,}")
_OTHERS = tuple(language for language in Language if language is not Language.ENGLISH)


class LibraryReading:
    """Question, scope -> `asked` in the library's words, `reading` with a sentence about it, and their language.

    A model reads the question as it is.
    """

    def __init__(self, vocabularies: Vocabularies, provider: Callable[[str], ChatProvider]) -> None:
        """`provider` returns the model of a workspace."""
        self._vocabularies = vocabularies
        self._provider = provider

    async def __call__(self, question: Question) -> None:
        asked, scope = question.asked, question.context.scope
        if not self._provider(scope.workspace).capabilities.quotes_only:
            return
        language = language_of_reply(question)
        question.asked = asked = replace(asked, language=language.value)
        is_plain = asked.query_type is QueryType.QUESTION and len(asked.text) <= LONGEST and "[[" not in asked.text
        if not is_plain or asked.about is not None or asked.attachments:
            return
        vocabulary = await self._vocabularies.of(scope)
        if not vocabulary.words.counts:
            return
        read = _in_english(read_courtesies(asked.text).rest or asked.text, language, vocabulary)
        if read is not None:
            question.asked = replace(asked, text=read.text)
            question.reading = tell_english(read.text, language)
        elif language_of(asked.text) in (None, Language.ENGLISH):
            text, made = correct(asked.text, vocabulary.words)
            question.asked = replace(asked, text=text)
            question.reading = tell_corrections(made, language) if made else ""


def _in_english(text: str, language: Language, vocabulary: Vocabulary) -> InEnglish | None:
    """Return a question of another language in English, if the library is in English; None for others."""
    written = language_of(text)
    if written is not None and written is not Language.ENGLISH:
        return in_english(text, written, vocabulary.words) if _is_foreign(text, written, vocabulary) else None
    said = _WORD.findall(text)
    if written is Language.ENGLISH or all(map(vocabulary.words.is_spelt, said)):
        return None
    # Words without a sign of their language: "solaire". In a conversation in a language, they are of it.
    for candidate in sorted(_OTHERS, key=lambda one: one is not language):
        if _is_foreign(text, candidate, vocabulary):
            read = in_english(text, candidate, vocabulary.words)
            if read.known and not read.unknown:
                return read
    return None


def _is_foreign(text: str, language: Language, vocabulary: Vocabulary) -> bool:
    """Return whether the library has no documents in a language, or few words of a question in it."""
    if language not in vocabulary.languages:
        return True
    telling = [word for word in _WORD.findall(text) if word.casefold() not in FUNCTION_WORDS]
    return 2 * sum(map(vocabulary.words.has, telling)) < len(telling)
