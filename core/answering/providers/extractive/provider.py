"""A provider without a language model: it searches, picks the sentences that answer, and quotes them with footnotes.

It keeps nothing between calls, because the request has the question and its searches. In a turn it searches; without an
answer, it searches again in other words; for lists and summaries it reads the page; then it quotes, or finds nothing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.answering.providers.extractive.cues import (
    CONNECTIVE,
    EXPLETIVE,
    HELLO,
    LIST,
    POINTING,
    SMALL_TALK,
    SUMMARY,
    WORD,
)
from core.answering.providers.extractive.evidence import NOTHING_BELOW, Verdict, judge_evidence
from core.answering.providers.extractive.lists import items_for, leads
from core.answering.providers.extractive.quotes import Found, Quote, find_quotes, header_rows, listed, place_of, text_of
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole, ToolChoice, ToolInvocation
from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.domain.replies import ChatResponse, CitedText, PassageCitation, StopReason
from core.knowledge.asides import without_reading
from core.knowledge.links import spoken
from core.ports import AnswerJudge, SentenceRanker
from core.text.markup import is_row, readable
from core.text.words import STOPWORDS, content_words, shorten, words

# Ends the first answer of a conversation.
QUOTES_NOTE = "I quote the documents rather than write: no language model is set up."


def reply_to(text: str) -> str | None:
    """Return the reply to a message that is only a greeting, thanks or a goodbye; None for any other."""
    said = {*words(text)}
    reply = next((reply for reply, (cues, known) in SMALL_TALK.items() if said & cues and said <= known), None)
    return None if reply == HELLO and "," in text else reply  # "Good morning, team" is talk among people


# ------------------------------------------------------------------------------------------------------------- queries

# A follow-up gets the content words of the question before it, in brackets. Measured on 53 follow-ups of our own: the
# right document was cited for .43 of them without the words and .96 with them; words of the answer (.70), or of both
# (.89 to .92), were worse.
CONTEXT_WORDS = 14  # enough for the subject, and too few to drown the new question
STANDALONE_WORDS = 2  # with fewer content words and no name, a question has no subject of its own


class RequestKind(StrEnum):
    QUESTION = "question"
    SUMMARY = "summary"
    LIST = "list"


def request_kind(question: str, system: str = "") -> RequestKind:
    """Return the form of answer that the question or the prompt (agent/prompts.py) asks for."""
    if 'query_type "summary"' in system or SUMMARY.search(question):
        return RequestKind.SUMMARY
    if 'query_type "extraction"' in system or LIST.search(question):
        return RequestKind.LIST
    return RequestKind.QUESTION


def is_follow_up(question: str) -> bool:
    """Return whether the question depends on the one before."""
    rest = EXPLETIVE.sub(" ", question)
    if CONNECTIVE.search(question) or any(pattern.search(rest) for pattern in POINTING):
        return True
    named = any(word[0].isupper() or any(map(str.isdigit, word)) for word in WORD.findall(question)[1:])
    return not named and len(content_words(question)) < STANDALONE_WORDS


def asked_before(history: Sequence[ChatMessage]) -> str | None:
    """Return the last question of the history: the query that was searched for it, else its text."""
    for turn in reversed(history):
        for call in turn.tool_invocations:
            query = call.arguments.get("query")
            if isinstance(query, str) and query.strip():
                return query
        if turn.role is ChatRole.USER and turn.text.strip():
            return turn.text
    return None


def in_context(question: str, before: str) -> str:
    """Add the content words of the question before that this one lacks."""
    own = set(words(question))
    taken: dict[str, None] = {}
    for word in WORD.findall(before):
        if word.lower() not in own and word.lower() not in STOPWORDS:
            taken.setdefault(word)
    bare = question.strip().rstrip("?").rstrip()
    return f"{bare} ({' '.join(list(taken)[:CONTEXT_WORDS])})?" if taken else question.strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A search, and the question by which its passages are judged."""

    search: str
    judged: str


def queries(question: str, history: Sequence[ChatMessage]) -> list[Query]:
    """Return one query, or two: the second for when the first finds no answer."""
    before = asked_before(history)
    alone = question.strip()
    if before is None:
        keywords = " ".join(word for word in WORD.findall(alone) if word.lower() not in STOPWORDS)
        order = [Query(alone, alone), Query(keywords or alone, alone)]
    else:
        joined = in_context(alone, before)
        order = [Query(alone, alone), Query(joined, joined)]
        if is_follow_up(alone):
            order = [order[1], Query(f"{before} {alone}", joined)]
    return order if order[0].search != order[1].search else order[:1]


# ------------------------------------------------------------------------------------------------------------ provider

SEARCH_LIMIT = 10  # pages
# Logits by which a quote with the right kind of thing may be worse than the best quote, which lacks it.
ANSWER_WITHIN = 2.0
# A second quote is added if it is nearly as good (logits), and the answer stays short (characters).
SECOND_WITHIN = 6.0
SECOND_FROM = -3.0
ANSWER_CHARACTERS = 900
NEW_LINE = "\n"
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
        if (reply := reply_to(turn.question)) is not None:
            return ChatResponse(segments=(CitedText(text=reply),), model=self.name)
        if not turn.calls("search") and turn.may_call("search"):
            return self._call(turn, "search", {"query": turn.queries[0].search, "limit": SEARCH_LIMIT})
        query = turn.current_query
        found = await find_quotes(query.judged, turn.found, self._ranker, self._judge)
        answers = _answering(turn, found)
        if not answers and len(turn.calls("search")) < len(turn.queries) and turn.may_call("search"):
            return self._call(turn, "search", {"query": turn.queries[1].search, "limit": SEARCH_LIMIT})
        whole = answers and turn.kind is not RequestKind.QUESTION
        if whole and not turn.calls("get_page") and turn.may_call("get_page"):
            first = _chosen(turn, answers)[0]
            return self._call(turn, "get_page", {"page_id": first.source.passage.page_id})
        segments = _quoted(_chosen(turn, answers), turn) if answers else _not_found(found)
        if on_text is not None:
            for piece in _PIECE.findall("".join(segment.text for segment in segments)):
                on_text(piece)
        return ChatResponse(segments=segments, model=self.name)

    async def close(self) -> None:
        """Do nothing: the caller owns the models."""

    def _call(self, turn: "_Turn", name: str, arguments: dict[str, object]) -> ChatResponse:
        call = ToolInvocation(id=f"{name}-{len(turn.calls(name)) + 1}", name=name, arguments=arguments)
        return ChatResponse(tool_invocations=(call,), stop_reason=StopReason.TOOLS, model=self.name)


class _Turn:
    """The question being answered, and its tool calls so far, as the request has them."""

    def __init__(self, request: ChatRequest) -> None:
        asked = max((i for i, message in enumerate(request.messages) if message.role is ChatRole.USER), default=-1)
        self._request = request
        self._since = request.messages[asked + 1 :]
        self.history: Sequence[ChatMessage] = request.messages[: max(asked, 0)]
        text = request.messages[asked].text if asked >= 0 else ""
        self.question = without_reading(spoken(text) if "[[" in text else text)
        self.kind = request_kind(self.question, request.system)
        self.queries = queries(self.question, self.history)

    def calls(self, name: str) -> list[ToolInvocation]:
        return [call for message in self._since for call in message.tool_invocations if call.name == name]

    def may_call(self, name: str) -> bool:
        named = any(tool.name == name for tool in self._request.tools)
        return named and self._request.tool_choice is not ToolChoice.NONE

    @property
    def current_query(self) -> Query:
        """The query of the last search."""
        return self.queries[min(max(len(self.calls("search")), 1), len(self.queries)) - 1]

    @property
    def found(self) -> list[SourcedPassage]:
        """Passages of this turn's searches, the last search first; without any, of earlier turns."""
        results = [result for message in self._since for result in message.tool_results if result.name != "get_page"]
        if not results:
            results = [result for message in self.history for result in message.tool_results]
        return [item.source for result in reversed(results) for item in result.passages]

    @property
    def passages(self) -> list[SourcedPassage]:
        """All of `found`, and the page that `get_page` returned."""
        read = [result for message in self._since for result in message.tool_results if result.name == "get_page"]
        return [*self.found, *(item.source for result in read for item in result.passages)]

    @property
    def noted(self) -> bool:
        return any(QUOTES_NOTE in message.text for message in self.history)


def _answering(turn: _Turn, found: Found) -> Sequence[Quote]:
    """Return the quotes from the first that answers and is nearly as good as the best one; empty if none does."""
    for place, quote in enumerate(found.quotes):
        if quote.score < found.quotes[0].score - ANSWER_WITHIN:
            break
        document = quote.source.document.id
        verdict = judge_evidence(turn.question, quote.text, document, found.strength, turn.passages)
        if verdict is Verdict.ANSWERS:
            return found.quotes[place:]
    return ()


def _chosen(turn: _Turn, quotes: Sequence[Quote]) -> list[Quote]:
    best = quotes[0]
    if turn.kind is RequestKind.LIST and (items := items_for(turn.question, turn.passages, best)):
        return items
    if turn.kind is RequestKind.SUMMARY:
        return leads(best, turn.passages, turn.question)
    second = next((quote for quote in quotes[1:] if not quote.overlaps(best)), None)
    if second is None or second.logit < max(best.logit - SECOND_WITHIN, SECOND_FROM):
        return [best]
    return [best, second] if len(best.text) + len(second.text) <= ANSWER_CHARACTERS else [best]


def _quoted(quotes: Sequence[Quote], turn: _Turn) -> tuple[CitedText, ...]:
    """Return a segment for each quote, with the header row of its table before it."""
    many = len(quotes) > 2
    segments: list[CitedText] = []
    headed: set[tuple[str, Span]] = set()
    for quote in quotes:
        headers = [row for row in header_rows(quote) if (quote.source.passage.page_id, row) not in headed]
        headed.update((quote.source.passage.page_id, row) for row in headers)
        between = NEW_LINE if many else NEW_LINE * 2
        for run in (*((row,) for row in headers), quote.sentences):
            if not (shown := _shown(quote.source, run, as_list=many)):
                continue
            span = Span(run[0].start, run[-1].end)
            citation = PassageCitation(
                passage_id=quote.source.passage.id, span=span, cited_text=text_of(quote.source, span)
            )
            segments.append(CitedText(text=f"{between if segments else ''}{shown}", citations=(citation,)))
            between = NEW_LINE
    if not turn.noted:
        segments.append(CitedText(text=f"\n\n{QUOTES_NOTE}"))
    return tuple(segments)


def _shown(source: SourcedPassage, run: Sequence[Span], *, as_list: bool) -> str:
    """Format a run for chat: list items and table rows on lines of their own."""
    shown = ""
    for span in run:
        raw = text_of(source, span)
        text = readable(raw)
        if not text:
            continue
        item = listed(source, span) or (as_list and not shown)
        between = NEW_LINE if item or is_row(raw) else " "
        shown += f"{between if shown else ''}{'- ' if item else ''}{text}"
    return shown


def _not_found(found: Found) -> tuple[CitedText, ...]:
    places = dict.fromkeys(place_of(source) for source, logit in found.passages if logit > NOTHING_BELOW)
    labels = " and ".join(
        f"“{shorten(place, LABEL_CHARACTERS).replace('. ', ' ')}”" for place in list(places)[:CLOSEST]
    )
    closest = f"; the closest passages are in {labels}" if labels else ""
    return (CitedText(text=f"I did not find an answer to this in the documents{closest}."),)
