"""Everyday messages, answered in a sentence before anything is searched: greetings, help, the history.

The turn model tells them apart from questions. With a chat model only those are caught that need none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from core.answering.answers.building import bounded
from core.answering.answers.sentences import quoted, say
from core.answering.answers.suggestions import SuggestedQuestions
from core.answering.pipeline import Question
from core.answering.providers.extractive.conversation import asks_more, find_said, is_idle, is_said
from core.answering.redaction import basis_of
from core.domain.answer import Answer, AnswerStatus, Provenance, QueryType
from core.domain.conversation import Message, Role
from core.domain.corpus import Document
from core.domain.incoming import IncomingMessage
from core.domain.turns import EVERYDAY, OF_THE_BOT, Act, Reading, Turn, Utterance, Where
from core.knowledge.library_questions import ListQuestion, read_library_question
from core.ports import AnswerJudge, ChatProvider, CorpusRepository, TurnModel
from core.text.asking import Form, count_telling, points_back, read_asked
from core.text.everyday import LONGEST, asks_behind, is_open, read_everyday
from core.text.language import Language, language_named, language_of
from core.text.words import shorten

MODEL_NAME = "everyday"  # in the answer
NAMED = 12  # documents in a reply
TOLD = 20  # messages of a thread's talk
EXAMPLES = 2
ANY_DAY = date(2000, 1, 1)  # lists of documents depend on no day
LONGEST_REPEATED = 600  # characters of an earlier answer
# Probability of a kind from which a message is no question; of single words, and with a chat model.
LIKELY, SURE = 0.5, 0.9
# The same of kinds that questions to documents sound like: "biggest file it takes by default". Of 3,790 questions to
# public documents 88 got such a reply with LIKELY, and 30 with this. After a search that finds nothing, MAYBE suffices.
NOT_OF_DOCUMENTS = 0.85
TOGETHER = 0.9  # of all kinds: "how come you know all this stuff" may be of several
SUBJECT_WORDS = 2
MAYBE = 0.2  # enough if the documents have no answer
_OF_THE_TALK = frozenset({Act.LAST_QUESTION, Act.LAST_ANSWER, Act.TALK, Act.ORIGIN})
_IN_A_WORD = frozenset({Act.HELP, Act.COMMANDS, Act.EXAMPLE})  # one word that is none of the documents'
# Told only if likely by themselves: they would turn a question away.
_REFUSED = frozenset({Act.OUT_OF_SCOPE, Act.MANIPULATION, Act.COMPLAINT})
_LIKE_QUESTIONS = frozenset({Act.ADDING, Act.COMMANDS, Act.PRIVACY})
_CLAUSE = re.compile(r"[.!?;,]\s+")
_FIRST = re.compile(r"\b(?:first|erste[nrs]?|zuerst|primera?|primero|première?|premier|d'abord)\b", re.IGNORECASE)
_ON_TOPIC = re.compile(
    r"\b(?:any|some)thing (?:about|on)\b|\b(?:et)?was (?:über|zu[mr]?)\b|\balgo sobre\b|\bquelque chose sur\b",
    re.IGNORECASE,
)
# Kinds that a chat model reads better, or should answer itself.
_LEFT_TO_MODELS = frozenset(
    {
        Act.OUT_OF_SCOPE,
        Act.MANIPULATION,
        Act.COMPLAINT,
        Act.TALK,
        Act.LAST_QUESTION,
        Act.LAST_ANSWER,
        Act.LIBRARY,
    }
)


class EverydayReplies:
    """Redacted history, scope -> a short reply to an everyday message, or a question back; it ends the request.

    `after_search` answers where documents don't.
    """

    def __init__(
        self,
        corpus: CorpusRepository,
        suggestions: SuggestedQuestions,
        provider: Callable[[str], ChatProvider],
        turns: TurnModel,
        judge: AnswerJudge,
    ) -> None:
        """`provider` returns the model of a workspace."""
        self._corpus = corpus
        self._suggestions = suggestions
        self._provider = provider
        self._turns = turns
        self._judge = judge

    async def __call__(self, question: Question) -> Answer | None:
        asked = question.asked
        if not _is_plain(asked):
            return None
        provider = self._provider(question.context.scope.workspace)
        quotes_only = provider.capabilities.quotes_only
        language = language_of_reply(question)
        asks_list = isinstance(read_library_question(asked.text, ANY_DAY), ListQuestion)
        if asks_list and quotes_only:
            return None if await self._readable(question) else _reply(say("nothing_here", language))
        kind = None if asks_list else await self._kind(question, quotes_only=quotes_only)
        if kind is Act.UNCLEAR:
            is_first = not _turns(question.messages) and all(is_idle(item.content) for item in question.before)
            is_unclear = quotes_only and is_first and not asked.document
            return _reply(say("unclear", language), AnswerStatus.CLARIFY) if is_unclear else None
        if kind is None or (kind in _LEFT_TO_MODELS and not quotes_only):
            return None
        answer = await self._answer(kind, question, language, "" if quotes_only else provider.name)
        return bounded(answer, question.context.scope.positions) if answer is not None else None

    async def after_search(self, question: Question) -> None:
        """Answer, people's talk before -> `answer` with one of their messages, or a short reply or a question back.

        Without a chat model: a model has read the talk.
        """
        answer, text = question.answer, question.asked.text
        quotes_only = self._provider(question.context.scope.workspace).capabilities.quotes_only
        if answer.status is not AnswerStatus.NOT_FOUND or not quotes_only:
            return
        language = language_of_reply(question)
        said = {item.content: item.author for item in question.before if item.role is Role.USER}
        told = [content for content in said if is_said(content)]
        found = await find_said(text, told, self._judge)
        if found is not None:
            here = quoted([shorten(found[0], LONGEST_REPEATED)], language)
            added = say("said_here", language, who=said[found[0]], text=here)
            question.answer = replace(answer, text=f"{answer.text}\n\n{added}")
        elif told and is_open(text) and len(question.messages) == len(question.before):
            question.answer = _reply(say("unclear", language), AnswerStatus.CLARIFY)
        elif _is_plain(question.asked) and len(text) <= LONGEST:
            shares = (await self._turns.read(_turn(question))).shares
            kind = max(OF_THE_BOT, key=lambda act: shares[act])
            is_told = shares[kind] >= MAYBE and not _is_of_documents(kind, question)
            reply = await self._answer(kind, question, language, "") if is_told else None
            question.answer = bounded(reply, question.context.scope.positions) if reply is not None else answer

    async def _kind(self, question: Question, *, quotes_only: bool) -> Act | None:
        """Return the kind of an everyday message, or UNCLEAR; None for a question."""
        text = question.asked.text
        if (told := read_everyday(text)) is not None:
            return told
        if asks_more(text):
            return None
        reading = await self._turns.read(_turn(question))
        act = reading.if_to_us()
        if self._is_told(act, reading, question, quotes_only=quotes_only):
            return act
        # "Where is the key?": the library may have only one. Words of other languages don't show what points back.
        is_unclear = act is Act.UNCLEAR and (points_back(text) or language_of(text) not in (None, Language.ENGLISH))
        return Act.UNCLEAR if is_open(text) or (is_unclear and not _tells_subject(text)) else None

    @staticmethod
    def _is_told(act: Act, reading: Reading, question: Question, *, quotes_only: bool) -> bool:
        """Return whether a message is surely of an everyday kind, and asks nothing else."""
        text = question.asked.text
        if act not in EVERYDAY or len(text) > LONGEST or (act is Act.MANIPULATION and asks_behind(text)):
            return False
        if _is_of_documents(act, question):
            return False
        asks_whole = read_asked(text).form is Form.QUESTION and not is_open(text)
        if act is Act.OUT_OF_SCOPE and reading.shares[act] < SURE and asks_whole:
            return False  # "what was the weather like in 2025?": unlike an order, it may be about a report
        is_word = " " not in text.strip() and act not in _IN_A_WORD
        if is_word and act not in OF_THE_BOT:
            return False  # "mast": greetings of a word are known
        enough = NOT_OF_DOCUMENTS if act in _LIKE_QUESTIONS else LIKELY
        if reading.shares[act] >= (SURE if is_word or not quotes_only else enough):
            return True
        may_be_several = quotes_only and not is_word and act not in _REFUSED | _LIKE_QUESTIONS
        return may_be_several and sum(reading.shares[kind] for kind in EVERYDAY) >= TOGETHER

    async def _answer(self, kind: Act, question: Question, language: Language, model: str) -> Answer | None:
        if kind in (Act.LAST_QUESTION, Act.LAST_ANSWER):
            return _from_history(kind, question, language)
        if kind is Act.TALK:
            return _talk(question, language)
        if kind in (Act.LIBRARY, Act.EXAMPLE):
            return await self._library(kind, question, language)
        if kind is Act.MODEL:
            return _reply(say("model", language, model=model) if model else say("no_model", language))
        return _reply(say(kind.value, language))

    async def _library(self, kind: Act, question: Question, language: Language) -> Answer:
        scope = question.context.scope
        documents = await self._readable(question)
        if not documents:
            return _reply(say("nothing_here", language))
        basis = Provenance(sources=tuple(sorted(scope.sources)), hidden=tuple(sorted(scope.hidden)))
        if kind is Act.EXAMPLE:
            found = await self._suggestions.about(documents, scope, EXAMPLES)
            lead = say(kind.value, language)
            lines = [lead, *(f"- {example}" for example in found)] if found else [_documents(documents, language)]
            return replace(_reply("\n".join(lines)), rests_on=replace(basis, documents=tuple(found.values())))
        return replace(_reply(_documents(documents, language)), rests_on=basis)

    async def _readable(self, question: Question) -> list[Document]:
        return [item for item in await self._corpus.list_readable(question.context.scope) if item.pages]


def _is_plain(asked: IncomingMessage) -> bool:
    return asked.query_type is QueryType.QUESTION and asked.about is None and not asked.attachments


def _tells_subject(text: str) -> bool:
    """Return whether a question points to words before it: "Somebody took the bike. Is that my problem?"."""
    *before, _ = _CLAUSE.split(text.strip())
    return any(count_telling(clause) >= SUBJECT_WORDS for clause in before)


def _is_of_documents(act: Act, question: Question) -> bool:
    """Return whether a message that seems to be about the bot asks for more than that.

    "How do I change that?" is about the answer before, "anything on frogs?" about frogs.
    """
    text = question.asked.text
    points = act in OF_THE_BOT - _OF_THE_TALK and bool(question.messages) and points_back(text)
    return points or (act is Act.LIBRARY and _ON_TOPIC.search(text) is not None)


def language_of_reply(question: Question) -> Language:
    """Return the channel's language, else the message's, else that of the last question; English for others."""
    named = language_named(question.asked.language)
    before = [item.content for item in question.messages if item.role is Role.USER]
    found = named or language_of(question.asked.text) or next(filter(None, map(language_of, reversed(before))), None)
    return found or Language.ENGLISH


def _reply(text: str, status: AnswerStatus = AnswerStatus.ANSWERED) -> Answer:
    return Answer(status=status, text=text, model=MODEL_NAME)


def _documents(documents: Sequence[Document], language: Language) -> str:
    lines = [f"- {title}" for title in dict.fromkeys(item.title for item in documents)]
    more = [f"- {say('more', language, count=len(lines) - NAMED)}"] * (len(lines) > NAMED)
    return "\n".join([say("documents", language, count=len(documents)), *lines[:NAMED], *more])


def _from_history(kind: Act, question: Question, language: Language) -> Answer:
    """Return the last or first question of the history, or its answer, with the provenance of the history."""
    turns = _turns(question.messages)
    if not turns:
        return _reply(say("nothing_before", language))
    is_first = kind is Act.LAST_QUESTION and _FIRST.search(question.asked.text) is not None
    asked, answered = turns[0 if is_first else -1]
    words: Mapping[str, str] = {
        "question": shorten(asked.content, LONGEST_REPEATED),
        "text": shorten(asked.content if kind is Act.LAST_QUESTION else answered.content, LONGEST_REPEATED),
    }
    return replace(
        _reply(say("first_question" if is_first else kind.value, language, **words)),
        rests_on=basis_of(question.messages),
    )


def _turns(messages: Sequence[Message]) -> list[tuple[Message, Message]]:
    """Return the questions of a history with their answers, without everyday ones."""
    found = []
    asked: Message | None = None
    for message in messages:
        if message.role is Role.USER:
            asked = message
        elif message.role is Role.ASSISTANT and asked is not None and not _is_everyday(message):
            found.append((asked, message))
    return found


def _is_everyday(message: Message) -> bool:
    return message.outcome is not None and message.outcome.model == MODEL_NAME


def _turn(question: Question) -> Turn:
    """Return the message with the history before it."""
    asked, how = question.asked, question.asked.circumstances
    is_private = how.direct or asked.private or not (how.mentioned or how.in_thread)
    return Turn(
        author=asked.author_name or asked.author,
        text=asked.text,
        where=Where.PRIVATE if is_private else Where.THREAD,
        is_named=is_private or how.mentioned,
        before=tuple(
            Utterance(author=None) if item.role is Role.ASSISTANT else Utterance(author=item.author, text=item.content)
            for item in question.messages
            if item.role in (Role.USER, Role.ASSISTANT)
        ),
    )


def _talk(question: Question, language: Language) -> Answer | None:
    """Return the messages of people in the thread since the last answer, word for word; None without any."""
    lines = [f"- {item.author}: {item.content}" for item in question.before if item.role is Role.USER]
    if not lines:
        return None
    return _reply("\n".join([say("talk", language), *lines[-TOLD:]]))
