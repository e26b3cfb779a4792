"""A workspace whose people, channels, readers and documents change at random, and an obedient model that repeats all.

Each document has words of its own in its name, headings and text, and each question one. So a text shown in a place can
be searched for words of documents that somebody there may not read, and of questions asked in other places, by plain
rules that know each person: `World.closed_in` and `World.asked_elsewhere`.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from core.answering.pipeline import Pipeline, QuestionContext
from core.answering.redaction import Histories
from core.answering.run import Budget, RunObserver
from core.answering.strategies.choosing import STRATEGIES, ChosenStrategy
from core.answering.tools.find_extracts import FindExtractsTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.corpus import Document, Source
from core.domain.incoming import Circumstances, IncomingMessage, ThreadAddress
from core.domain.readers import Audience
from core.domain.replies import ChatResponse
from core.errors import FootnoteError
from core.features.export import FORMATS, export_conversation
from core.serializers.objects import answer_json
from core.service.commands.table import Commands
from core.service.jobs import Jobs
from core.work.commands import CommandCall
from core.work.conversations import Conversations
from core.work.progress import SilentProgress
from tests.builders import build_source
from tests.fakes import ManualClock
from tests.pipeline import build_answers
from tests.scripted import calls, says
from tests.unit.core.library_builder import Shelf, by_rule

PLATFORM = "chat"
PEOPLE = ("ada", "ben", "cay", "gil")
GUESTS = frozenset({"gil"})
CHANNELS = ("town", "council", "cellar")
ROLES = ("keeper", "scribe")
DIRECT = {person: f"dm-{person}" for person in PEOPLE}
QUESTIONS = ("What is in the harbour?", "And what else?", "Who keeps the harbour?", "List all harbour documents.")
COMMANDS = (
    "search harbour",
    "sources",
    "facts type:entity",
    "recap",
    "threads",
    "source 1",
    "extract",
    "stale",
    "help",
)
CHOICES: tuple[frozenset[str], ...] = (
    frozenset({"everyone"}),
    frozenset({"members"}),
    frozenset({"role:keeper"}),
    frozenset({"channel:council"}),
    frozenset({"person:ada", "role:scribe"}),
    frozenset({"person:gil"}),
    frozenset(),
)


class Obedient:
    """A model that calls every tool, and repeats every word that it is given."""

    name = "obedient"

    def __init__(self) -> None:
        self.capabilities = Capabilities(tools=True)
        self.requests: list[ChatRequest] = []
        self._calls = 0

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        self.requests.append(request)
        if request.tools and not request.messages[-1].tool_results:
            return calls(*self._invocations({tool.name for tool in request.tools}))
        shown = [item for message in request.messages for result in message.tool_results for item in result.passages]
        said = " ".join(message.text for message in request.messages)
        return says(" ".join([said, *(f"{item.source.passage.text} [{item.number}]" for item in shown[:3])]))

    async def close(self) -> None:
        """Nothing to close."""

    def _invocations(self, offered: set[str]) -> Iterator[ToolInvocation]:
        for name, arguments in (
            ("search", {"query": "harbour", "limit": 20}),
            ("get_ontology", {}),
            ("find_extracts", {"type": "entity", "limit": 50, "raw": True}),
            ("query_journal", {"query": "harbour", "query_type": "summary"}),
        ):
            if name in offered:
                self._calls += 1
                yield ToolInvocation(id=f"i{self._calls}", name=name, arguments=arguments)


@dataclass
class Shown:
    """A text that somebody saw in a place, and the words in it of documents that are closed there."""

    place: str
    by: str
    what: str
    leaked: list[str]


@dataclass
class World:
    """All state that decides what may be shown, kept plainly here and in the product."""

    seed: int
    shelf: Shelf = field(default_factory=Shelf)
    shown: int = 0
    members: dict[str, set[str]] = field(default_factory=dict)  # channel -> people who can read it
    roles: dict[str, set[str]] = field(default_factory=dict)  # person -> roles
    sources: dict[str, Source] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)  # by its word
    narrowed: dict[str, frozenset[str]] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)  # the channel of each question, by its word

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.clock = ManualClock()
        self.store = self.shelf.stores.conversations
        self.conversations = Conversations(self.store, self.clock)
        self.histories = Histories(self.conversations, self.shelf.corpus)
        self.provider = Obedient()
        self.shelf.access.audiences[PLATFORM] = self
        self.members = {channel: set(self.random.sample(PEOPLE, self.random.randint(1, 4))) for channel in CHANNELS}
        self.roles = {person: set(self.random.sample(ROLES, self.random.randint(0, 2))) for person in PEOPLE}
        self._asked = 0

    # The rule, written for single people.

    def words_of(self, person: str) -> frozenset[str]:
        own = {"everyone", f"person:{person}", *(f"role:{role}" for role in self.roles[person])}
        own |= {f"channel:{channel}" for channel, people in self.members.items() if person in people}
        return frozenset(own if person in GUESTS else own | {"members"})

    def people_in(self, channel: str) -> set[str]:
        return self.members.get(channel) or {person for person, direct in DIRECT.items() if direct == channel}

    def may_read(self, person: str, document: Document) -> bool:
        words = self.words_of(person)
        narrower = self.narrowed.get(document.id)
        source = next((item for item in self.sources.values() if item.id == document.source_id), None)
        return source is not None and bool(words & source.readers) and (narrower is None or bool(words & narrower))

    def closed_in(self, channel: str) -> set[str]:
        """Return the words of all documents that somebody in the place may not read, or that are gone."""
        people = self.people_in(channel)
        return {
            word
            for word, document in self.documents.items()
            if not people or not all(self.may_read(person, document) for person in people)
        }

    def asked_elsewhere(self, channel: str, person: str, *, alone: bool) -> set[str]:
        """Return the words of questions asked elsewhere; if a person alone is shown a text, where they don't read."""
        return {
            word
            for word, place in self.questions.items()
            if place != channel and not (alone and person in self.people_in(place))
        }

    # The product's view of it (Audiences).

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience.of(*(self.words_of(person) for person in self.people_in(address.channel)))

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience.of(self.words_of(person))

    # Changes.

    async def fill(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            source = build_source(name, readers=self.random.choice(CHOICES))
            self.shelf.source = self.sources[name] = source
            for number in (1, 2):
                word = f"zq{name}{number}"
                text = f"# {word} harbour\n\nThe harbour of {word} is deep, and {word} keeps it."
                self.documents[word] = await self.shelf.add(f"{word}.md", text, title=f"{word} harbour")

    async def change(self) -> None:
        await self.random.choice((self._join, self._leave, self._role, self._readers, self._narrow, self._remove))()

    async def _join(self) -> None:
        self.members[self.random.choice(CHANNELS)].add(self.random.choice(PEOPLE))

    async def _leave(self) -> None:
        people = self.members[self.random.choice(CHANNELS)]
        if len(people) > 1:
            people.discard(self.random.choice(sorted(people)))

    async def _role(self) -> None:
        self.roles[self.random.choice(PEOPLE)] ^= {self.random.choice(ROLES)}

    async def _readers(self) -> None:
        if self.sources:
            name = self.random.choice(sorted(self.sources))
            readers = self.random.choice(CHOICES)
            await self.shelf.corpus.set_readers(self.sources[name].id, readers)
            self.sources[name] = replace(self.sources[name], readers=readers)

    async def _narrow(self) -> None:
        document = self.documents[self.random.choice(sorted(self.documents))]
        readers = self.random.choice((*CHOICES, None))
        if document.source not in self.sources:
            return
        await self.shelf.corpus.narrow(document.id, document.source_id, readers)
        self.narrowed.pop(document.id, None)
        if readers is not None:
            self.narrowed[document.id] = readers

    async def _remove(self) -> None:
        if self.random.random() < 0.3 and len(self.sources) > 1:
            name = self.random.choice(sorted(self.sources))
            source = self.sources.pop(name)
            for document in self.documents.values():
                if document.source_id == source.id:
                    self.narrowed.pop(document.id, None)
            await self.shelf.library.remove_source("local", source.name)

    # What people do.

    async def act(self) -> list[Shown]:
        """Let somebody ask, command, or look, in a place that they can read; return all that leaked."""
        person = self.random.choice(PEOPLE)
        places = [*(channel for channel in CHANNELS if person in self.members[channel]), DIRECT[person]]
        place = self.random.choice(places)
        address = ThreadAddress(platform=PLATFORM, workspace="local", channel=place, thread=self.random.choice("tu"))
        kind = self.random.random()
        if kind < 0.5:
            return await self._ask(person, address)
        if kind < 0.75:
            return await self._command(person, address, self.random.choice(COMMANDS))
        if kind < 0.85:
            return await self._export_by_command(person, address)
        if kind < 0.95:
            return await self._complete(person, address)
        return await self._export(person, address)

    async def _ask(self, person: str, address: ThreadAddress) -> list[Shown]:
        self._asked += 1
        sent = len(self.provider.requests)
        word = f"qx{self._asked}x"
        self.questions[word] = address.channel
        incoming = IncomingMessage(
            address=address,
            author=person,
            text=f"{word}: {self.random.choice(QUESTIONS)}",
            event_key=f"e{self._asked}",
            strategy=self.random.choice(("tool_use", "always_retrieve")),
            circumstances=Circumstances(direct=address.channel in DIRECT.values()),
        )
        answer = await self._service().answer(incoming, SilentProgress())
        shown = [self._look(address, person, "a prompt", repr(item)) for item in self.provider.requests[sent:]]
        return self._leaks([*shown, self._look(address, person, "an answer", repr(answer_json(answer)))])

    async def _command(self, person: str, address: ThreadAddress, line: str) -> list[Shown]:
        try:
            result = repr(await self._commands().run(await self._call(person, address, line)))
        except FootnoteError as error:
            result = str(error)
        return self._leaks([self._look(address, person, f"/{line}", result, alone=True)])

    async def _call(self, person: str, address: ThreadAddress, line: str) -> CommandCall:
        name, _, argument = line.partition(" ")
        return CommandCall(
            name=name,
            argument=argument,
            workspace="local",
            conversation=await self.store.find_by_address(address),
            author=person,
            address=address,
            direct=address.channel in DIRECT.values(),
        )

    async def _export_by_command(self, person: str, address: ThreadAddress) -> list[Shown]:
        """Export any conversation, also one of a place that the person has left or never read."""
        found = await self.store.list_conversations("local")
        if not found:
            return []
        own = [item for item in found if item.owner == person]
        wanted = self.random.choice(self.random.choice((own or found, found)))
        name = self.random.choice([name for name in FORMATS if name != "pdf"])
        return await self._command(person, address, f"threads export {wanted.id} {name}")

    async def _complete(self, person: str, address: ThreadAddress) -> list[Shown]:
        commands = self._commands()
        options = [(name, option.name) for name, row in sorted(commands.table.items()) for option in row.options]
        name, option = self.random.choice(options)
        found = await commands.complete(await self._call(person, address, name), option, "")
        return self._leaks([self._look(address, person, f"completions of /{name} {option}", repr(found), alone=True)])

    async def _export(self, person: str, address: ThreadAddress) -> list[Shown]:
        conversation = await self.store.find_by_address(address)
        if conversation is None:
            return []
        alone = address.channel in DIRECT.values()
        scope = await self.shelf.access.scope("local", address, reader=person, alone=alone)
        found, messages = await self.histories.show(conversation.id, "local", scope)
        name = self.random.choice([name for name in FORMATS if name != "pdf"])
        file = await export_conversation(found, messages, name)
        return self._leaks([self._look(address, person, f"an export as {name}", file.data.decode())])

    def _look(self, address: ThreadAddress, person: str, what: str, text: str, *, alone: bool = False) -> Shown:
        self.shown += 1
        closed = self.closed_in(address.channel) | self.asked_elsewhere(address.channel, person, alone=alone)
        leaked = sorted(word for word in closed if word in text)
        return Shown(place=address.channel, by=person, what=what, leaked=leaked)

    @staticmethod
    def _leaks(shown: list[Shown]) -> list[Shown]:
        return [item for item in shown if item.leaked]

    def _service(self) -> Pipeline:
        return build_answers(
            self.shelf,
            clock=self.clock,
            conversations=self.conversations,
            provider=self.provider,
            pipeline={"strategy": self._strategy, "toolbox": self._toolbox},
        )

    async def _strategy(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        made = STRATEGIES[message.strategy or "tool_use"]
        return ChosenStrategy(strategy=made(self.provider, Budget(steps=3), self.clock, observer))

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        tools = (SearchTool(), GetPageTool(), QueryJournalTool(), FindExtractsTool(), GetOntologyTool())
        context = self.shelf.context(scope=reading.scope, focus=reading.focus)
        return Toolbox(tools, context, reading.offer, observer)

    def _commands(self) -> Commands:
        return Commands(
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            conversations=self.conversations,
            jobs=Jobs(self.shelf.stores.jobs, self.store, self.clock),
            access=self.shelf.access,
            settings=self.shelf.settings,
            facts=self.shelf.facts,
            recaps=by_rule(self.shelf),
        )


async def run_world(seed: int, steps: int = 24) -> tuple[int, list[Shown]]:
    """Return the number of texts looked at in one random world, and those that leaked."""
    world = World(seed)
    await world.fill()
    leaks: list[Shown] = []
    for _ in range(steps):
        if world.random.random() < 0.4:
            await world.change()
        leaks += await world.act()
    return world.shown, leaks
