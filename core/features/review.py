"""The review inbox of a workspace: proposals to keep, unanswered questions and stale answers, for its reviewers."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.access.scopes import Access
from core.answering.redaction import basis_of
from core.domain.answer import Provenance
from core.domain.features import AskedQuestion, StaleAnswer
from core.domain.incoming import ThreadAddress
from core.domain.kept_answers import KeptAnswer, KeptState
from core.errors import BadInput, NotFound
from core.features.kept_answers import FOR_REVIEWERS, Compared, KeptAnswers, parse_action, short_id
from core.features.staleness.stale_answers import Staleness, told, without_closed_names
from core.features.statistics import UsageStatistics
from core.ports import CorpusRepository
from core.text.words import shorten
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, Question

INBOX = "inbox"  # the command
MOST_LISTED = 10  # of each kind; more is a wall
TEXT_LENGTH = 300
HIDDEN_QUESTIONS = "{count} asked in places that you can't read."
EMPTY = "Nothing waits for you."


class Act(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    UNDO = "undo"
    ASK = "ask"
    SHARE = "share"  # post the inbox in the channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """The person who looks at the inbox, and their place."""

    workspace: str
    person: str | None  # None: everyone who reads the place
    name: str
    address: ThreadAddress | None  # None: the person at the machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A proposal, with passages of documents about it."""

    kept: KeptAnswer
    compared: Sequence[Compared] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question to ask again: it found no answer, or its answer is stale."""

    id: str
    text: str
    note: str  # why it is here
    rests_on: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """All that waits for a reviewer, and decisions that they may undo; each list is cut, the newest first."""

    proposals: Sequence[Proposal]
    decided: Sequence[KeptAnswer]
    unanswered: Sequence[OpenQuestion]
    stale: Sequence[OpenQuestion]
    hidden: int  # unanswered questions of places that the reviewer can't read

    @property
    def waiting(self) -> int:
        return len(self.proposals) + len(self.unanswered) + len(self.stale)

    @property
    def rests_on(self) -> Provenance:
        """All that its texts rest on."""
        kept = (*(proposal.kept for proposal in self.proposals), *self.decided)
        compared = (item.found.document.id for proposal in self.proposals for item in proposal.compared)
        every = [item.rests_on for item in kept] + [item.rests_on for item in self.stale]
        every.append(Provenance(documents=tuple(compared)))
        return Provenance(
            documents=tuple(dict.fromkeys(id for basis in every for id in basis.documents)),
            sources=tuple(dict.fromkeys(id for basis in every for id in basis.sources)),
        )


class Reviews:
    def __init__(
        self,
        kept: KeptAnswers,
        statistics: UsageStatistics,
        staleness: Staleness,
        access: Access,
        corpus: CorpusRepository,
    ) -> None:
        self.kept = kept
        self._statistics = statistics
        self._staleness = staleness
        self._access = access
        self._corpus = corpus

    async def inbox(self, reviewer: Reviewer) -> Inbox:
        """Return the texts of places that the reviewer reads, and the number of other questions."""
        visible = await self.kept.visible(reviewer.workspace, reviewer.address, reviewer.person)
        newest = visible[::-1]
        waiting = [kept for kept in newest if kept.state is KeptState.PROPOSED][:MOST_LISTED]
        asked = await self._statistics.unanswered(reviewer.workspace)
        shown = [question for question in asked if await self._reads(reviewer, question)]
        gaps = await self._statistics.gaps(shown)
        stale = [
            OpenQuestion(
                id=short_id(item.message.id), text=item.question, note=told(item), rests_on=basis_of([item.message])
            )
            for item in await self._stale(reviewer)
        ]
        return Inbox(
            proposals=[Proposal(kept=kept, compared=await self.kept.compare(kept)) for kept in waiting],
            decided=[kept for kept in newest if kept.state is not KeptState.PROPOSED][:MOST_LISTED],
            unanswered=[
                OpenQuestion(
                    id=_question_id(gap.questions[0]), text=gap.questions[0], note=f"asked {_times(gap.count)}"
                )
                for gap in gaps[:MOST_LISTED]
            ],
            stale=stale[:MOST_LISTED],
            hidden=len(asked) - len(shown),
        )

    async def decide(self, reviewer: Reviewer, act: Act, id: str) -> KeptAnswer:
        """Accept, decline or undo one that the reviewer may see, by its id or the beginning of it.

        Raises NotFound for another one, and as KeptAnswers does.
        """
        visible = await self.kept.visible(reviewer.workspace, reviewer.address, reviewer.person)
        found = next((kept for kept in visible if id and kept.id.startswith(id)), None)
        if found is None or reviewer.person is None:
            raise NotFound(f"{id[:40]!r} isn't in your inbox. Use /inbox to list it.")
        if act is Act.UNDO:
            return await self.kept.undo(found.id, reviewer.workspace, by=reviewer.person)
        decide = self.kept.accept if act is Act.ACCEPT else self.kept.decline
        return await decide(found.id, reviewer.workspace, by=reviewer.person, by_name=reviewer.name)

    async def _stale(self, reviewer: Reviewer) -> list[StaleAnswer]:
        """Return the stale answers that the reviewer reads, each without the names of documents closed to its place."""
        shown: list[StaleAnswer] = []
        for item in await self._staleness.list_stale(reviewer.workspace):
            place, here = item.conversation.address, reviewer.address
            if item.question and await self._access.reads(place, here, reviewer.person):
                alone = here is not None and place != here and reviewer.person is not None
                read_at = here if here is not None and reviewer.person is None else place
                scope = await self._access.scope(place.workspace, read_at, reader=reviewer.person, alone=alone)
                shown += await without_closed_names([item], scope, self._corpus)
        return shown

    async def _reads(self, reviewer: Reviewer, question: AskedQuestion) -> bool:
        return await self._access.reads(question.address, reviewer.address, reviewer.person)


def inbox_command(reviews: Reviews) -> Command:
    """Return the row of the table for reviewers."""

    async def run(call: CommandCall) -> CommandResult:
        if not (call.is_admin or call.may_review or call.sees_all):
            raise call.refuse(FOR_REVIEWERS)
        reviewer = Reviewer(
            workspace=call.workspace,
            person=call.author,
            name=call.author_name or call.author,
            address=None if call.sees_all else call.address,
        )
        action, id = call.option("action"), call.option("id")
        if not action:
            return _to_result(await reviews.inbox(reviewer))
        if action == Act.SHARE and call.address is not None:
            everyone = replace(reviewer, person=None, address=call.address)
            return replace(_to_result(await reviews.inbox(everyone)), is_public=True)
        if action not in set(Act):
            raise BadInput(f"Use /inbox, or /inbox with one of {', '.join(Act)} and an ID of its list.")
        if action == Act.ASK:
            found = await reviews.inbox(reviewer)
            question = next((item for item in (*found.unanswered, *found.stale) if item.id == id), None)
            if question is None:
                raise NotFound(f"{id[:40]!r} is no question of your inbox. Use /inbox to list them.")
            return CommandResult(text="", ask=Question(text=question.text))
        return CommandResult(text=decided(await reviews.decide(reviewer, Act(action), id)))

    return Command(
        name=INBOX,
        usage=f"[{' | '.join(act for act in Act if act is not Act.SHARE)} ID | {Act.SHARE}]",
        help="for reviewers: proposals to keep, unanswered questions and stale answers",
        run=run,
        options=(
            Option(name="action", help="what to do with one", kind=OptionKind.CHOICE, choices=tuple(Act)),
            Option(name="id", help="which one, as the list says"),
        ),
        parse=parse_action,
    )


def _to_result(found: Inbox) -> CommandResult:
    return CommandResult(text="\n".join(inbox_lines(found)), rests_on=found.rests_on, quotes_people=True)


def decided(kept: KeptAnswer) -> str:
    """Return the confirmation of a decision."""
    match kept.state:
        case KeptState.ACCEPTED:
            return f"Kept: “{kept.question}”. It can be found and cited, as said by {kept.said_by_name}."
        case KeptState.DECLINED:
            return f"Declined: “{kept.question}”. Nothing finds it."
        case KeptState.PROPOSED:
            return f"Undone: “{kept.question}” waits for a review again, and nothing finds it."


def inbox_lines(found: Inbox) -> list[str]:
    """Return an inbox as Markdown."""
    lines = [line for proposal in found.proposals for line in _proposal_lines(proposal)]
    lines += [f"- `{kept.id[:6]}` {kept.state.value.capitalize()}: {kept.question}" for kept in found.decided]
    for name, questions in (("Unanswered", found.unanswered), ("Stale", found.stale)):
        lines += [f"- `{item.id}` {name}: {shorten(item.text, TEXT_LENGTH)} ({item.note})" for item in questions]
    lines += [f"- Unanswered: {HIDDEN_QUESTIONS.format(count=found.hidden)}"] if found.hidden else []
    acts = "Use /inbox accept, decline, undo or ask, and an ID."
    return [*lines, "", acts] if lines else [EMPTY]


def audience(kept: KeptAnswer) -> str:
    """Return who may read it, once it is accepted."""
    place = "everyone can read the channel it was said in" if kept.readers else "it was said (a thread of its own)"
    return f"where {place}" + (", and all that it cites" if kept.rests_on.documents else "")


def _proposal_lines(proposal: Proposal) -> list[str]:
    kept = proposal.kept
    said = f"said by {kept.said_by_name}, proposed by {kept.author_name}, until {kept.expires_at:%Y-%m-%d}"
    lines = [
        f"- `{short_id(kept.id)}` Proposed: {kept.question} ({said})",
        f"  {shorten(kept.text, TEXT_LENGTH)}",
        f"  Readable {audience(kept)}.",
    ]
    for item in proposal.compared:
        mark = "Says otherwise" if item.differs else "On the same subject"
        document = item.found.document.title
        lines.append(f"  {mark}: “{shorten(item.found.passage.text, TEXT_LENGTH)}” ({document})")
    return lines


def _question_id(text: str) -> str:
    return short_id(hashlib.sha256(text.encode()).hexdigest())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
