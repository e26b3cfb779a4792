"""How well the library covers a question, in milliseconds: the judge over the best passages of a search."""

from core.access.scopes import Access
from core.domain.corpus import SearchQuery, SearchScope
from core.domain.incoming import IncomingMessage
from core.knowledge.facts.lookup import Facts
from core.knowledge.facts.table_words import names, read_table_question
from core.knowledge.vocabulary import Vocabularies
from core.ports import AnswerJudge, CorpusRepository, SearchIndex
from core.text.language import Language, language_of
from core.text.words import STOP_WORDS, tokens, words

PASSAGES = 2  # judged
LOOKED_AT = 3  # passages whose tables are read; for another language than the judge's, their words are compared
TELLING_LETTERS = 4  # of a word that names a subject
BY_WORDS = 0.5  # the coverage of a question whose telling word is in a passage


class Coverage:
    def __init__(
        self,
        index: SearchIndex,
        corpus: CorpusRepository,
        judge: AnswerJudge,
        access: Access,
        vocabularies: Vocabularies,
        facts: Facts,
    ) -> None:
        self._access = access
        self._vocabularies = vocabularies
        self._index = index
        self._corpus = corpus
        self._judge = judge
        self._facts = facts

    async def of_message(self, incoming: IncomingMessage, question: str) -> float:
        """Return `of` a question in a message, within the scope of its place."""
        address = incoming.address
        scope = await self._access.scope(address.workspace, address, reader=incoming.author)
        return await self.of(question, scope)

    async def of(self, question: str, scope: SearchScope) -> float:
        """Return 0..1: the relevance of the best passage, or 1 if a table answers.

        The judge reads English only: a question of another language to an English library is read word by word; else a
        name or number that a passage has counts instead. Raises the errors of the index and the judge.
        """
        language = language_of(question)
        if language not in (None, Language.ENGLISH):
            read = (await self._vocabularies.of(scope)).in_english(question, language)
            question, language = (read.text, Language.ENGLISH) if read is not None else (question, language)
        hits = await self._index.search(SearchQuery(text=question, limit=LOOKED_AT), scope)
        found = await self._corpus.list_passages([hit.passage_id for hit in hits], scope)
        texts = [item.passage.text for item in found]
        if not texts:
            return 0.0
        if language not in (None, Language.ENGLISH):
            return BY_WORDS if self._shares_words(question, texts) else 0.0
        best = max(await self._judge.relevance(question, texts[:PASSAGES]))
        of_table = read_table_question(question)
        if of_table is None or best >= BY_WORDS:
            return best
        if not {*of_table.distinct, of_table.entity} - {""} <= names(" ".join(texts)):
            return best  # "which tractor is the oldest?": the rows may be of presses
        pages = list(dict.fromkeys(hit.page_id for hit in hits))
        return best if await self._facts.compute(of_table, pages, scope) is None else 1.0

    @staticmethod
    def _shares_words(question: str, texts: list[str]) -> bool:
        telling = {word for word in words(question) if len(word) >= TELLING_LETTERS and word not in STOP_WORDS}
        there = {token for text in texts for token in tokens(text)}
        return any(token in there for word in telling for token in tokens(word))
