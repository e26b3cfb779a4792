"""People who ask, command, press buttons and export at random."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from bot.config.sections import AgentConfig
from bot.presentation.action_names import Verb
from bot.presentation.answer_actions import AnswerActions
from bot.presentation.answer_text import job_line
from bot.wiring.pipeline import build_commands, build_pipeline
from core.answering.pipeline import Pipeline, QuestionContext
from core.answering.redaction import Histories
from core.answering.run import Budget, RunObserver
from core.answering.steps.private_answers import Sharing
from core.answering.strategies.choosing import STRATEGIES, ChosenStrategy
from core.answering.tools.find_extracts import FindExtractsTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ChatRequest
from core.domain.conversation import Conversation, Message, Role
from core.domain.incoming import PRIVATE_THREAD, Circumstances, IncomingMessage, ThreadAddress, message_key
from core.domain.kept_answers import KeptState
from core.domain.service import ACCEPTED
from core.errors import FootnoteError
from core.features.export import FORMATS, export_conversation
from core.features.kept_answers import Said
from core.serializers.objects import answer_json
from core.work.commands import CommandCall
from core.work.progress import SilentProgress
from tests.integration.platform_files import SameText, build_reviews
from tests.integration.readers.browsers import Browsers
from tests.integration.readers.obedient import Obedient
from tests.integration.readers.world import (
    CHANNELS,
    DIRECT,
    IN_API,
    IN_BROWSERS,
    NOOK,
    PEOPLE,
    World,
    address_of,
    in_api,
    in_browser,
)
from tests.pipeline import build_parts_over
from tests.unit.core.library_builder import by_rule

QUESTIONS = ("What is in the harbour?", "And what else?", "Who keeps the harbour?", "List all harbour documents.")
REVIEWERS = frozenset({"ada", "ben"})
COMMANDS = (
    "search harbour",
    "sources",
    "facts type:entity",
    "extract",
    "recap",
    "threads",
    "threads here",
    "source 1",
    "stale",
    "jobs",
    "keep",
    "inbox",
    "help",
)
LINK = "https://chat.example/"


@dataclass
class Shown:
    """A text that somebody saw in a place, and the words in it that may not be shown there."""

    place: str
    by: str
    what: str
    leaked: list[str]


class Acts:
    """What the people of a world do. `leaks` are the texts with words that they may not see."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random
        self.shown = 0
        self.leaks: list[Shown] = []
        self._asked = 0
        self._sent: dict[ThreadAddress, list[IncomingMessage]] = {}
        self._closed: set[str] = set()  # to the place of the question that is being answered, when it was asked
        self._store = world.shelf.stores.conversations
        self._parts = build_parts_over(
            world.shelf,
            clock=world.clock,
            provider=Obedient(self._meanwhile),
            agent=AgentConfig(max_steps=2, context=self.random.choice(("full", "window", "summary"))),
            kept=world.kept,
            recaps=by_rule(world.shelf),
        )
        reviews = build_reviews(world.shelf, world.kept, self._parts.staleness, world.clock)
        vars(self._parts).update(reviews=reviews, attachments=SimpleNamespace(forget=_ignore))
        self._commands = build_commands(self._parts)
        world.between = self._search
        self.browsers = Browsers(world, self._parts, self._commands, reviews._statistics)
        self._histories = Histories(self._parts.conversations, world.shelf.corpus)
        self._buttons = AnswerActions(
            cast(
                Any,
                SimpleNamespace(
                    conversations=self._parts.conversations,
                    access=world.shelf.access,
                    corpus=world.shelf.corpus,
                    link=lambda citation, address, answer: f"{LINK}s/{citation.number}",
                    jobs=self._parts.jobs,
                    entries=self._parts.inbox_store,
                    keeping=world.kept,
                ),
            )
        )

    async def close(self) -> None:
        await self.browsers.close()
        await self._parts.cassettes.settled()
        await self._parts.stack.aclose()

    async def act(self) -> None:
        """Let somebody do something in a place that they can read."""
        person = self.random.choice((*PEOPLE, *PEOPLE, *IN_BROWSERS, self.random.choice((*IN_API,))))
        if person in IN_API:
            with suppress(FootnoteError):
                await self._call_api(person)
            return
        address = in_browser(person) if person in IN_BROWSERS else self._place_of(person)
        kinds: tuple[tuple[float, Callable[[str, ThreadAddress], Awaitable[None]]], ...] = (
            (10, self._ask),
            (6, self._command),
            (3, self._export_by_command),
            (1, self._leave_and_export),
            (2, self._change_and_look),
            (2, self._complete),
            (2, self._export),
            (4, self._press),
            (2, self._say),
            (2, self._review),
            (2, self._keep),
            (1, self._share),
            (1, self._replay),
            (1, self._statistics),
            (3, self._browse),
            (2, self._open_link),
        )
        [act] = self.random.choices([act for _, act in kinds], [weight for weight, _ in kinds])
        with suppress(FootnoteError):
            await act(person, address)

    async def _search(self) -> None:
        """Search as anybody, where they are."""
        person = self.random.choice(PEOPLE)
        await self._command(person, self._place_of(person), "search harbour")

    def _place_of(self, person: str) -> ThreadAddress:
        channels = [channel for channel in CHANNELS if person in self.world.members[channel]]
        channel = self.random.choice([*channels, DIRECT[person]])
        threads = ["t", "u", f"{PRIVATE_THREAD}{person}"] if channel in CHANNELS else ["t", "u"]
        if channel in channels and person in self.world.nooks[channel]:
            threads.append(NOOK)
        return address_of(channel, self.random.choice(threads))

    # Questions.

    async def _ask(self, person: str, address: ThreadAddress) -> None:
        if self.random.random() < 0.2:
            await self.world.attach(address)
        message = self._message(person, address)
        self._closed = self.world.closed_to(self.world.people_in(address), address, is_alone=message.is_alone)
        await self._parts.inbox_store.accept(message, ACCEPTED)
        answer = await self._pipeline().answer(message, SilentProgress())
        await self._parts.cassettes.settled()
        if address.platform == "api" and self.random.random() < 0.7:  # in memory until others push it out
            await self.browsers.answers.post(address, message.message_key, answer, look_first=False)
        await self._end(message)
        self._look(address, person, "an answer", repr(answer_json(replace(answer, jobs=()))))

    def _message(self, person: str, address: ThreadAddress) -> IncomingMessage:
        """Return a new question, or another version of an earlier one."""
        self._asked += 1
        word = f"qx{self._asked}x"
        self.world.said[word], self.world.said_by[word] = address, person
        text = f"{word}: {self.random.choice(QUESTIONS)}"
        earlier = self._sent.setdefault(address, [])
        if earlier and self.random.random() < 0.2:
            before = self.random.choice(earlier)
            return replace(before, text=text, event_key=f"{before.message_key}@{self._asked}")
        key = message_key(address, str(self._asked))
        earlier.append(
            IncomingMessage(
                address=address,
                author=person,
                text=text,
                event_key=key,
                message_key=key,
                strategy=self.random.choice(("tool_use", "always_retrieve")),
                private=address.private_to is not None,
                circumstances=Circumstances(direct=address.channel in DIRECT.values()),
            )
        )
        return earlier[-1]

    async def _end(self, message: IncomingMessage) -> None:
        for entry in await self._parts.inbox_store.find_open(message.message_key):
            await self._parts.inbox_store.cancel(entry.message_key, "done")

    async def _meanwhile(self, request: ChatRequest) -> None:
        """Look at a prompt, which was made for those who read the place then; they may change before the answer."""
        self._look_for(self._closed, "the model", "a prompt", repr(request))
        if self.random.random() < 0.1:
            await self.world.change()

    def _pipeline(self) -> Pipeline:
        return build_pipeline(self._parts, strategy=self._strategy, toolbox=self._toolbox)

    async def _strategy(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        made = STRATEGIES[message.strategy or "tool_use"]
        provider = self._parts.providers.of("local")
        return ChosenStrategy(strategy=made(provider, Budget(steps=3), self.world.clock, observer))

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        tools = (SearchTool(), GetPageTool(), QueryJournalTool(), FindExtractsTool(), GetOntologyTool())
        context = self.world.shelf.context(scope=reading.scope, focus=reading.focus)
        return Toolbox(tools, context, reading.offer, observer)

    # The API.

    async def _call_api(self, person: str) -> None:
        """Ask, or read what the API shows to a person; the last answer may be in memory, as it was given."""
        address = in_api(person, self.random.randint(1, 2))
        if self.random.random() < 0.4:
            await self._ask(person, address)
        elif self.random.random() < 0.4 and (sent := self._sent.get(address)):
            id = self.random.choice(sent).message_key.rpartition(":")[2]
            self._look(address, person, "an answer of the API", await self.browsers.message(person, id), is_alone=True)
        else:
            sessions = [item.id for item in await self._store.list_conversations("local")]
            ids = [document.id for document in self.world.documents.values()]
            everything = (await self.world.shelf.access.decide("local"))[0].everything()
            pages = [page.id for id in ids[-4:] for page in await self.world.shelf.corpus.list_pages(id, everything)]
            path, text = await self.browsers.api(person, ids, sessions, pages)
            self._look(address, person, f"the API's {path}", text, is_alone=True, but=path)

    # Commands and buttons.

    async def _command(self, person: str, address: ThreadAddress, line: str = "") -> None:
        line = line or self.random.choice(COMMANDS)
        name, _, argument = line.partition(" ")
        call = await self._call(person, address, name, argument)
        try:
            result = await self._commands.run(call)
        except FootnoteError as error:
            self._look(address, person, f"/{line}", str(error), is_alone=True)
            return
        self._look(address, person, f"/{line}", repr(result), is_alone=not result.is_public)

    async def _call(self, person: str, address: ThreadAddress, name: str, argument: str = "") -> CommandCall:
        async def open_threads() -> frozenset[str]:
            return frozenset({"t", "u"} if address.channel in CHANNELS else ())

        return CommandCall(
            name=name,
            argument=argument,
            workspace="local",
            conversation=await self._store.find_by_address(address),
            author=person,
            address=address,
            direct=address.channel in DIRECT.values(),
            may_review=person in REVIEWERS,
            link=f"{LINK}{address.channel}/{address.thread}",
            open_threads=open_threads if address.channel not in DIRECT.values() else None,
        )

    async def _export_by_command(self, person: str, address: ThreadAddress) -> None:
        """Export any conversation, also one of a place that the person has left or never read."""
        found = await self._store.list_conversations("local")
        if not found:
            return
        own = [item for item in found if item.owner == person]
        left = [item for item in own if person not in self.world.people_in(item.address)]
        wanted = self.random.choice(self.random.choice((left or own or found, own or found, found)))
        await self._command(person, address, f"threads export {wanted.id} {self._format()}")

    async def _leave_and_export(self, person: str, address: ThreadAddress) -> None:
        """Begin a conversation, leave its channel, and export what others ask there later."""
        others = sorted(self.world.people_in(address) - {person})
        if address.channel not in CHANNELS or not others:
            return
        await self._ask(person, address)
        self.world.members[address.channel].discard(person)
        await self._ask(self.random.choice(others), address)
        found = await self._store.find_by_address(address)
        if found is not None:
            await self._command(person, address_of(DIRECT[person], "t"), f"threads export {found.id} {self._format()}")

    async def _change_and_look(self, person: str, address: ThreadAddress) -> None:
        """Edit and narrow a document that an answer of the thread cites; list the stale answers, or its steps."""
        if await self._answer_in(address) is None:
            await self._ask(person, address)
        found = await self._answer_in(address)
        cited = {citation.document_id for citation in found[1].citations} if found is not None else set()
        for document in [item for item in self.world.there() if item.id in cited][:1]:
            await self.world.edit(document)
            await self.world.narrow(document)
            await self._command(person, address, self.random.choice(("stale", "inbox", "jobs")))
            await self._press(person, address, "steps")

    async def _complete(self, person: str, address: ThreadAddress) -> None:
        options = [(name, option.name) for name, row in sorted(self._commands.table.items()) for option in row.options]
        name, option = self.random.choice(options)
        found = await self._commands.complete(await self._call(person, address, name), option, "")
        self._look(address, person, f"completions of /{name} {option}", repr(found), is_alone=True)

    async def _export(self, person: str, address: ThreadAddress) -> None:
        conversation = await self._store.find_by_address(address)
        if conversation is None:
            return
        scope = await self.world.shelf.access.scope("local", address, reader=person)
        found, messages = await self._histories.show(conversation.id, "local", scope)
        file = await export_conversation(found, messages, self._format())
        self._look(address, person, "an export", file.data.decode())

    async def _press(self, person: str, address: ThreadAddress, kind: str = "") -> None:
        """Press a button below any answer of the thread."""
        found = await self._answer_in(address)
        if found is None:
            return
        id = found[1].id
        kind = kind or self.random.choice(("passages", "references", "steps", "suggestion"))
        if kind == "passages":
            text = repr(await self._buttons.passages(address, person, id))
        elif kind == "references":
            text = repr((await self._buttons.references(address, person, id)).references)
        elif kind == "steps":
            jobs = await self._buttons.steps(address, person, id)
            text = " ".join(map(job_line, jobs))
        else:
            text = (await self._buttons.offered_question(address, person, id, Verb.ASK, "0")).text
        self._look(address, person, f"the button {kind}", text, is_alone=kind != "suggestion")

    async def _share(self, person: str, address: ThreadAddress) -> None:
        """Share a private answer with its channel."""
        private = replace(address, thread=f"{PRIVATE_THREAD}{person}")
        if address.channel not in CHANNELS or address.private_to is not None:
            return
        await self._ask(person, private)
        found = await self._answer_in(private)
        if found is None:
            return
        sharing = Sharing(
            conversations=self._parts.conversations, corpus=self.world.shelf.corpus, access=self.world.shelf.access
        )
        answer = await sharing.answer_for(address, person, found[1].id)
        own = " ".join(word for word, by in self.world.said_by.items() if by == person)  # which they share on purpose
        self._look(address, person, "a shared answer", answer.text + repr(answer.citations), but=own)

    async def _answer_in(self, address: ThreadAddress) -> tuple[Conversation, Message, str] | None:
        """Return any answer of a thread, with its question."""
        conversation = await self._store.find_by_address(address)
        messages = await self._store.list_messages(conversation.id) if conversation is not None else []
        places = [place for place, item in enumerate(messages) if item.role is Role.ASSISTANT and item.outcome]
        if conversation is None or not places:
            return None
        place = self.random.choice(places)
        asked = next((item.content for item in reversed(messages[:place]) if item.role is Role.USER), "")
        return conversation, messages[place], asked

    # Kept answers.

    async def _say(self, person: str, address: ThreadAddress) -> None:
        """Propose to keep what somebody says."""
        word = self.world.new_word("said")
        self.world.said[word] = address
        said = Said(
            text=f"The harbour of {word} is closed.",
            link=f"{LINK}{word}",
            address=address,
            by=person,
            by_name=person,
            is_closed=address.thread == NOOK,
        )
        await self.world.kept.propose(said, question=f"What of the harbour {word}?", author="cay", author_name="Cay")

    async def _keep(self, person: str, address: ThreadAddress) -> None:
        """Propose the last answer of a thread, which a reviewer accepts at once."""
        await self._command(person, address, "keep")
        for kept in await self.world.kept.repository.list_kept("local"):
            if kept.state is KeptState.PROPOSED and kept.rests_on.documents:
                await self.world.kept.accept(kept.id, "local", by="rita", by_name="Rita")

    async def _review(self, person: str, address: ThreadAddress) -> None:
        """Decide about any proposal, as a reviewer who may see it."""
        listed = await self.world.kept.repository.list_kept("local")
        if listed and person in REVIEWERS:
            kept = self.random.choice(listed)
            verb = self.random.choice(("accept", "accept", "accept", "decline", "undo"))
            await self._command(person, address, f"inbox {verb} {kept.id[:6]}")

    # What the machine's own pages show.

    async def _replay(self, person: str, address: ThreadAddress) -> None:
        """Replay a run, as the operator, who may read everything but what was removed."""
        runs = await self._parts.cassettes.list_runs("local")
        if runs:
            replayed = await self._parts.cassettes.replay(self.random.choice(runs).message_id, "local")
            stored = await self._parts.stores.cassettes.find(replayed.answer.message_id or runs[0].message_id, "local")
            self._look_for(self._removed(), "operator", "a replay", repr((replayed, stored.question)))

    async def _browse(self, person: str, address: ThreadAddress) -> None:
        """Open a page of the web app, as somebody who signed in or a visitor."""
        visitor = self.random.choice((*IN_BROWSERS,))
        ids = [document.id for document in {item.id: item for item in self.world.documents.values()}.values()]
        path, text = await self.browsers.page(visitor, ids)
        said = " ".join(word for word, place in self.world.said.items() if place.platform == "web")
        is_for_admins = path == "/library/statistics"  # which quotes the questions of the web app
        self._look(in_browser(visitor), visitor, f"the page {path}", text, but=said if is_for_admins else "")

    async def _open_link(self, person: str, address: ThreadAddress) -> None:
        """Open the link of a footnote, which shows what the readers of its thread may read."""
        found = await self._answer_in(address)
        if found is not None and found[1].citations:
            visitor = self.random.choice((*IN_BROWSERS,))
            text = await self.browsers.linked(visitor, found[0], found[1])
            own = " ".join(word for word, place in self.world.said.items() if place == in_browser(visitor))
            self._look(address, visitor, "a link", text, but=own)  # it lists their own threads that cite the document

    async def _statistics(self, person: str, address: ThreadAddress) -> None:
        """Look at the statistics as somebody who reads what the place reads, and no questions of it."""
        scope = await self.world.shelf.access.scope("local", address)
        groups = SameText()
        assert groups is not None
        found = await self._parts.reviews._statistics.of(scope, platforms=())
        self._look(address, person, "statistics", repr((found.most_cited, found.never_cited, found.gaps)))

    def _removed(self) -> set[str]:
        sources = {source.id for source in self.world.sources.values()}
        return {
            word
            for word, document in self.world.documents.items()
            if document.id in self.world.gone or document.source_id not in sources
        }

    # Looking.

    def _look(
        self, address: ThreadAddress, person: str, what: str, text: str, *, is_alone: bool = False, but: str = ""
    ) -> None:
        """Note the words that may not be shown; `but` has words that the person says themselves."""
        people = {person} if is_alone else self.world.people_in(address)
        closed = self.world.closed_to(people, address, is_alone=is_alone or address.private_to is not None)
        own = {word for word, by in self.world.said_by.items() if by == person} if is_alone else set()
        self._look_for({word for word in closed - own if word not in but}, person, what, text, str(address))

    def _look_for(self, closed: set[str], person: str, what: str, text: str, place: str = "") -> None:
        self.shown += 1
        if leaked := sorted(word for word in closed if word in text):
            self.leaks.append(Shown(place=place, by=person, what=what, leaked=leaked))

    def _format(self) -> str:
        return self.random.choice([name for name in FORMATS if name != "pdf"])


async def _ignore(*_: object) -> None: ...


async def run_world(seed: int, steps: int = 40) -> tuple[int, list[Shown]]:
    """Return the number of texts looked at in one random world, and those that leaked."""
    world = World(seed)
    await world.fill()
    acts = Acts(world)
    await acts.browsers.open()
    for _ in range(steps):
        if world.random.random() < 0.4:
            await world.change()
        await acts.act()
    await acts.close()
    return acts.shown, acts.leaks
