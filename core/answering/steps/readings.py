"""The question in the library's own words, for answers without a model: misspelt words, other languages, and
words that complete a question.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from core.answering.answers.sentences import tell_corrections, tell_english
from core.answering.pipeline import Question
from core.answering.steps.everyday import language_of_reply
from core.domain.answer import AnswerStatus, QueryType
from core.domain.conversation import Role
from core.knowledge.vocabulary import Vocabularies
from core.ports import ChatProvider
from core.text.asking import Form, read_asked
from core.text.courtesies import read_courtesies
from core.text.language import Language, language_of
from core.text.spelling import correct

LONGEST = 400  # characters of a question that is read so
# Before and behind the words that complete a question: "oh sorry, I meant the old one".
_SORRY = re.compile(
    r"(?:(?:oh|ah|no|nope|sorry|pardon|entschuldigung|nein|perdón|perdona|désolée?|i mean|i meant|ich meine?|"
    r"ich meinte|quise decir|je voulais dire|je parlais de)\b[ ,.!:–—-]{0,3}){1,4}",
    re.IGNORECASE,
)
_SORRY_LAST = re.compile(r"[ ,]{0,2}\b(?:sorry|i mean|pardon|perdón)$", re.IGNORECASE)
_AROUND = " ,.!?¿¡-–—"


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
        if (whole := _completed(question)) is not None:
            question.asked = asked = replace(asked, text=whole)
        vocabulary = await self._vocabularies.of(scope)
        if not vocabulary.words.counts:
            return
        read = vocabulary.in_english(read_courtesies(asked.text).rest or asked.text, language)
        if read is not None:
            question.asked = replace(asked, text=read.text)
            question.reading = tell_english(read.text, language)
        elif language_of(asked.text) in (None, Language.ENGLISH):
            text, made = correct(asked.text, vocabulary.words)
            question.asked = replace(asked, text=text)
            question.reading = tell_corrections(made, language) if made else ""


def _completed(question: Question) -> str | None:
    """Return the question that was asked back, with the words that complete it: "when was she built" + "the Gull".

    None if the last reply asked nothing back, or the message is a question of its own.
    """
    said = [item for item in question.messages if item.role in (Role.USER, Role.ASSISTANT)]
    text = question.asked.text.strip(_AROUND)
    begun = _SORRY.match(text)
    text = _SORRY_LAST.sub("", text[begun.end() :] if begun is not None else text)
    is_asked_back = len(said) > 1 and said[-1].status == AnswerStatus.CLARIFY and said[-2].role is Role.USER
    if not is_asked_back or not text or read_asked(text).form in (Form.QUESTION, Form.REQUEST):
        return None
    return f"{said[-2].content.rstrip(' ?.!')} {text}?"
