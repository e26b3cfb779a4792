"""The choice of a strategy: the asker's, else the channel's, else the configured one, as far as the model allows.

If the requested strategy isn't available, the closest one answers, with a sentence about it. `draft` tries a list of
extracted rows first, which needs no model, for questions that clearly ask for one (list_intent.py). A question with a
model, a language other than English, a message or a file goes to the strategy at once.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from core.answering.answers.building import join_answers, table
from core.answering.answers.sentences import has_sentence, language_for, quoted, say
from core.answering.providers.extractive.parts import parts_of
from core.answering.run import NO_OBSERVER, Budget, RunObserver
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.plans import wording_of
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.answer import Draft, ListedFacts, QueryType
from core.domain.chat import Capabilities, ChatMessage, ChatRole
from core.domain.incoming import IncomingMessage
from core.domain.replies import CitedText
from core.errors import BudgetSpent, ProviderChanged, UnsupportedFeature
from core.ports import ChatProvider, Clock, ProgressSink, RetrievalStrategy, Tools
from core.text.asking import is_follow_up
from core.work.progress import SilentProgress
from core.work.questions import DEEP_STRATEGY

AUTO = "auto"  # by the question's wording: a comparison, a timeline and the like are planned
DEEP = "deep"  # people's name for it
TOOL_USE, ALWAYS, PLANNED = ToolUseStrategy.name, AlwaysRetrieveStrategy.name, PlanAndSynthesiseStrategy.name
NAMES = (TOOL_USE, ALWAYS, PLANNED, AUTO)
NO_MODEL = "(A deep answer needs a language model, and none is set up, so I searched and quoted as usual.)"
SPENT = "(Today's budget for the language model is spent, so I quoted the documents without it.)"
NO_PLANS = "(A deep answer needs a model that calls tools, so I searched first and answered from what I found.)"
NO_TOOLS = "(The model can't call tools, so I searched first and answered from what I found.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    name: str  # of a strategy; never AUTO
    note: str = ""  # for people


def choose(message: IncomingMessage, configured: str, capabilities: Capabilities) -> Choice:
    """The strategy for a message. `configured` is one of NAMES. UnsupportedFeature for a name that there is not."""
    wanted = known_name(message.strategy) if message.strategy else configured
    usual = TOOL_USE if capabilities.tools else ALWAYS
    can_plan = capabilities.tools and not capabilities.quotes_only
    if wanted == AUTO:
        return Choice(name=PLANNED if can_plan and wording_of(message.text) is not None else usual)
    if wanted == PLANNED and not can_plan:
        return Choice(name=usual, note=NO_MODEL if capabilities.quotes_only else NO_PLANS)
    if wanted == TOOL_USE and not capabilities.tools:
        return Choice(name=ALWAYS, note=NO_TOOLS if message.strategy else "")
    return Choice(name=wanted)


def known_name(name: str) -> str:
    """The strategy that a person's word stands for. UnsupportedFeature for one that stands for none."""
    word = name.strip().lower().replace("-", "_").replace(" ", "_")
    if word == DEEP:
        return DEEP_STRATEGY
    if word not in NAMES:
        raise UnsupportedFeature(f"There is no strategy {name!r}: use {', '.join(NAMES[:-1])} or {AUTO}.")
    return word


STRATEGIES = {made.name: made for made in (ToolUseStrategy, AlwaysRetrieveStrategy, PlanAndSynthesiseStrategy)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenStrategy:
    """The strategy of one question."""

    strategy: RetrievalStrategy
    note: str = ""  # for people, below the answer
    lists_facts: bool = False  # a list of extracted rows comes first
    computes: bool = False  # so does what one table answers: without a model, which says it better
    instead: "Callable[[], ChosenStrategy] | None" = None  # when a budget is spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategies:
    """Chooses and builds strategies. `configured` is one of NAMES; `facts`: lists of extracted rows come first.

    `provider` returns the provider of a workspace for a model with known capabilities, and raises ProviderError.
    `check_model` raises BadInput for a model that a workspace's provider doesn't have.
    `without_model` returns the provider that answers when a budget is spent; None: the question is refused.
    """

    provider: Callable[[str, str | None], Awaitable[ChatProvider]]
    configured: str
    facts: bool
    budget: Budget
    clock: Clock
    without_model: Callable[[], ChatProvider] | None = None
    check_model: Callable[[str, str], Awaitable[None]] | None = None

    async def check(self, message: IncomingMessage) -> None:
        """Raise UnsupportedFeature or BadInput if the message asks for a strategy or a model that there is not."""
        if message.strategy:
            known_name(message.strategy)
        if message.model and self.check_model is not None:
            await self.check_model(message.address.workspace, message.model)

    async def choose(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        """Return the strategy for a message over its workspace's provider. UnsupportedFeature for an unknown name."""
        provider = await self.provider(message.address.workspace, message.model)
        chosen = self.over(provider, message, observer)
        return replace(chosen, instead=partial(self._quote, message, observer) if self.without_model else None)

    def _quote(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        """Return a strategy without a model, with a note about the budget."""
        assert self.without_model is not None  # nosec B101  # noqa: S101 - see choose
        return replace(self.over(self.without_model(), replace(message, strategy=None), observer), note=SPENT)

    def over(self, provider: ChatProvider, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        """Return the strategy for a message over a provider. UnsupportedFeature for an unknown name."""
        choice = choose(message, self.configured, provider.capabilities)
        strategy = STRATEGIES[choice.name](provider, self.budget, self.clock, observer)
        return ChosenStrategy(
            strategy=strategy,
            note=choice.note,
            lists_facts=self.facts and message.strategy is None,
            computes=provider.capabilities.quotes_only,
        )

    def recorded(self, name: str, question: IncomingMessage, provider: ChatProvider) -> ChosenStrategy:
        """Return the strategy of a name for a replay. UnsupportedFeature for an unknown name."""
        chosen = self.over(provider, question, NO_OBSERVER)
        if chosen.strategy.name == name:
            return chosen
        return self.over(provider, replace(question, strategy=name), NO_OBSERVER)


MODEL_NAME = "facts"  # the model name in the answer
MOST_CHANGES = 4  # of providers in one question; configurations have fewer
Choose = Callable[[IncomingMessage, RunObserver], Awaitable[ChosenStrategy]]


async def draft(
    choose: Choose,
    question: IncomingMessage,
    history: Sequence[ChatMessage],
    tools: Tools,
    progress: ProgressSink,
    observer: RunObserver,
) -> Draft:
    """Draft with the chosen strategy, and again with another choice when another provider has to answer.

    Raises ProviderError, and the errors of `choose`.
    """
    for changes in range(MOST_CHANGES + 1):
        chosen = await choose(question, observer)
        observer.choose_strategy(chosen.strategy.name)
        try:
            return await draft_once(chosen, question, history, tools, progress)
        except BudgetSpent:
            if chosen.instead is None:
                raise
            progress.reset()
            chosen = chosen.instead()
            observer.choose_strategy(chosen.strategy.name)
            return await draft_once(chosen, question, history, tools, progress)
        except ProviderChanged:
            if changes == MOST_CHANGES:
                raise
            progress.reset()
    raise AssertionError("unreachable")


async def draft_once(
    chosen: ChosenStrategy,
    question: IncomingMessage,
    history: Sequence[ChatMessage],
    tools: Tools,
    progress: ProgressSink,
) -> Draft:
    """Return the list, or the strategy's draft, with the note of the choice. Raises the errors of the strategy."""
    written = None
    if chosen.lists_facts and _may_be_listed(question, computes=chosen.computes):
        tools.adopt(history)
        if (found := await tools.list_facts(question.text, computes=chosen.computes)) is not None:
            written = _to_draft(found, tools)
        elif chosen.computes:
            written = await _draft_parts(chosen, question, history, tools)
    if written is None:
        written = await chosen.strategy.draft(question, history, tools, progress)
    return replace(written, notes=(*written.notes, chosen.note)) if chosen.note else written


async def _draft_parts(
    chosen: ChosenStrategy,
    question: IncomingMessage,
    history: Sequence[ChatMessage],
    tools: Tools,
) -> Draft | None:
    """Draft the parts of a question apart if tables answer all of them but one at most, else return None.

    No text is shown early: the quoted part would come without the others.
    """
    parts = parts_of(question.text)
    if len(parts) < 2 or any(map(is_follow_up, parts)):
        return None
    listed = [await tools.list_facts(part, computes=True) for part in parts]
    if listed.count(None) > 1:
        return None
    language = language_for(question)
    drafts, answers = list[Draft](), list[tuple[str, Sequence[CitedText]]]()
    for part, found in zip(parts, listed, strict=True):
        if found is not None:
            drafts.append(_to_draft(found, tools))
        else:
            drafts.append(await chosen.strategy.draft(replace(question, text=part), history, tools, SilentProgress()))
        missing = CitedText(text=say("part_not_found", language, part=quoted([part], language)))
        title = _title(drafts[-1])
        answers.append((title, drafts[-1].segments if title else [missing]))
    joined = [*join_answers(answers)]
    notes = [segment for segment in joined if has_sentence("quotes_note", segment.text)]
    whole = drafts[listed.index(None)] if None in listed else drafts[0]  # with the notes of the strategy
    return replace(
        whole,
        segments=(*(segment for segment in joined if segment not in notes), *notes),
        new_messages=tuple(message for draft in drafts for message in draft.new_messages),
        evidence=tools.evidence,
    )


def _title(drafted: Draft) -> str:
    """Return the title of the document that is quoted first; "" if none is."""
    quoted_first = next((citation for segment in drafted.segments for citation in segment.citations), None)
    if quoted_first is None:
        return ""
    return drafted.evidence.passages[quoted_first.passage_id].source.document.title


def _may_be_listed(question: IncomingMessage, *, computes: bool) -> bool:
    is_plain = (computes or question.query_type is not QueryType.SUMMARY) and question.model is None
    is_english = question.language is None or question.language.casefold().startswith("en")
    return is_plain and (computes or is_english) and question.about is None and not question.attachments


def _to_draft(found: ListedFacts, tools: Tools) -> Draft:
    asked = ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(found.invocation,))
    told = ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(found.result,))
    return Draft(
        segments=tuple(_segments(found)),
        evidence=tools.evidence,
        is_numbered=False,
        new_messages=(asked, told),
        model=MODEL_NAME,
    )


def _segments(found: ListedFacts) -> Iterator[CitedText]:
    """Return the rows as a list, below the titles of their documents if there are several."""
    yield CitedText(text=f"{found.heading or _count(found)}:")
    several = len({row.document for row in found.rows}) > 1
    for title, rows in groupby(found.rows, key=lambda row: row.document):
        if several:
            yield CitedText(text=f"\n\n**{title}**:")
        for is_table, group in groupby(rows, key=lambda row: bool(row.cells)):
            listed = list(group)
            if is_table:
                columns = list(dict.fromkeys(name for row in listed for name in row.cells))
                cells = [([[row.cells.get(name, "") for name in columns]], row.citation) for row in listed]
                yield from table(columns, cells, "\n\n")
            else:
                yield from (CitedText(text=f"\n- {row.text}", citations=(row.citation,)) for row in listed)
    if found.unknown:
        which = "1 more, which says" if found.unknown == 1 else f"{found.unknown} more, which say"
        yield CitedText(text=f"\n\nI looked at {which} no date that could be compared.")


def _count(found: ListedFacts) -> str:
    if not found.is_whole:  # how many there are isn't known
        return f"The {found.noun} that I found in the parts that could be read"
    if found.total > len(found.rows):
        return f"The first {len(found.rows)} of {found.total} {found.noun}"
    return f"{len(found.rows)} {found.noun if len(found.rows) > 1 else found.noun.removesuffix('s')}"
