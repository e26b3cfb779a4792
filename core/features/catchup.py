"""`/catchup`: decisions and questions in a live channel since the caller's last visit, footnoted to its messages."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

from core.access.availability import STILL_COMPARING
from core.access.scopes import Access
from core.answering.agent.prompts import catch_up as catch_up_prompt
from core.answering.support.check import Claim, SupportCheck
from core.domain.answer import Citation
from core.domain.channels import ChannelMessage, path_of
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, Repeats
from core.domain.corpus import Page, SearchScope, Source, document_id
from core.domain.footnotes import cite
from core.domain.incoming import ChannelAddress
from core.domain.passages import Span
from core.domain.spending import CallPurpose
from core.domain.support import Verdict
from core.errors import BadInput
from core.features.export import footnote_label
from core.features.live_channels import NOT_LIVE, LiveChannels
from core.knowledge.facts.dates import Lean, read_period
from core.ports import ChatProvider, Clock, CorpusRepository
from core.text.asking import Form, read_asked
from core.text.words import collapse, shorten
from core.work.commands import Command, CommandCall, CommandResult, Option, readable_by
from core.work.steps import NO_STEPS, complete

UNKNOWN_VISIT = timedelta(hours=24)  # for a person without a visit
MOST_MESSAGES = 200  # the newest; people skip longer lists
MOST_LISTED = 8  # of each kind, without a model
QUOTE_CHARACTERS = 240
_HERE = "Use /catchup in the channel that you want to catch up with."
_SPAN = re.compile(r"(?:the )?(?:last |past )?(\d{1,3}|an?|one)? ?(minute|hour|day|week)s?(?: ago)?")
_UNITS = {
    "minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1),
}  # fmt: skip
_SENTENCE = re.compile(r"[^\s.!?…][^\n.!?…]*+(?:[.!?…](?!\s|$)[^\n.!?…]*+)*+[.!?…]*+")
_DECIDED = re.compile(
    r"\b(?:decided|decision|agreed|settled on|signed off|approved|we(?:'re| are) going with|let(?:'s|s| us) (?:go with|"
    r"use|take|do|keep|move)|we(?:'ll| will) (?:go with|use|take|keep|move|ship|drop)|beschlossen|entschieden|"
    r"vereinbart|wir nehmen|einigen uns|decidido|acordado|décidé|convenu)\b",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class _Said:
    """A message with a footnote to it."""

    message: ChannelMessage
    citation: Citation


def catchup_command(
    live: LiveChannels,
    corpus: CorpusRepository,
    access: Access,
    provider: Callable[[str], ChatProvider],
    check: SupportCheck,
    clock: Clock,
) -> Command:
    """Return the row of the table. Only the caller sees its result."""

    async def run(call: CommandCall) -> CommandResult:
        if call.address is None or call.direct:
            raise BadInput(_HERE)
        channel = ChannelAddress.of(call.address)
        source = await live.find(channel)
        if source is None:
            raise BadInput(NOT_LIVE)
        now, asked = clock.now(), call.option("since")
        unknown = now - UNKNOWN_VISIT
        since = read_since(asked, now) if asked else await live.last_visit(source, call.author, unknown=unknown)
        if not live.is_open(source):
            raise BadInput(STILL_COMPARING)
        messages = [one for one in await live.said_since(source, since) if one.author != call.author]
        scope = await readable_by(call, access)
        said = await _cited(messages[-MOST_MESSAGES:], source, corpus, scope)
        begin = f"Since {since.astimezone(UTC):%A, %d %B, %H:%M} UTC"
        if not said:
            await live.visit(channel, call.author, now)
            return CommandResult(text=f"{begin}, nobody else wrote here.")
        count, people = len(said), len({one.message.author for one in said})
        writer = provider(call.workspace)
        written = [] if writer.capabilities.quotes_only else await _written(writer, said, call)
        text = "\n".join(await _supported(written, said, check))
        text, citations = _renumbered(text or _listed(said), said)
        await live.visit(channel, call.author, now)  # not before: a model that fails would hide these messages for good
        counted = f"{count} message{'s' if count > 1 else ''} of {people} {'people' if people > 1 else 'person'}"
        lines = [
            f"**{begin}: {counted}**",
            "",
            text,
            "",
            *(f"- [{one.number}] {footnote_label(one)}" for one in citations),
        ]
        return CommandResult(text="\n".join(lines), citations=tuple(citations), quotes_people=True)

    return Command(
        name="catchup",
        usage="[since Monday | 3 days]",
        help="decisions and questions in this channel since you were last here; only you see it",
        run=run,
        options=(Option(name="since", help="since Monday, 3 days, 2026-06-01; else since you were last here"),),
        for_channels=True,
    )


def read_since(text: str, now: datetime) -> datetime:
    """Return the beginning of a period, in UTC: "since Monday", "3 days". Raises BadInput."""
    words = collapse(text).casefold().removeprefix("since ").removeprefix("for ")
    if (found := _SPAN.fullmatch(words)) is not None:
        number = int(found[1]) if found[1] and found[1].isdigit() else 1
        return now - number * _UNITS[found[2]]
    period = read_period(words, now.astimezone(UTC).date(), Lean.PAST)
    if period is None:
        raise BadInput(f"{text[:40]!r} is no time that I know. Write since Monday, 3 days, 12 hours, or 2026-06-01.")
    return datetime.combine(period.start, time(), UTC)


async def _cited(
    messages: Sequence[ChannelMessage], source: Source, corpus: CorpusRepository, scope: SearchScope
) -> list[_Said]:
    """Return the messages that may be read here, each with a footnote from 1 to it."""
    ids = {document_id(source.workspace, source.id, path_of(one.root)) for one in messages}
    documents = {item.id: item for item in await corpus.find_documents(sorted(ids), scope)}
    pages: dict[str, tuple[Page, str]] = {}  # by link
    for id in documents:
        pages |= {page.deep_link: (page, id) for page in await corpus.list_pages(id, scope) if page.deep_link}
    said = list[_Said]()
    for message in messages:
        if message.link in pages:
            page, id = pages[message.link]
            said.append(_Said(message, cite(len(said) + 1, documents[id], page, Span(0, len(page.text)))))
    return said


async def _written(provider: ChatProvider, said: Sequence[_Said], call: CommandCall) -> list[str]:
    """Return a model's lines with numbers of messages; lines without any are left out."""
    numbers = {one.message.id: one.citation.number for one in said}
    lines = []
    for one in said:
        reply = numbers.get(one.message.root) if one.message.root != one.message.id else None
        to = f", in reply to [{reply}]" if reply else ""
        lines.append(f"[{one.citation.number}] {one.message.author_name}{to}: {one.message.text}")
    messages = (ChatMessage(role=ChatRole.USER, text="\n\n".join(lines)),)
    request = ChatRequest(system=catch_up_prompt(), messages=messages, repeats=Repeats.NOTHING)
    payer = replace(call.account, purpose=CallPurpose.RECAP)
    text = (await complete(provider, request, NO_STEPS.charged(payer))).text
    known = {str(one.citation.number) for one in said}
    return [line for line in text.strip().splitlines() if known & {*_MARKER.findall(line)}]


async def _supported(lines: Sequence[str], said: Sequence[_Said], check: SupportCheck) -> list[str]:
    """Return the lines; quotes of its messages stand in for one that they don't support. Raises ModelMissing."""
    by_number = {str(one.citation.number): one for one in said}
    cited = [[by_number[number] for number in _MARKER.findall(line) if number in by_number] for line in lines]
    claims = [
        Claim(
            sentence=_MARKER.sub("", line).strip("-* "),
            quotes=[f"{one.message.author_name}: {one.message.text}" for one in messages],
        )
        for line, messages in zip(lines, cited, strict=True)
    ]
    shown = list[str]()
    for line, messages, judged in zip(lines, cited, await check.judge(claims), strict=True):
        is_held = judged.verdict in (Verdict.SUPPORTED, Verdict.NO_CLAIM)
        shown += [line] if is_held else [_quote(one, one.message.text) for one in messages]
    return [*dict.fromkeys(shown)]


def _listed(said: Sequence[_Said]) -> str:
    """Return quotes: decisions and questions, or the newest messages if there are none."""
    parts = {"Decided": [*_quotes(said, _decides)], "Asked": [*_quotes(said, _asks)]}
    if not any(parts.values()):
        parts = {"Nothing was decided or asked. The newest": [*_quotes(said, lambda _: True)]}
    return "\n\n".join(
        "\n".join([f"**{title}**", "", *lines[-MOST_LISTED:]]) for title, lines in parts.items() if lines
    )


def _quotes(said: Sequence[_Said], counts: Callable[[str], bool]) -> list[str]:
    found = []
    for one in said:
        sentence = next((item for item in _SENTENCE.findall(one.message.text) if counts(item)), None)
        if sentence is not None:
            found.append(_quote(one, sentence))
    return found


def _quote(one: _Said, words: str) -> str:
    return f"- {one.message.author_name}: “{shorten(collapse(words), QUOTE_CHARACTERS)}” [{one.citation.number}]"


def _decides(sentence: str) -> bool:
    return _DECIDED.search(sentence) is not None and not _asks(sentence)


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or read_asked(sentence).form is Form.QUESTION


def _renumbered(text: str, said: Sequence[_Said]) -> tuple[str, list[Citation]]:
    """Return the text with its footnotes numbered from 1 in order, without other numbers in brackets."""
    by_number = {one.citation.number: one.citation for one in said}
    used: dict[int, int] = {}

    def renumber(marker: re.Match[str]) -> str:
        number = int(marker[1])
        return f"[{used.setdefault(number, len(used) + 1)}]" if number in by_number else ""

    text = _MARKER.sub(renumber, text)
    return text, [replace(by_number[old], number=new) for old, new in used.items()]
