"""A provider without a language model: it searches, picks the sentences that answer, and quotes them with footnotes.

It keeps nothing between calls, because the request has the question and its searches. In a turn it searches; without an
answer, it searches again in other words; for lists and summaries it reads the page; then it quotes, or finds nothing.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest

from core.answering.answers.building import ROW_END, join_answers, table
from core.answering.answers.sentences import has_sentence, quoted, say
from core.answering.providers.extractive.conversation import (
    Query,
    asked_before,
    asks_more,
    in_talk,
    is_rather_said,
    last_quoted,
    part_queries,
    queries,
    quote_next,
    statement_asked_about,
)
from core.answering.providers.extractive.evidence import CLOSEST_FROM, answering
from core.answering.providers.extractive.lists import (
    announcing,
    asks_several,
    introduced,
    items_around,
    items_for,
    leads,
    openings,
)
from core.answering.providers.extractive.parts import RequestKind, parts_of, request_kind
from core.answering.providers.extractive.quotes import (
    NEW_LINE,
    Found,
    Quote,
    by_place,
    far_from_best,
    figures_head,
    find_quotes,
    in_block,
    of_one_document,
    place_of,
    rank_passages,
    shown_items,
    text_of,
)
from core.answering.providers.extractive.rows import read_rows
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolInvocation
from core.domain.corpus import Document, SourcedPassage
from core.domain.kept_answers import SAID_KINDS
from core.domain.passages import Span
from core.domain.replies import ChatResponse, CitedText, PassageCitation, StopReason
from core.knowledge.asides import without_reading
from core.knowledge.covering import one_by_one
from core.knowledge.library_questions import latest_asked
from core.knowledge.links import spoken
from core.knowledge.search.searching import find_named
from core.ports import AnswerJudge, SentenceRanker
from core.text.asking import is_follow_up
from core.text.language import Language, language_named
from core.text.markup import readable
from core.text.words import shorten

SEARCH_LIMIT = 10  # pages
FIRST_OF_WORDING = 2  # passages by which one of several wordings is chosen
LIST_DOCUMENTS = "list_documents"
_LISTED = re.compile(r'- (.+?): "')  # a document in the result of that tool
# In a conversation, from this score on no second reading is tried, and a second one has to be better by so much. With 2
# or 0 every answer of three sets and the rooms was the same, and a tenth more was judged; without any, three were lost.
SURE_IN_CONVERSATION = -2.0
SECOND_READING_BY = 1.0
# A second quote is added if it is nearly as good (logits), and the answer stays short (characters).
SECOND_WITHIN = 6.0
SECOND_FROM = -3.0
ANSWER_CHARACTERS = 900
CLOSEST = 2  # passages named if nothing answers
LABEL_CHARACTERS = 60
_PIECE = re.compile(r"\s*\S+|\s+$")  # a word, the size in which a model streams


class ExtractiveProvider:
    """Quotes, never writes (implements ports.ChatProvider). It needs the `search` tool; `get_page` helps with lists."""

    name = "extractive"
    capabilities = Capabilities(tools=True, citations=True, quotes_only=True)

    def __init__(self, *, ranker: SentenceRanker, judge: AnswerJudge) -> None:
        self._ranker = ranker
        self._judge = judge

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """Return tool calls or the answer. Raises the errors of the ranker and the judge (ModelMissing)."""
        turn = _Turn(request)
        if turn.latest is not None and not turn.calls(LIST_DOCUMENTS) and turn.may_call(LIST_DOCUMENTS):
            latest = {"words": turn.latest.words, "until": "today", "limit": turn.latest.count}
            return self._call(turn, LIST_DOCUMENTS, latest)
        names_each = turn.calls("search") and turn.named_apart != turn.question
        if names_each and len(turn.named) > 1 and (in_each := await self._in_documents(turn, on_text)) is not None:
            return in_each
        if len(turn.parts) > 1 and (in_parts := await self._in_parts(turn, on_text)) is not None:
            return in_parts
        if (quoted := turn.place_to_continue) is not None:
            return self._continue(turn, quoted, on_text)
        if not turn.calls("search") and turn.may_call("search"):
            search = {"query": turn.queries[0].search, "limit": SEARCH_LIMIT}
            inside = [{**search, "document": path} for path in turn.listed]
            return self._call(turn, "search", *(inside or self._search(turn, turn.queries[0])))
        if turn.listed and turn.kind is RequestKind.SUMMARY and turn.found:
            return self._say(_summaries(turn), on_text)
        if len(turn.named) > 1 and (in_each := await self._in_documents(turn, on_text)) is not None:
            return in_each
        found, answers = await self._read(turn)
        is_weak = not answers or (bool(turn.history) and answers[0].score < SURE_IN_CONVERSATION)
        is_weak = is_weak or answers[0].is_told(turn.told)
        is_last = bool(answers) and turn.tried > 1 and not answers[0].is_told(turn.told)
        if is_weak and not is_last and not turn.listed and turn.may_search_again:
            return self._call(turn, "search", *self._search(turn, turn.queries[turn.tried]))
        is_question = turn.kind is RequestKind.QUESTION and not turn.is_about_statement
        if answers and is_question and await is_rather_said(turn.question, turn.history, answers[0].score, self._judge):
            found, answers = Found(), ()
        whole = answers and (not is_question or asks_several(turn.question) or answers[0].introduces)
        if whole and not turn.calls("get_page") and turn.may_call("get_page"):
            first = _chosen(turn, answers)[0]
            return self._call(turn, "get_page", {"page_id": first.source.passage.page_id})
        segments = (*_quoted(_chosen(turn, answers)), *_note(turn)) if answers else _not_found(turn, found)
        return self._say(segments, on_text)

    async def close(self) -> None:
        """Do nothing: the caller owns the models."""

    async def _in_parts(self, turn: "_Turn", on_text: Callable[[str], None] | None) -> ChatResponse | None:
        """Quote each part of a question, and name the parts without an answer; None if the parts don't answer."""
        asked = part_queries(turn.parts, turn.question, asked_before(turn.history))
        searches = list(dict.fromkeys(query.search for readings in asked for query in readings))
        if not turn.calls("search") and turn.may_call("search"):
            return self._call(turn, "search", *({"query": search, "limit": SEARCH_LIMIT} for search in searches))
        if len(turn.searched) != len(searches):
            return None
        found_by = dict(zip(searches, turn.searched, strict=True))
        named = find_named(turn.question, {item.document.id: item.document for item in turn.found}.values())
        answering = [list[Quote]() for _ in asked]
        for readings, quotes_of in zip(asked, answering, strict=True):
            for query in readings:
                found = found_by[query.search]
                # Of the document that the whole question names, if that answers: a part rarely repeats the name.
                own = [one for one in found if named and one.document.id in named.document_ids]
                _, of_named = await self._answers(query.judged, query, own)
                quotes_of += of_named or (await self._answers(query.judged, query, found))[1]
        chosen = of_one_document(answering)
        missing = [part for part, best in zip(turn.parts, chosen, strict=True) if best is None]
        quotes: list[Quote] = []
        for best in chosen:
            if best is not None and not any(best.is_within(quote) for quote in quotes):
                quotes = [*(quote for quote in quotes if not quote.is_within(best)), best]
        if not quotes:
            return None
        answers = [(each.source.document.title, _quoted(introduced(each, turn.passages) or [each])) for each in quotes]
        told = [("", (CitedText(text=turn.say("part_not_found", part=turn.quoted([part]))),)) for part in missing]
        return self._say((*join_answers([*answers, *told]), *_note(turn)), on_text)

    async def _read(self, turn: "_Turn") -> tuple[Found, Sequence[Quote]]:
        """Return the results and the quotes that answer: of a follow-up's readings, from the best one."""
        readings = list(zip(turn.queries, turn.results, strict=False))
        if not turn.history or turn.listed or turn.tried > len(turn.queries) or len(readings) < 2:
            readings = [(turn.current_query, turn.found)]
        found, answers = Found(), list[Quote]()
        far = set[str]()
        for query, passages in readings:  # an earlier reading is rather meant
            if query.others:
                query, passages = await self._nearest(turn, query)
            passages = [item for item in passages if item.passage.id not in far]
            each, quotes = await self._answers(turn.question, query, passages, turn.told, turn.talked_of)
            is_better = bool(answers and quotes) and quotes[0].score > answers[0].score + SECOND_READING_BY
            if not answers or is_better:
                found, answers = each, list(quotes)
            if not query.others:
                far |= far_from_best(each)
        return found, in_talk(turn.question, answers, turn.history, turn.last_answer)

    async def _nearest(self, turn: "_Turn", query: Query) -> tuple[Query, list[SourcedPassage]]:
        """Return the wording of a reading, and its passages, whose first passages answer it best."""
        best = -math.inf
        chosen, passages = query, list[SourcedPassage]()
        for wording in (query.judged, *query.others):
            found = turn.found_by.get(wording, [])
            ranked = await rank_passages(wording, by_place(found)[:FIRST_OF_WORDING], self._judge, turn.talked_of)
            if ranked and ranked[0][1] > best:
                best, chosen, passages = ranked[0][1], Query(wording, wording), found
        return chosen, passages

    def _continue(self, turn: "_Turn", quoted: SourcedPassage, on_text: Callable[[str], None] | None) -> ChatResponse:
        """Quote the sentences that follow the last quote: of its page, and behind its end of the next one."""
        if not turn.pages:
            # From the quote on: `get_page` cuts long pages.
            return self._call(
                turn, "get_page", {"page_id": quoted.passage.page_id, "offset": quoted.passage.span.start}
            )
        page, *following = turn.pages
        further = quote_next(page, turn.last_answer)
        if not further and not following:
            after = {"document": quoted.document.path, "page_number": quoted.passage.page_number + 1}
            return self._call(turn, "get_page", after)
        further = further or [quote for next_page in following for quote in quote_next(next_page, "")]
        return self._say((*_quoted(further), *_note(turn)) if further else _not_found(turn, Found()), on_text)

    async def _in_documents(self, turn: "_Turn", on_text: Callable[[str], None] | None) -> ChatResponse | None:
        """Quote each document that a question names, and name those without an answer; None if none has one."""
        paths = [document.path for document in turn.named]
        inside = [place for place, call in enumerate(turn.calls("search")) if call.arguments.get("document") in paths]
        if not inside and turn.may_call("search"):
            search = {"query": turn.question, "limit": SEARCH_LIMIT}
            return self._call(turn, "search", *({**search, "document": path} for path in paths))
        segments: list[CitedText] = []
        silent: list[str] = []
        query = Query(turn.question, turn.question)
        searched = turn.searched
        for document in turn.named:
            own = [item for place in inside for item in searched[place] if item.document.id == document.id]
            _, answers = await self._answers(turn.question, query, own)
            if answers:
                segments.append(CitedText(text=f"{NEW_LINE * 2 if segments else ''}**{document.title}**:{NEW_LINE}"))
                segments += _quoted(answers[:1])
            else:
                silent.append(document.title)
        if not segments:
            return None
        told = "".join(f"\n\n{turn.say('silent_document', title=turn.quoted([title]))}" for title in silent)
        return self._say((*segments, *((CitedText(text=told),) if told else ()), *_note(turn)), on_text)

    async def _answers(
        self,
        question: str,
        query: Query,
        given: Sequence[SourcedPassage],
        told: str = "",
        talked_of: SourcedPassage | None = None,
    ) -> tuple[Found, Sequence[Quote]]:
        """Return the results in `given` and the quotes that answer; of messages of people if documents have none."""
        written = [item for item in given if item.document.kind not in SAID_KINDS]
        found = await find_quotes(query.judged, written, self._ranker, self._judge, told, talked_of)
        answers = answering(question, found)
        if answers or len(written) == len(given):
            return found, answers
        found = await find_quotes(query.judged, given, self._ranker, self._judge, told, talked_of)
        return found, answering(question, found)

    def _search(self, turn: "_Turn", query: Query) -> list[dict[str, object]]:
        """Return the searches of a reading: everywhere, and in the document that the last answer quoted."""
        searches: list[dict[str, object]] = [
            {"query": wording, "limit": SEARCH_LIMIT} for wording in (query.search, *query.others)
        ]
        inside = [{**search, "document": turn.talked_of.document.path} for search in searches] if turn.talked_of else []
        return [*searches, *inside]

    def _call(self, turn: "_Turn", name: str, *arguments: dict[str, object]) -> ChatResponse:
        calls = tuple(
            ToolInvocation(id=f"{name}-{place}", name=name, arguments=given)
            for place, given in enumerate(arguments, start=len(turn.calls(name)) + 1)
        )
        return ChatResponse(tool_invocations=calls, stop_reason=StopReason.TOOLS, model=self.name)

    def _say(self, segments: tuple[CitedText, ...], on_text: Callable[[str], None] | None) -> ChatResponse:
        if on_text is not None:
            for piece in _PIECE.findall("".join(segment.text for segment in segments)):
                on_text(piece)
        return ChatResponse(segments=segments, model=self.name)


class _Turn:
    """The question being answered, and its tool calls so far, as the request has them."""

    def __init__(self, request: ChatRequest) -> None:
        asked = max((i for i, message in enumerate(request.messages) if message.role is ChatRole.USER), default=-1)
        self._request = request
        self._language = language_named(request.language) or Language.ENGLISH
        self._since = request.messages[asked + 1 :]
        self.history: Sequence[ChatMessage] = request.messages[: max(asked, 0)]
        text = request.messages[asked].text if asked >= 0 else ""
        asked_for = without_reading(spoken(text) if "[[" in text else text)
        said = statement_asked_about(asked_for, self.history)
        self.is_about_statement = said is not None
        self.question = said or asked_for
        self.kind = request_kind(self.question, request.system)
        quoted_before = self.last_answer if self.talked_of is not None else ""
        self.queries = queries(self.question, self.history, quoted_before, is_statement=self.is_about_statement)
        self.parts = parts_of(self.question) if self.kind is RequestKind.QUESTION else [self.question]
        self.latest = latest_asked(self.question)
        self.named_apart = one_by_one(self.question, "in ")  # "of Meeting 77 and in Meeting 79"

    def say(self, name: str, **values: object) -> str:
        """Return a sentence of sentences.toml in the asker's language."""
        return say(name, self._language, **values)

    def quoted(self, texts: Iterable[str]) -> str:
        return quoted(texts, self._language)

    def calls(self, name: str) -> list[ToolInvocation]:
        return [call for message in self._since for call in message.tool_invocations if call.name == name]

    def may_call(self, name: str) -> bool:
        named = any(tool.name == name for tool in self._request.tools)
        return named and self._request.tool_choice is not ToolChoice.NONE

    @property
    def may_search_again(self) -> bool:
        return self.tried < len(self.queries) and self.may_call("search")

    @property
    def tried(self) -> int:
        """The number of queries that were searched."""
        return len(self.results)

    @property
    def listed(self) -> list[str]:
        """Paths of the documents that the question is limited to by "the last two", the newest first."""
        results = [result for message in self._since for result in message.tool_results]
        lines = [line for item in results if item.name == LIST_DOCUMENTS for line in item.text.splitlines()]
        paths = [found[1] for line in lines if (found := _LISTED.match(line))]
        return paths[: self.latest.count] if self.latest is not None else []

    @property
    def named(self) -> list[Document]:
        """Two or more documents that the question names, by path; [] for one, and for lists and summaries."""
        found = {item.document.id: item.document for item in self.found}
        named = find_named(self.named_apart, found.values())
        if named is None or self.listed or self.kind is not RequestKind.QUESTION:
            return []
        return sorted((found[id] for id in named.document_ids), key=lambda document: document.path)

    @property
    def current_query(self) -> Query:
        """The query of the last search."""
        return self.queries[min(max(self.tried, 1), len(self.queries)) - 1]

    @property
    def found(self) -> list[SourcedPassage]:
        """Passages of this turn's searches, the last search first; without any, of earlier turns."""
        results = [result for message in self._since for result in message.tool_results if result.name != "get_page"]
        if not results:
            results = [result for message in self.history for result in message.tool_results]
        return [item.source for result in reversed(results) for item in result.passages]

    @property
    def searched(self) -> list[list[SourcedPassage]]:
        """Passages of each search of this turn, in the order of the calls."""
        results = {item.invocation_id: item for message in self._since for item in message.tool_results}
        made = [results[call.id] for call in self.calls("search") if call.id in results]
        return [[item.source for item in (*result.passages, *result.shown_before)] for result in made]

    @property
    def found_by(self) -> dict[object, list[SourcedPassage]]:
        """Passages of each search's query, in turn from its searches."""
        by_query: dict[object, list[list[SourcedPassage]]] = {}
        for call, passages in zip(self.calls("search"), self.searched, strict=False):
            by_query.setdefault(call.arguments.get("query"), []).append(passages)
        return {
            query: [item for places in zip_longest(*lists) for item in places if item is not None]
            for query, lists in by_query.items()
        }

    @property
    def results(self) -> list[list[SourcedPassage]]:
        """Passages of each reading, without those of its other wordings."""
        others = {wording for query in self.queries for wording in query.others}
        return [passages for query, passages in self.found_by.items() if query not in others]

    @property
    def pages(self) -> list[list[SourcedPassage]]:
        """Passages of each page that `get_page` returned; none of one that isn't there."""
        read = [result for message in self._since for result in message.tool_results if result.name == "get_page"]
        return [[item.source for item in (*result.passages, *result.shown_before)] for result in read]

    @property
    def passages(self) -> list[SourcedPassage]:
        """All of `found`, and the page that `get_page` returned."""
        return [*self.found, *(item for page in self.pages for item in page)]

    @property
    def last_answer(self) -> str:
        said = (turn.text for turn in reversed(self.history) if turn.role is ChatRole.ASSISTANT and turn.text.strip())
        return readable(next(said, ""))

    @property
    def told(self) -> str:
        """The last answer, of a follow-up that asks for something else."""
        return self.last_answer if is_follow_up(self.question) and not self.is_about_statement else ""

    @property
    def talked_of(self) -> SourcedPassage | None:
        """The last passage that the last answer quotes."""
        return last_quoted(self._seen, self.last_answer)

    @property
    def _seen(self) -> list[SourcedPassage]:
        """Passages of earlier turns."""
        results = [result for turn in self.history for result in turn.tool_results]
        return [item.source for result in results for item in (*result.passages, *result.shown_before)]

    @property
    def place_to_continue(self) -> SourcedPassage | None:
        """The last passage that the last answer quotes, if more of it is asked for: "tell me more"."""
        if not asks_more(self.question) or not self.may_call("get_page"):
            return None
        return self.talked_of

    @property
    def noted(self) -> bool:
        return any(has_sentence("quotes_note", message.text) for message in self.history)


def _chosen(turn: _Turn, quotes: Sequence[Quote]) -> list[Quote]:
    best = quotes[0]
    if turn.kind is RequestKind.SUMMARY:
        return leads(best, turn.passages, turn.question)
    best = announcing(turn.question, best)
    if items := introduced(best, turn.passages):
        return items
    is_list = turn.kind is RequestKind.LIST
    if is_list and (items := items_for(turn.question, turn.passages, best)):
        return items
    if not is_list and asks_several(turn.question) and (items := items_around(turn.question, turn.passages, best)):
        return items
    lists = asks_several(turn.question)
    best = in_block(best, lists=lists)
    second = next((in_block(quote, lists=lists) for quote in quotes[1:] if not quote.overlaps(best)), None)
    if second is None or second.logit < max(best.logit - SECOND_WITHIN, SECOND_FROM):
        return [best]
    if len(best.text) + len(second.text) > ANSWER_CHARACTERS:
        return [best]
    return [best, *(introduced(second, turn.passages) or [second])]


def _summaries(turn: _Turn) -> tuple[CitedText, ...]:
    """Return the beginnings of the sections of each listed document, below its title."""
    segments: list[CitedText] = []
    for path in turn.listed:
        own = [source for source in turn.found if source.document.path == path]
        if own:
            title = f"{NEW_LINE * 2 if segments else ''}**{own[0].document.title}**:{NEW_LINE}"
            segments += [CitedText(text=title), *_quoted(openings(own), as_list=True)]
    return (*segments, *_note(turn))


def _note(turn: _Turn) -> tuple[CitedText, ...]:
    return () if turn.noted else (CitedText(text=f"\n\n{turn.say('quotes_note')}"),)


def _quoted(quotes: Sequence[Quote], *, as_list: bool = False) -> tuple[CitedText, ...]:
    """Return a segment for each quote; rows of a table as a table, below the names of its columns."""
    many = as_list or len(quotes) > 2
    segments: list[CitedText] = []
    headed: set[Span] = set()
    for columns, group in groupby(quotes, key=_columns_of):
        after_table = bool(segments) and segments[-1].text == ROW_END
        between = NEW_LINE if many and not columns and not after_table else NEW_LINE * 2
        if columns:
            rows = [(found.rows, _claim(quote)) for quote in group if (found := read_rows(quote)) is not None]
            segments += table(columns[1:], rows, between if segments else "")
            continue
        for quote in group:
            if (head := figures_head(quote.source, quote.span)) is not None and head not in headed:
                headed.add(head)
                lines = filter(None, map(readable, text_of(quote.source, head).splitlines()))
                citation = PassageCitation(
                    passage_id=quote.source.passage.id, span=head, cited_text=text_of(quote.source, head)
                )
                text = f"{between if segments else ''}{NEW_LINE.join(lines)}"
                segments.append(CitedText(text=text, citations=(citation,)))
                between = NEW_LINE
            for shown in shown_items(quote.source, quote.sentences, as_list=many):
                text = f"{between if segments else ''}{shown}"
                segments.append(CitedText(text=text, citations=(_claim(quote),)))
                between = NEW_LINE
            between = NEW_LINE if many else NEW_LINE * 2
    return tuple(segments)


def _columns_of(quote: Quote) -> tuple[str, ...]:
    """Return the page and the columns' names of quoted rows; () for other quotes."""
    found = read_rows(quote)
    return (quote.source.passage.page_id, *found.columns) if found is not None else ()


def _claim(quote: Quote) -> PassageCitation:
    return PassageCitation(passage_id=quote.source.passage.id, span=quote.span, cited_text=quote.text)


def _not_found(turn: _Turn, found: Found) -> tuple[CitedText, ...]:
    places = dict.fromkeys(place_of(source) for source, logit in found.passages if logit > CLOSEST_FROM)
    closest = turn.quoted(shorten(place, LABEL_CHARACTERS).replace(". ", " ") for place in list(places)[:CLOSEST])
    text = turn.say("not_found_closest", places=closest) if closest else turn.say("not_found")
    return (CitedText(text=text),)
