"""A provider without a language model: it searches, picks the sentences that answer, and quotes them with footnotes.

It keeps nothing between calls: what was asked and searched stands in the request. A turn goes: search; where nothing
answers, search once more with other words; for lists and summaries read the page; then quote or say what is missing.
"""

import re
from collections.abc import Callable, Sequence

from core.access.positions.reading_asides import without_reading
from core.answering.providers.extractive.lists import header_rows, items_for, leads, listed
from core.answering.providers.extractive.query import Query, RequestKind, queries, request_kind
from core.answering.providers.extractive.quotes import Found, Quote, find_quotes, place_of, text_of
from core.answering.providers.extractive.refusal import NOTHING_BELOW, Verdict, judge_evidence
from core.answering.providers.extractive.small_talk import reply_to
from core.domain.answer import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ChatRole,
    CitedText,
    PassageCitation,
    StopReason,
    ToolChoice,
    ToolInvocation,
)
from core.domain.corpus import SourcedPassage, Span
from core.knowledge.references.links import spoken
from core.ports import AnswerJudge, SentenceRanker
from core.text.readable import is_row, readable
from core.text.words import shorten

# Said once a conversation, at the end of the first answer.
QUOTES_NOTE = "I quote the documents rather than write: no language model is set up."
SEARCH_LIMIT = 10  # pages
# How much worse than the best, in logits, a quote may be that holds the kind of thing asked for, which the best lacks.
ANSWER_WITHIN = 2.0
# A second quote is added when it is nearly as good, in logits, and the answer stays this short, in characters.
SECOND_WITHIN = 6.0
SECOND_FROM = -3.0
ANSWER_CHARACTERS = 900
NEW_LINE = "\n"
CLOSEST = 2  # passages named where nothing answers
LABEL_CHARACTERS = 60
_PIECE = re.compile(r"\s*\S+|\s+$")  # a word: what a model would send at a time


class ExtractiveProvider:
    """Quotes, never writes (implements ports.ChatProvider). It needs the `search` tool; `get_page` helps with lists."""

    name = "extractive"
    capabilities = Capabilities(tools=True, citations=True, quotes_only=True)

    def __init__(self, *, ranker: SentenceRanker, judge: AnswerJudge) -> None:
        self._ranker = ranker
        self._judge = judge

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """Tool calls or the answer. Raises what the ranker and the judge raise (ModelMissing)."""
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
        """Nothing to release: the models belong to whoever made them."""

    def _call(self, turn: "_Turn", name: str, arguments: dict[str, object]) -> ChatResponse:
        call = ToolInvocation(id=f"{name}-{len(turn.calls(name)) + 1}", name=name, arguments=arguments)
        return ChatResponse(tool_invocations=(call,), stop_reason=StopReason.TOOLS, model=self.name)


class _Turn:
    """What a request says of the question being answered."""

    def __init__(self, request: ChatRequest) -> None:
        asked = max((i for i, message in enumerate(request.messages) if message.role is ChatRole.USER), default=-1)
        self._request = request
        self._since = request.messages[asked + 1 :]
        self.history: Sequence[ChatMessage] = request.messages[: max(asked, 0)]
        self.question = without_reading(spoken(request.messages[asked].text)) if asked >= 0 else ""
        self.kind = request_kind(self.question, request.system)
        self.queries = queries(self.question, self.history)

    def calls(self, name: str) -> list[ToolInvocation]:
        return [call for message in self._since for call in message.tool_invocations if call.name == name]

    def may_call(self, name: str) -> bool:
        named = any(tool.name == name for tool in self._request.tools)
        return named and self._request.tool_choice is not ToolChoice.NONE

    @property
    def current_query(self) -> Query:
        """The one that was searched last."""
        return self.queries[min(max(len(self.calls("search")), 1), len(self.queries)) - 1]

    @property
    def found(self) -> list[SourcedPassage]:
        """What searches of this turn listed, the last one first; without any, what earlier turns showed."""
        results = [result for message in self._since for result in message.tool_results if result.name != "get_page"]
        if not results:
            results = [result for message in self.history for result in message.tool_results]
        return [item.source for result in reversed(results) for item in result.passages]

    @property
    def passages(self) -> list[SourcedPassage]:
        """All of `found`, and the page that was read."""
        read = [result for message in self._since for result in message.tool_results if result.name == "get_page"]
        return [*self.found, *(item.source for result in read for item in result.passages)]

    @property
    def noted(self) -> bool:
        return any(QUOTES_NOTE in message.text for message in self.history)


def _answering(turn: _Turn, found: Found) -> Sequence[Quote]:
    """The quotes from the first on that answers and is nearly as good as the best; empty where none is."""
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
    """A segment for each quote, with a table's first row before it where that stands elsewhere in the passage."""
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
    """A run as chat shows it: list items and table rows on lines of their own."""
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
    """Says so in one sentence and names the closest passages, without a claim and without a citation."""
    places = dict.fromkeys(place_of(source) for source, logit in found.passages if logit > NOTHING_BELOW)
    labels = " and ".join(
        f"“{shorten(place, LABEL_CHARACTERS).replace('. ', ' ')}”" for place in list(places)[:CLOSEST]
    )
    closest = f"; the closest passages are in {labels}" if labels else ""
    return (CitedText(text=f"I did not find an answer to this in the documents{closest}."),)
