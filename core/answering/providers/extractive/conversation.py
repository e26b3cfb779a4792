"""Follow-ups: the question before, the queries of both readings, and sentences behind the last quote. Pure.

A question in a conversation is read by itself and with the words of the question before; the better reading is taken.
"Tell me more" continues behind the last quote.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.providers.extractive.quotes import Quote, place_of, quotable, text_of, to_logit
from core.domain.chat import ChatMessage, ChatRole
from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.ports import AnswerJudge
from core.text.asking import Form, ends_lightly, is_follow_up, read_asked
from core.text.courtesies import read_courtesies
from core.text.everyday import OUR_NAME, is_open
from core.text.markup import readable
from core.text.words import STOPWORDS, WORD, content_words, tokens, words

# A follow-up gets the content words of the question before it, in brackets. Measured on 53 follow-ups of our own: the
# right document was cited for .43 of them without the words and .96 with them; words of the answer (.70), or of both
# (.89 to .92), were worse.
CONTEXT_WORDS = 14  # enough for the subject, and too few to drown the new question
MOST_SAID = 3  # statements of people that a question may be about
# Logits from which a statement of a person answers a question: of 38 questions after talk, the three statements that
# answer had 4.1 and more, all others 1.6 and less.
SAID_FROM = 3.0
_OF_THE_BOT = re.compile(rf"\b(?:{OUR_NAME}|the bot)\b", re.IGNORECASE)


def asked_before(history: Sequence[ChatMessage]) -> str | None:
    """Return the last question of the history: the query that was searched for it, else its text.

    A later statement of a person comes before it; courtesies ("hm", "ok") are left out.
    """
    said, asked = _talk(history)
    return " ".join([*said[:1], *([asked] if asked else [])]) or None


def _talk(history: Sequence[ChatMessage]) -> tuple[list[str], str | None]:
    """Return the messages of people since the last question, the newest first, and that question.

    Their own questions that lean on an earlier message ("wasn't it moved?") are among the messages.
    """
    said: list[str] = []
    for turn in reversed(history):
        for call in turn.tool_invocations:
            query = call.arguments.get("query")
            if isinstance(query, str) and query.strip():
                return said, query
        if turn.role is ChatRole.USER and (is_said(turn.text) or _leans(turn.text)):
            said += [] if is_idle(turn.text) else [turn.text]
        elif turn.role is ChatRole.USER and read_courtesies(turn.text).rest:
            return said, turn.text
    return said, None


def is_said(text: str) -> bool:
    """Return whether a message of a person states something: it is no courtesy, question or request."""
    return bool(read_courtesies(text).rest) and read_asked(text).form not in (Form.QUESTION, Form.REQUEST)


def is_idle(text: str) -> bool:
    """Whether a message is a joke or about the bot: no question is about it."""
    return ends_lightly(text) or _OF_THE_BOT.search(text) is not None


def _leans(text: str) -> bool:
    return bool(read_courtesies(text).rest) and is_follow_up(text)


async def find_said(question: str, said: Sequence[str], judge: AnswerJudge) -> tuple[str, float] | None:
    """Return the statement of a person that answers a question, with its logit; None if none does."""
    scores = await judge.relevance(question, said) if said else []
    text, score = max(zip(said, scores, strict=True), key=lambda item: item[1], default=("", 0.0))
    return (text, to_logit(score)) if to_logit(score) >= SAID_FROM else None


async def is_rather_said(question: str, history: Sequence[ChatMessage], score: float, judge: AnswerJudge) -> bool:
    """Return whether a message since the last answer answers a question better than a quote with this score."""
    last = max((place for place, turn in enumerate(history) if turn.role is ChatRole.ASSISTANT), default=-1)
    said = [turn.text for turn in history[last + 1 :] if turn.role is ChatRole.USER and is_said(turn.text)]
    found = await find_said(question, said, judge) if score < SAID_FROM else None
    return found is not None and found[1] > score


def statement_asked_about(question: str, history: Sequence[ChatMessage]) -> str | None:
    """Return the last statement of a person, if a message only asks whether it is right."""
    if _IS_RIGHT.fullmatch(question.strip(_AROUND)) is None:
        return None
    told = [turn.text for turn in reversed(history) if turn.role is ChatRole.USER and content_words(turn.text)]
    forms = {text: read_asked(text).form for text in told}
    if _WHO_IS_RIGHT.match(question):  # two people say two things about one
        both = [text for text in told if forms[text] not in (Form.QUESTION, Form.REQUEST)][:2]
        return ". ".join(map(_bare, reversed(both))) or None
    return next((text for text in told if forms[text] is Form.STATEMENT), None)


def in_context(question: str, before: str) -> str:
    """Add the content words of the question before that this one lacks."""
    own = set(words(question))
    taken: dict[str, None] = {}
    for word in WORD.findall(before):
        if word.lower() not in own and word.lower() not in STOPWORDS:
            taken.setdefault(word)
    bare = question.strip().rstrip("?").rstrip()
    return f"{bare} ({' '.join(list(taken)[:CONTEXT_WORDS])})?" if taken else question.strip()


_INSTEAD = re.compile(
    r"(?:(?:and|or|but|so|what about|how about|same for|sorry|no|i mean|i meant)[ ,]++)+"
    r"(?P<other>[^\s,]+(?: [^\s,]+){1,4})",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|of|for|from|to|with|by|before|after|during|under|since|until)\b(?= .)", re.IGNORECASE
)
_ARTICLE = re.compile(r"\b(?:the|an?|our|my|this)\b(?= .)", re.IGNORECASE)
_NAME = re.compile(r"(?: [A-Z][\w'’-]*+)++")


def in_place_of(question: str, before: str) -> str | None:
    """Return the question before about the other thing that this one names: "and the runbook?", "and in 2024?".

    It replaces the last preposition or article and the name behind it, or all that follows. None for a question that
    names no other thing, or says more.
    """
    said, asked = _INSTEAD.fullmatch(question.strip(_AROUND)), before.strip(_AROUND)
    other = said["other"] if said is not None and content_words(said["other"]) else ""
    pattern = next((each for each in (_PREPOSITION, _ARTICLE) if each.match(other)), None)
    places = [*pattern.finditer(asked)] if pattern is not None else []
    if not places:
        return None
    name = _NAME.match(asked, places[-1].end())
    return f"{asked[: places[-1].start()]}{other}{asked[name.end() :] if name is not None else ''}?"


# The last one of a question stands for a thing; "it" before a few words stands for none.
_PRONOUN = re.compile(
    r"\b(?:(?P<own>its|theirs?|his)|it|they|them|he|she|him|her|these|those|(?:that|this)(?=\W*$))\b"
    r"(?! (?:takes?|that|who|possible|rains?|means?|matters?|ones?|of)\b)",
    re.IGNORECASE,
)
_OF_PERSONS = frozenset("he she him her his".split())
_PERSON = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'’-]*+(?: [A-Z][\w'’-]*+)*")
_AFTER_ARTICLE = re.compile(r"\b(?:the|an?|our|this|its|their)((?: [^\W\d_][\w'’-]*+)+)", re.IGNORECASE)
_DEFINED = re.compile(r"what(?:['’]s| is| are| was| were) ((?!(?:the|an?|our)\b)[\w'’-]+(?: [\w'’-]+)?)", re.IGNORECASE)
_MANY = frozenset("they them their theirs these those".split())
# Behind a thing; a preposition may follow its verb.
_BEHIND = frozenset(
    """of and or that which who is are was were be do does did has have had can could may might must shall should will
    would""".split()
)
THING_WORDS = 3  # of a thing's name, at most
MOST_THINGS = 3  # that a pronoun is tried with


def about_things(question: str, history: Sequence[ChatMessage], answer: str) -> list[str]:
    """Return the question with each thing that was talked of in place of its pronoun, the likeliest first.

    These are what people named, the newest first, then what the last answer did; "she" is a person with a name.
    """
    pronoun = next(reversed([*_PRONOUN.finditer(question)]), None)
    if pronoun is None or _things(question[: pronoun.start()]):  # "what was the fare, and when did it rise?"
        return []
    said: list[str] = []
    for turn in reversed(history):
        said += [str(call.arguments.get("query", "")) for call in turn.tool_invocations[:1]]
        said += [turn.text] if turn.role is ChatRole.USER and not is_idle(turn.text) else []
    read = _persons if pronoun.group().lower() in _OF_PERSONS else _things
    found = dict.fromkeys(thing for text in (*said, answer) for thing in read(text))
    own = content_words(question)
    is_many = pronoun.group().lower() in _MANY
    by_number = sorted(found, key=lambda thing: thing.endswith("s") != is_many)
    meant = [thing for thing in by_number if not content_words(thing) <= own][:MOST_THINGS]
    begin, end = question[: pronoun.start()], question[pronoun.end() :]
    ending = f"'s{end}" if pronoun["own"] else end
    return [f"{begin}{thing}{ending}" for thing in meant]


def _persons(text: str) -> list[str]:
    return [name.group() for name in _PERSON.finditer(text) if name.group().lower() not in STOPWORDS]


def _things(text: str) -> list[str]:
    """Return what "what is ..." asks for, and the words behind articles up to the end, or "of" or "have".

    Of a run of words that ends otherwise, which may have a verb ("the bell hangs in"), the first one.
    """
    defined = _DEFINED.fullmatch(text.strip(_AROUND))
    found = [defined[1]] if defined is not None else []
    for match in _AFTER_ARTICLE.finditer(text):
        run = match[1].split()
        end = next((place for place, word in enumerate(run) if word.lower() in STOPWORDS | _BEHIND), len(run))
        is_name = end <= THING_WORDS and (end == len(run) or run[end].lower() in _BEHIND)
        found += [f"the {' '.join(run[: end if is_name else 1])}"] if end else []
    return found


@dataclass(frozen=True, slots=True)
class Query:
    """A search, and the question by which its passages are judged; `others` are wordings to choose from."""

    search: str
    judged: str
    others: tuple[str, ...] = ()


def queries(
    question: str, history: Sequence[ChatMessage], answer: str = "", *, is_statement: bool = False
) -> list[Query]:
    """Return one query or more: the later ones for when the ones before find no answer.

    Earlier questions and statements go before a question unchanged: in brackets, a judge misses how they belong to it.
    A statement that is asked about (`statement_asked_about`) is part of the history, and leans on earlier messages.
    """
    if is_statement:
        history = [turn for turn in history if turn.role is not ChatRole.USER or _bare(turn.text) not in question]
    before = asked_before(history)
    said, _ = _talk(history)
    alone = question.strip()
    if before is None:
        keywords = " ".join(word for word in WORD.findall(alone) if word.lower() not in STOPWORDS)
        order = [Query(alone, alone), Query(keywords or alone, alone)]
    else:
        joined = in_context(alone, before)
        order = [Query(alone, alone), Query(joined, joined)]
        if is_statement:
            order.append(Query(f"{before} {alone}", f"{before} {alone}"))
        elif (other := in_place_of(alone, before)) is not None or is_follow_up(alone):
            order = [order[1], Query(f"{before} {alone}", f"{_closed(before)} {alone}")]
            order = [*([Query(other, other)] if other is not None else []), *order]
            if things := about_things(alone, history, answer):
                order.insert(0, Query(things[0], things[0], tuple(things[1:])))
        talk = [_closed(text) for text in reversed(said[:MOST_SAID])]
        if talk:
            told = " ".join([*talk, alone])
            order.append(Query(told, told))
    each = {query.search: query for query in reversed(order)}
    return list(reversed(each.values()))


def _bare(text: str) -> str:
    return text.strip().rstrip(".")


def _closed(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?")) else f"{text.rstrip()}."


def part_queries(parts: Sequence[str], whole: str, before: str | None) -> list[list[Query]]:
    """Return the readings of each part of a question: by itself, if it can be understood so, and within the whole.

    The first part may lean on the question before, the later ones on the first.
    """
    searched = in_context(whole, before) if before and is_follow_up(parts[0]) else whole
    readings = []
    for place, part in enumerate(parts):
        leans_on = parts[0] if place else before
        if leans_on and is_follow_up(part):
            readings.append([Query(searched, in_context(part, leans_on))])
        else:
            readings.append([Query(part, part), Query(searched, part)])
    return readings


# ------------------------------------------------------------------------------------------------------- continuing

_TELL_MORE = (
    r"(?:tell|show|give) (?:me |us )?(?:some |a bit |a little )?(?:more|further)"
    r"(?: (?:about|on|of) (?:it|that|this|them))?|"
    r"(?:some )?(?:more|further)(?: (?:details?|information|info|on (?:it|that|this)))?"
)
_MORE = re.compile(
    rf"(?:(?:and|please|can you|could you|so) ){{0,2}}+(?:{_TELL_MORE}|go on|continue|keep going|read on|elaborate|"
    r"what else(?: does it say| is there)?|anything else|next)(?:,? please)?",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"(?:(?:and|but|so|ok) )?(?:why(?: (?:is|was) (?:that|this|it)| so)?|how come|what for)", re.IGNORECASE
)
_IS_RIGHT = re.compile(
    r"(?:(?:and|but|so|hm+|wait|ok)[ ,]+){0,2}+(?:(?:is|was|isn['’]?t) (?:that|this|it)(?: really| still| even)?"
    r" (?:right|true|correct|ok(?:ay)?|so|allowed|the case|enough)"
    r"|(?:does|do|would|will) (?:that|this|it) (?:fit|work|count|hold)"
    r"|who(?: of (?:us|them|you))? is right(?:,? .{1,60})?)",
    re.IGNORECASE,
)
_WHO_IS_RIGHT = re.compile(r"(?:(?:and|but|so|ok|hm+|wait)[ ,]+){0,2}+who\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|due to|so that|in order to|the reason|thanks to)\b", re.IGNORECASE)
_AROUND = " \t\n?!.,;:…-–—"
MOST_FURTHER = 3  # sentences
FURTHER_CHARACTERS = 600


def asks_more(question: str) -> bool:
    """Whether a message only asks for more of the same."""
    return _MORE.fullmatch(question.strip(_AROUND)) is not None


def asks_why(question: str) -> bool:
    """Whether a message only asks for the reason."""
    return _WHY.fullmatch(question.strip(_AROUND)) is not None


def in_talk(question: str, quotes: Sequence[Quote], history: Sequence[ChatMessage], answer: str) -> list[Quote]:
    """Return the quotes that may answer in a conversation, whose last answer was `answer`.

    A question for a mere reason wants more than was quoted, unless that gives it. After mere talk of people, a
    question without a subject takes it from them.
    """
    if asks_why(question):
        quotes = [quote for quote in quotes if _REASON.search(quote.text) or not quote.is_told(answer)]
    if not history or not is_open(question) or any(turn.role is not ChatRole.USER for turn in history):
        return [*quotes]
    said = {word for turn in history for word in tokens(turn.text)}
    return [quote for quote in quotes if said & set(tokens(f"{place_of(quote.source)} {quote.source.passage.text}"))]


def last_quoted(passages: Sequence[SourcedPassage], answer: str) -> SourcedPassage | None:
    """Return the last passage with a sentence that an answer quotes."""
    return next((found for found in reversed(passages) if _last_shown(found, answer) is not None), None)


def quote_next(passages: Sequence[SourcedPassage], answer: str) -> list[Quote]:
    """Return the next sentences of a page after an answer's quote, or its first ones; empty at the end of the page."""
    quoted = last_quoted(passages, answer)
    shown = _last_shown(quoted, answer) if quoted is not None else None
    end = quoted.passage.sentences[shown].end if quoted is not None and shown is not None else 0
    further: list[Quote] = []
    length = 0
    for source in sorted(passages, key=lambda found: found.passage.span.start):
        run: list[Span] = []
        for place in quotable(source):
            span = source.passage.sentences[place]
            length += span.end - span.start
            is_new = span.start >= end and readable(text_of(source, span)) not in answer
            if is_new and len(run) < MOST_FURTHER and (length <= FURTHER_CHARACTERS or not run):
                run.append(span)
                end = span.end
        if run:
            further.append(Quote(source=source, sentences=tuple(run), logit=0.0, score=0.0))
            break
        length = 0
    return further


def _last_shown(found: SourcedPassage, answer: str) -> int | None:
    shown = [
        place
        for place in quotable(found)
        if (text := readable(text_of(found, found.passage.sentences[place]))) and text in answer
    ]
    return shown[-1] if shown else None
