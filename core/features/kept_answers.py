"""Kept answers: proposed by anybody, accepted by a reviewer, found by readers of all their sources.

An accepted one is a document of its own. core/access/scopes.py decides about its readers at each search, and a missing
rule hides it. So the state changes before the document is removed, and a killed process leaves no text open.
"""

import asyncio
import hashlib
import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from core.access.scopes import Access
from core.answering.citations import strip_markers
from core.domain.answer import AnswerStatus, Provenance
from core.domain.audit import Audit, AuditNote, Deed
from core.domain.conversation import Message, Role
from core.domain.corpus import SearchQuery, Source, SourcedPassage, document_id
from core.domain.footnotes import web_address
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.kept_answers import KEPT_KIND, SAID_KINDS, KeptAnswer, KeptFile, KeptRule, KeptState, write_file
from core.domain.passages import Passage
from core.errors import AccessDenied, BadInput, InvalidState, NotFound, ReadError
from core.knowledge.attachments import Ingest
from core.knowledge.library import Library
from core.knowledge.sources import source_id
from core.ports import Clock, CorpusRepository
from core.ports.documents import KeptAnswerRepository
from core.ports.service import SettingsRepository
from core.text.words import collapse, content_words, shorten
from core.thread_work import to_its_end
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, current
from core.work.conversations import Conversations

SAID_BY = "Said by"  # begins the titles of kept answers, in footnotes, pages, lists and prompts
KEPT_SOURCE = "kept answers"  # the source of a workspace that holds them
TITLE_LENGTH = 200  # characters of a page's title
NAME_LENGTH = 80  # of the question in the document's title
REVIEW_DAYS = timedelta(days=30)  # a proposal waits, and a declined one can be undone
KEPT_DAYS = timedelta(days=365)  # then it has to be proposed again
COMPARED = 5  # passages of documents that a reviewer sees with it
SAME_SUBJECT = 0.5  # share of its content words that a sentence of a document has to have
FOR_ONE = "This answer is private. Ask again in the channel, then keep that answer."
FOR_REVIEWERS = "Only reviewers can do this: admins, and the people whom the configuration names."
BACK = "back"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_]+")  # a capital inside a sentence
_FACT = re.compile(f"{_NUMBER.pattern}|{_NAME.pattern}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message to keep, and its place."""

    text: str
    link: str  # its web address
    address: ThreadAddress
    by: str = ""  # the platform's id of its author; "" for an answer of the bot
    by_name: str = ""
    origin: str = ""  # its posting key, if it is known
    is_closed: bool = False  # its thread has fewer readers than the channel
    answer: Message | None = None  # the stored answer in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A passage of a document on the same subject."""

    found: SourcedPassage
    differs: bool  # it has other numbers or names


class KeptAnswers:
    """The kept answers of all workspaces."""

    def __init__(
        self,
        repository: KeptAnswerRepository,
        corpus: CorpusRepository,
        settings: SettingsRepository,
        access: Access,
        library: Library,
        ingest: Ingest,
        *,
        alone: Callable[[], AbstractAsyncContextManager[None]],
        clock: Clock,
    ) -> None:
        """`library` removes their documents; `alone` keeps other processes out."""
        self.repository = repository
        self._corpus = corpus
        self._settings = settings
        self._access = access
        self._library = library
        self._ingest = ingest
        self._alone = alone
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    async def propose(self, said: Said, *, question: str, author: str, author_name: str) -> KeptAnswer:
        """Store a proposal. Searches find it once a reviewer has accepted it.

        Its author may propose the same message again, with another question. Raises BadInput for a private or an empty
        message, for a link that is no web address, and while somebody has a reading position in a document that it
        cites; InvalidState if somebody else proposed it, or it was decided.
        """
        address, answer = said.address, said.answer
        if web_address(said.link) is None:
            raise BadInput(f"{said.link!r} is no web address: a kept answer needs the link of its message.")
        if address.private_to is not None:
            raise BadInput(FOR_ONE)
        cited = {item.document_id for item in answer.citations} if answer is not None else set()
        if not (await self._settings.positioned(address.workspace)).isdisjoint(cited):
            raise BadInput("Someone is still reading the book behind this answer, so it can't be kept for everyone.")
        text = strip_markers(said.text) if answer is not None else said.text
        if not any(character.isalnum() for character in text):
            raise BadInput("This message has no text to keep.")
        now = self._clock.now()
        kept = KeptAnswer(
            id=hashlib.sha256(f"{address.workspace}\x1f{said.link}".encode()).hexdigest()[:32],
            workspace=address.workspace,
            state=KeptState.PROPOSED,
            question=shorten(question, TITLE_LENGTH).lstrip("# ") or "A kept answer",
            text=_whole(question, text),
            link=said.link,
            address=address,
            readers=frozenset() if said.is_closed else frozenset({f"channel:{address.channel}"}),
            said_by=said.by if answer is None else author,
            said_by_name=collapse(said.by_name if answer is None else author_name),
            author=author,
            author_name=collapse(author_name),
            created_at=now,
            changed_at=now,
            expires_at=now + REVIEW_DAYS,
            answer_id=answer.id if answer is not None else "",
            origin=said.origin,
            rests_on=_basis(answer) if answer is not None else Provenance(),
        )
        stored, is_new = await self.repository.add(kept)
        if not is_new:
            if stored.state is not KeptState.PROPOSED or stored.author != author:
                raise InvalidState(_known(stored))
            await self.repository.change(kept, was=KeptState.PROPOSED)
        return kept

    async def accept(self, id: str, workspace: str, *, by: str, by_name: str) -> KeptAnswer:
        """Make a proposal a document, which can be cited when this returns; `by` is a reviewer.

        Claims without proof need another reviewer than their author. Raises NotFound, AccessDenied, InvalidState if it
        was decided before, and ReadError, StorageError and ModelMissing if it can't be read or stored.
        """
        kept = await self.repository.get(id, workspace)
        if kept.state is not KeptState.PROPOSED:
            raise InvalidState(_known(kept))
        if not kept.rests_on.documents and by in (kept.author, kept.said_by):
            raise AccessDenied("No document proves this, so another reviewer has to accept it.")
        source = _source(workspace)
        name = f"{kept.id}.md"
        changes = {"decided_by": by, "decided_by_name": by_name, "document_id": document_id(workspace, source.id, name)}
        async with self._one_at_a_time, self._alone():
            await self._corpus.save_source(source)
            with tempfile.TemporaryDirectory(prefix="footnote-") as folder:
                text = write_file(_to_file(kept, by_name, self._clock.now()))
                await to_its_end(lambda: Path(folder, name).write_text(text, "utf-8", errors="replace"))
                report = await self._ingest(source, Path(folder), name)
            if report.failures:
                raise ReadError(f"The answer can't be read: {report.failures[0].reason}.")
            return await self._move(kept, KeptState.ACCEPTED, KEPT_DAYS, _note(kept, by, Deed.KEPT_ACCEPTED), **changes)

    async def decline(self, id: str, workspace: str, *, by: str, by_name: str) -> KeptAnswer:
        """Decline a proposal. Raises NotFound, and InvalidState if it was decided before."""
        kept = await self.repository.get(id, workspace)
        if kept.state is not KeptState.PROPOSED:
            raise InvalidState(_known(kept))
        audit = _note(kept, by, Deed.KEPT_DECLINED)
        return await self._move(kept, KeptState.DECLINED, REVIEW_DAYS, audit, decided_by=by, decided_by_name=by_name)

    async def undo(self, id: str, workspace: str, *, by: str) -> KeptAnswer:
        """Make an accepted or a declined one a proposal again, which no search finds.

        Raises NotFound, and InvalidState for a proposal.
        """
        kept = await self.repository.get(id, workspace)
        if kept.state is KeptState.PROPOSED:
            raise InvalidState("There is nothing to undo: it waits for a review.")
        audit = _note(kept, by, Deed.KEPT_UNDONE)
        changed = await self._move(kept, KeptState.PROPOSED, REVIEW_DAYS, audit, decided_by="", decided_by_name="")
        await self.sweep()
        return changed

    async def take_back(self, id: str, workspace: str, *, by: str) -> KeptAnswer:
        """Delete a person's own proposal or message, also an accepted one. Raises NotFound and AccessDenied."""
        kept = await self.repository.get(id, workspace)
        if by not in (kept.author, kept.said_by):
            raise AccessDenied(f"Only {kept.author_name or kept.author} or a reviewer can take this back.")
        await self._remove([kept], _note(kept, by, Deed.KEPT_DELETED))
        return kept

    async def sweep(self) -> int:
        """Delete the ones that expired, or lost their message, a source or their document; return the number.

        Safe to repeat and to interrupt. Raises StorageError.
        """
        async with self._one_at_a_time, self._alone():
            count = 0
            while lost := await self.repository.list_lost(self._clock.now()):  # others may rest on them
                count += len(lost)
                await self.repository.remove([kept.id for kept in lost])
                await self._drop_documents()
            await self._drop_documents()
        return count

    async def forget_message(self, message_key: str) -> None:
        """Delete the one of a deleted message."""
        await self._remove([kept for kept in await self.repository.list_kept() if kept.origin == message_key])

    async def forget_thread(self, address: ThreadAddress) -> None:
        """Delete the ones of a removed thread."""
        listed = await self.repository.list_kept(address.workspace)
        await self._remove([kept for kept in listed if kept.address == address])

    async def forget_channel(self, channel: ChannelAddress) -> None:
        """Delete the ones of a removed channel."""
        listed = await self.repository.list_kept(channel.workspace)
        await self._remove([kept for kept in listed if ChannelAddress.of(kept.address) == channel])

    async def forget_person(self, person: PersonOnPlatform) -> int:
        """Delete the messages and proposals of a person; return the number."""
        listed = await self.repository.list_kept(person.workspace)
        theirs = [
            kept
            for kept in listed
            if kept.address.platform == person.platform and person.id in (kept.said_by, kept.author)
        ]
        await self._remove(theirs)
        return len(theirs)

    async def forget_workspace(self, workspace: str) -> None:
        """Delete all of a workspace."""
        await self._remove(await self.repository.list_kept(workspace))

    async def visible(self, workspace: str, address: ThreadAddress | None, person: str | None) -> list[KeptAnswer]:
        """Return the ones that a reviewer at `address` may read, oldest first; None: everyone there may."""
        listed = await self.repository.list_kept(workspace)
        lost = {kept.id for kept in await self.repository.list_lost(self._clock.now())}
        rules = await self._rules(workspace, listed)
        return [
            kept
            for kept, rule in zip(listed, rules, strict=True)
            if kept.id not in lost and await self._access.may_review(rule, address, person)
        ]

    async def compare(self, kept: KeptAnswer) -> list[Compared]:
        """Return passages of documents on the same subject, as its place may read them, best first."""
        place = kept.address if kept.address.platform else None  # None: kept by an earlier version, which noted none
        scope = await self._access.scope(kept.workspace, place)
        hits = await self._library.search(SearchQuery(text=f"{kept.question} {kept.text}"[:1_000], limit=20), scope)
        found = [hit.passages[0] for hit in hits if hit.document.kind not in SAID_KINDS][:COMPARED]
        return [
            Compared(found=passage, differs=_differs(kept, passage.passage, passage.passage.text)) for passage in found
        ]

    async def _rules(self, workspace: str, listed: Sequence[KeptAnswer]) -> list[KeptRule]:
        documents = await self._corpus.list_documents(workspace) if listed else []
        sources = {document.id: document.source_id for document in documents}
        return [
            KeptRule(
                document_id=kept.id,
                address=kept.address,
                readers=kept.readers,
                rests_on=kept.rests_on,
                sources={id: sources[id] for id in kept.rests_on.documents if id in sources},
            )
            for kept in listed
        ]

    async def _move(
        self, kept: KeptAnswer, state: KeptState, lasts: timedelta, audit: AuditNote, **changes: str
    ) -> KeptAnswer:
        now = self._clock.now()
        changed = replace(kept, state=state, changed_at=now, expires_at=now + lasts, **changes)  # type: ignore[arg-type]  # texts
        if not await self.repository.change(changed, was=kept.state, audit=audit):
            raise InvalidState(_known(await self.repository.get(kept.id, kept.workspace)))
        return changed

    async def _remove(self, those: Collection[KeptAnswer], audit: Audit = None) -> None:
        if those:
            await self.repository.remove([kept.id for kept in those], audit=audit)
            await self.sweep()

    async def _drop_documents(self) -> None:
        """Remove the documents of the ones that aren't accepted."""
        for workspace in await self._corpus.count_documents(except_kind=""):
            closed = {rule.document_id for rule in await self._corpus.kept_rules(workspace) if rule.address is None}
            if closed:
                listed = await self._corpus.list_documents(workspace, frozenset({_source(workspace).id}))
                await self._library.forget([document for document in listed if document.id in closed])


def _source(workspace: str) -> Source:
    identity = source_id(workspace, KEPT_SOURCE)
    return Source(id=identity, workspace=workspace, name=KEPT_SOURCE, kind=KEPT_KIND, location=KEPT_SOURCE)


def _note(kept: KeptAnswer, by: str, deed: Deed) -> AuditNote:
    return AuditNote(workspace=kept.workspace, actor=by, deed=deed, about=kept.id)


def _basis(answer: Message) -> Provenance:
    """Return all that an answer rests on: its footnotes, and the passages that its model saw."""
    found = (answer.outcome.rests_on if answer.outcome is not None else None) or Provenance()
    cited = (item.document_id for item in answer.citations)
    return replace(found, documents=tuple(dict.fromkeys((*found.documents, *cited))))


def _whole(question: str, text: str) -> str:
    """Return the text, below a question that is too long for a title."""
    asked = question.strip() if shorten(question, TITLE_LENGTH) != collapse(question) else ""
    return "\n\n".join(filter(None, (asked, text.strip())))


def _to_file(kept: KeptAnswer, accepted_by: str, now: datetime) -> KeptFile:
    said = f"Said by {kept.said_by_name or kept.said_by}, accepted by {collapse(accepted_by)} on {now:%Y-%m-%d}."
    text = "\n\n".join((f"## {kept.question}", kept.text, said))
    title = f"{SAID_BY} {kept.said_by_name or kept.said_by}: {shorten(kept.question, NAME_LENGTH)}"
    return KeptFile(title=title, link=kept.link, question=kept.question, text=text)


def _known(kept: KeptAnswer) -> str:
    who = kept.decided_by_name or kept.decided_by
    match kept.state:
        case KeptState.PROPOSED:
            return f"{kept.author_name or kept.author} proposed this already. It waits for a review."
        case KeptState.ACCEPTED:
            return f"This is kept already: {who} accepted it. A reviewer can undo that with /inbox."
        case KeptState.DECLINED:
            return f"{who} declined this. A reviewer can undo that with /inbox."


def _differs(kept: KeptAnswer, passage: Passage, text: str) -> bool:
    """Return whether a sentence of a document on the same subject has other numbers or names, and none of the same."""
    asked = content_words(kept.question)
    for said in _SENTENCE_END.split(kept.text):
        subject = asked | content_words(said)
        for span in passage.sentences:
            sentence = text[span.start - passage.span.start : span.end - passage.span.start]
            has = content_words(_FACT.sub(" ", sentence))
            if has and len(has & subject) >= SAME_SUBJECT * len(has):
                for facts in (_NUMBER, _NAME):
                    ours, theirs = (set(facts.findall(each)) for each in (said, sentence))
                    ours, theirs = ({one for one in some if one.lower() not in asked} for some in (ours, theirs))
                    if ours and theirs and ours.isdisjoint(theirs):
                        return True
    return False


def keep_command(conversations: Conversations, kept_answers: KeptAnswers) -> Command:
    """Return the row of the table that proposes answers."""

    async def keep(call: CommandCall) -> CommandResult:
        if call.option("action") == BACK:
            return await _take_back(kept_answers, call)
        _, messages = await conversations.show(current(call).id, call.workspace)
        answered = AnswerStatus.ANSWERED.value
        place = next((i for i in reversed(range(len(messages))) if messages[i].status == answered), None)
        if place is None:
            raise BadInput("This conversation has no answer to keep yet. Ask a question first.")
        address, answer = current(call).address, messages[place]
        if call.link is None and address.private_to is None:
            raise BadInput(
                "This answer has no web address to be kept with: keep it on the platform where it was given."
            )
        asked = next((item for item in reversed(messages[:place]) if item.role is Role.USER), None)
        is_closed = call.open_threads is not None and bool(address.thread)
        said = Said(
            text=answer.content,
            link=f"{call.link}#{answer.id[:8]}",  # the thread's other answers may be kept, too
            address=address,
            is_closed=is_closed and call.open_threads is not None and address.thread not in await call.open_threads(),
            answer=answer,
        )
        question = asked.content if asked else ""
        kept = await kept_answers.propose(
            said, question=question, author=call.author, author_name=call.author_name or call.author
        )
        return CommandResult(text=proposed(kept), is_public=True, rests_on=kept.rests_on, quotes_people=True)

    help = "propose the last answer to be kept, so that later ones can cite it; back: take a proposal back"
    return Command(
        name="keep",
        usage="[back [ID]]",
        help=help,
        run=keep,
        options=(
            Option(name="action", help="take one of your proposals back", kind=OptionKind.CHOICE, choices=(BACK,)),
            Option(name="id", help="which one, as the list says"),
        ),
        for_channels=True,
        parse=parse_action,
    )


def proposed(kept: KeptAnswer) -> str:
    """Return the confirmation of a proposal."""
    return f"Proposed: “{kept.question}”. It can be found once a reviewer accepts it. Take it back with /keep back."


def parse_action(options: Sequence[Option], argument: str) -> dict[str, str]:
    """Read the words of a command: an action, and a short id."""
    return {option.name: word for option, word in zip(options, argument.split(maxsplit=1), strict=False)}


def short_id(id: str) -> str:
    """Return the id that people type."""
    return id[:6]


async def _take_back(kept_answers: KeptAnswers, call: CommandCall) -> CommandResult:
    listed = await kept_answers.repository.list_kept(call.workspace)
    own = {short_id(kept.id): kept for kept in listed if call.author in (kept.author, kept.said_by)}
    wanted = call.option("id")
    if not own:
        raise NotFound("Nothing of yours is kept here, or proposed.")
    if not wanted and len(own) > 1:
        lines = [f"- `{id}` {kept.question} ({kept.state.value})" for id, kept in own.items()]
        return CommandResult(text="\n".join(("Take one back with /keep back and its ID:", *lines)))
    if wanted and wanted not in own:
        raise NotFound(f"{wanted[:20]!r} is none of yours. Use /keep back to list them.")
    kept = own[wanted] if wanted else next(iter(own.values()))
    await kept_answers.take_back(kept.id, call.workspace, by=call.author)
    return CommandResult(text=f"Taken back: “{kept.question}”. Nothing finds it any more.")
