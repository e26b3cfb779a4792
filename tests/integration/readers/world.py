"""A workspace whose people, channels, readers and documents change at random, as plain rules and as the product has it.

Each document has words of its own in its name, headings and text, and each question one. So a text shown in a place can
be searched for words of documents that somebody there may not read, and of questions asked in other places, by plain
rules that know each person: `World.closed_in` and `World.asked_elsewhere`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.web.api.platform import api_address
from bot.web.audiences import WebAudiences
from core.access.identity import ApiAudiences
from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.corpus import Document, Source, document_id
from core.domain.extracts import ExtractType
from core.domain.incoming import ThreadAddress
from core.domain.ingest_report import IngestReport
from core.domain.kept_answers import KEPT_KIND, read_file
from core.domain.readers import UNLIMITED, Audience, Narrowing
from core.features.kept_answers import KeptAnswers
from core.knowledge.library import Library
from core.knowledge.narrowing import Narrower
from tests.builders import build_source
from tests.fakes import ManualClock
from tests.integration.platform_files import alone
from tests.unit.core.library_builder import Shelf

PLATFORM = "chat"
# Browsers of the web app: of a person who signed in, and of a visitor.
SIGNED_IN, VISITOR = f"Wim {16 * 'a'}", f"Guest {16 * 'b'}"
IN_BROWSERS = {
    SIGNED_IN: frozenset({"everyone", "members", f"person:{16 * 'a'}"}),
    VISITOR: frozenset({"everyone"}),
}
# People with a token of the API: two by what they are, one by who is signed in to the web app.
IN_API = {
    "tia": frozenset({"members"}),
    "uli": frozenset({"role:keeper"}),
    "wim": frozenset({f"web:{16 * 'a'}"}),
}
PROVIDER_GROUPS = ("crew", "/teams/docs")  # of the person who signed in
PEOPLE = ("ada", "ben", "cay", "gil")
GUESTS = frozenset({"gil"})
CHANNELS = ("town", "council", "cellar")  # the last stands for a group message: it has no thread for some members
ROLES = ("keeper", "scribe")
DIRECT = {person: f"dm-{person}" for person in PEOPLE}
NOOK = "nook"  # a thread of each channel for some of its members
CHOICES: tuple[frozenset[str], ...] = (
    frozenset({"everyone"}),
    frozenset({"members"}),
    frozenset({"role:keeper"}),
    frozenset({"channel:council"}),
    frozenset({"person:ada", "role:scribe"}),
    frozenset({"person:gil", f"person:{16 * 'a'}"}),
    frozenset({"group:crew", "person:ben"}),
    frozenset(),
)


def address_of(channel: str, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=PLATFORM, workspace="local", channel=channel, thread=thread)


def in_api(person: str, number: int) -> ThreadAddress:
    """Return a session of a person with a token."""
    return api_address("local", f"{person}-{number}")


def in_browser(person: str) -> ThreadAddress:
    """Return the thread of a person in the web app."""
    return ThreadAddress(platform="web", workspace="local", channel="general", thread=person.split()[0].lower())


async def _nothing() -> None: ...


@dataclass
class World:
    """All state that decides what may be shown, kept plainly here and in the product."""

    seed: int
    shelf: Shelf = field(default_factory=Shelf)
    members: dict[str, set[str]] = field(default_factory=dict)  # channel -> people who can read it
    nooks: dict[str, set[str]] = field(default_factory=dict)  # channel -> members of its closed thread
    roles: dict[str, set[str]] = field(default_factory=dict)  # person -> roles
    sources: dict[str, Source] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)  # by each of its words
    narrowed: dict[str, Narrowing] = field(default_factory=dict)  # document id -> one of each set
    gone: set[str] = field(default_factory=set)  # ids of removed documents
    attached: dict[str, ThreadAddress] = field(default_factory=dict)  # the thread of each file, by its word
    said: dict[str, ThreadAddress] = field(default_factory=dict)  # the place of each question, by its word
    said_by: dict[str, str] = field(default_factory=dict)  # and the person

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.clock = ManualClock()
        self.shelf.access.audiences[PLATFORM] = self
        identity, audiences = self.shelf.stores.identity, self.shelf.access.audiences
        audiences["web"] = WebAudiences(self.shelf.conversations, identity, has_visitors=True)
        audiences["api"] = ApiAudiences(self.shelf.conversations, identity, audiences)
        self.groups: frozenset[str] = frozenset()  # of the person who signed in
        self.members = {channel: set(self.random.sample(PEOPLE, self.random.randint(1, 4))) for channel in CHANNELS}
        self.nooks = {channel: {min(people)} for channel, people in self.members.items()}
        self.roles = {person: set(self.random.sample(ROLES, self.random.randint(0, 2))) for person in PEOPLE}
        stores = self.shelf.stores
        plain = Library(self.shelf.corpus, self.shelf.index, stores.conversations)
        known = (stores.kept, self.shelf.corpus, self.shelf.settings, self.shelf.access, plain)
        self.kept = KeptAnswers(*known, self._ingest, alone=alone, clock=self.clock)
        self.library = Library(self.shelf.corpus, self.shelf.index, stores.conversations, after_removal=self.kept.sweep)
        self.shelf.library = self.library
        self._words = 0
        self.between: Callable[[], Awaitable[None]] = _nothing  # what people do while a sync is under way

    # The rule, written for single people.

    def words_of(self, person: str) -> frozenset[str]:
        if person == "wim":
            return self.words_of(SIGNED_IN)
        if person in IN_API:
            return IN_API[person] | {"everyone"}
        if person in IN_BROWSERS:
            return IN_BROWSERS[person] | ({f"group:{name}" for name in self.groups} if person == SIGNED_IN else set())
        own = {"everyone", f"person:{person}", *(f"role:{role}" for role in self.roles[person])}
        own |= {f"channel:{channel}" for channel, people in self.members.items() if person in people}
        return frozenset(own if person in GUESTS else own | {"members"})

    def people_in(self, place: ThreadAddress) -> set[str]:
        """Return everyone who reads a place."""
        if place.platform == "web":
            return {person for person in IN_BROWSERS if in_browser(person) == place}
        if place.platform == "api":
            return {place.private_to or place.thread.partition("-")[0]}
        if place.private_to is not None:
            return {place.private_to}
        if place.channel in self.members:
            people = self.members[place.channel]
            return people & self.nooks[place.channel] if place.thread == NOOK else people
        return {person for person, direct in DIRECT.items() if direct == place.channel}

    def may_read(self, person: str, document: Document) -> bool:
        words = self.words_of(person)
        limits = self.narrowed.get(document.id, UNLIMITED)
        source = next((item for item in self.sources.values() if item.id == document.source_id), None)
        is_there = source is not None and document.id not in self.gone
        return is_there and bool(words & source.readers) and all(words & limit for limit in limits)

    def _is_open(self, document: Document) -> bool:
        """Return whether a place without known readers shows a document, too."""
        source = next((item for item in self.sources.values() if item.id == document.source_id), None)
        is_there = source is not None and document.id not in self.gone
        return is_there and "everyone" in source.readers and not self.narrowed.get(document.id)

    def closed_to(self, people: set[str], place: ThreadAddress, *, is_alone: bool) -> set[str]:
        """Return the words that may not be shown to these people in a place: of documents, files and questions."""
        found = {
            word
            for word, document in self.documents.items()
            if not (all(self.may_read(person, document) for person in people) if people else self._is_open(document))
        }
        found |= {
            word
            for word, thread in self.attached.items()
            if thread != place and not (is_alone and people <= self.people_in(thread))
        }
        return found | {word for word, thread in self.said.items() if not self._reads(people, place, thread)}

    def _reads(self, people: set[str], place: ThreadAddress, thread: ThreadAddress) -> bool:
        """Return whether all these people read a thread; what was said in private stays in its own thread."""
        return place == thread or bool(people and people <= self.people_in(thread))

    # The product's view of it (Audiences).

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience.of(*(self.words_of(person) & (named | {"everyone"}) for person in self.people_in(address)))

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience.of(self.words_of(person) & (named | {"everyone"}))

    # Changes.

    async def fill(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            source = build_source(name, readers=self.random.choice(CHOICES))
            self.shelf.source = self.sources[name] = source
            for number in (1, 2):
                await self._write(source, f"{name}{number}.md", self.new_word(name))

    async def change(self) -> None:
        changes = (
            self._join,
            self._leave,
            self._role,
            self._readers,
            self._narrow,
            self._edit,
            self._remove,
            self._sync,
            self._sign_in,
        )
        await self.random.choice(changes)()

    def new_word(self, kind: str) -> str:
        self._words += 1
        return f"zq{kind}{self._words}z"

    async def attach(self, thread: ThreadAddress) -> None:
        """Read a file that was attached in a thread."""
        word = self.new_word("file")
        self.attached[word] = thread
        source = build_source(attached_name(thread), kind=ATTACHMENTS)
        await self._write(source, f"{word}.md", word, known=False)

    async def _write(self, source: Source, path: str, word: str, *, known: bool = True, revision: str = "r1") -> None:
        self.shelf.source = source
        text = f"# {word} harbour\n\nThe harbour of {word} is deep, and {word} keeps it."
        id = document_id("local", source.id, path)
        document = await self.shelf.add(path, text, title=f"{word} harbour", revision=revision, id=id)
        await self.shelf.extract(document, ExtractType.ENTITY, {"name": f"the keep of {word}", "kind": "place"})
        if known:
            self.documents[word] = document

    async def _ingest(
        self, source: Source, root: Path, only: str | None = None, *, kind: str | None = None
    ) -> IngestReport:
        """Read a kept answer as the product's reader does, without a child process."""
        assert only is not None
        file = read_file(await asyncio.to_thread(Path(root, only).read_text, "utf-8"))
        assert file is not None
        self.shelf.source = source
        known = document_id("local", source.id, only)
        await self.shelf.add(only, file.text, title=file.title, kind=KEPT_KIND, id=known)
        return IngestReport(added=1)

    async def _join(self) -> None:
        channel, person = self.random.choice(CHANNELS), self.random.choice(PEOPLE)
        self.members[channel].add(person)
        if self.random.random() < 0.5:
            self.nooks[channel].add(person)

    async def _leave(self) -> None:
        people = self.random.choice((self.members, self.nooks))[self.random.choice(CHANNELS)]
        if len(people) > 1:
            people.discard(self.random.choice(sorted(people)))

    async def _role(self) -> None:
        self.roles[self.random.choice(PEOPLE)] ^= {self.random.choice(ROLES)}

    async def _readers(self) -> None:
        name = self.random.choice(sorted(self.sources))
        readers = self.random.choice(CHOICES)
        await self.shelf.corpus.set_readers(self.sources[name].id, readers)
        self.sources[name] = replace(self.sources[name], readers=readers)

    async def _narrow(self) -> None:
        document = self._any_document()
        if document is not None:
            await self.narrow(document)

    async def narrow(self, document: Document) -> None:
        limits = self._some_limits()
        await self.shelf.corpus.narrow(document.source_id, {document.id: limits})
        self.narrowed[document.id] = limits

    async def _edit(self) -> None:
        document = self._any_document()
        if document is not None:
            await self.edit(document)

    async def edit(self, document: Document) -> None:
        """Give a document another text, so that its answers become stale."""
        word = self.new_word(document.source)
        await self._write(self.sources[document.source], document.path, word, revision=word)

    async def _sync(self) -> None:
        """Take in a document's new text and readers as a sync of its source does."""
        document = self._any_document()
        if document is None:
            return
        source, limits = self.sources[document.source], self._some_limits()
        before = self.narrowed.get(document.id, UNLIMITED)
        narrower = await Narrower.of(self.shelf.corpus, source)
        await narrower.close({document.path: limits})
        self.narrowed[document.id] = before | limits
        await self.edit(document)
        await self.between()
        await narrower.open({document.path: limits})
        self.narrowed[document.id] = limits

    async def _sign_in(self) -> None:
        """Let the person of the web app sign in again, in other groups."""
        self.groups = frozenset(self.random.sample(PROVIDER_GROUPS, self.random.randint(0, 2)))
        await self.shelf.stores.identity.meet(64 * "a", SIGNED_IN, "Wim", self.groups)

    def _some_limits(self) -> Narrowing:
        return frozenset(self.random.sample(CHOICES, self.random.choice((0, 1, 1, 2))))

    async def _remove(self) -> None:
        if self.random.random() < 0.5:
            return
        if self.random.random() < 0.5 and len(self.sources) > 1:
            source = self.sources.pop(self.random.choice(sorted(self.sources)))
            await self.library.remove_source("local", source.name)
        elif (document := self._any_document()) is not None:
            self.gone.add(document.id)
            await self.library.forget([document])

    def _any_document(self) -> Document | None:
        there = self.there()
        return self.random.choice(there) if there else None

    def there(self) -> list[Document]:
        """Return the documents that were not removed, one for each of their words."""
        return [item for item in self.documents.values() if item.source in self.sources and item.id not in self.gone]
