"""A workspace with one random book: read, cut, indexed and extracted as ever, with people who have read some of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from core.access.positions.places import places_of
from core.answering.pipeline import Pipeline, QuestionContext
from core.answering.redaction import Histories
from core.answering.run import Budget, RunObserver
from core.answering.strategies.choosing import STRATEGIES, ChosenStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.find_extracts import FindExtractsTool
from core.answering.tools.follow_relation import FollowRelationTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.list_documents import ListDocumentsTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.query_table import QueryTableTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.answer import Answer
from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.corpus import Document, SearchScope
from core.domain.extracts import Extraction, ExtractorInput
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.passages import IndexEntry
from core.domain.replies import ChatResponse
from core.domain.service import PersonAddress
from core.errors import FootnoteError
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.jobs import Jobs
from core.work.commands import CommandCall
from core.work.conversations import Conversations
from core.work.progress import SilentProgress
from storage.documents.base import build_readers
from storage.documents.chunking import chunk
from storage.documents.extraction.by_rules import to_extracts
from storage.documents.extractors.base import build_extractors
from tests.builders import NOON, build_document
from tests.fakes import ManualClock
from tests.integration.spoilers.books import Book
from tests.pipeline import build_answers
from tests.scripted import calls, says
from tests.unit.core.library_builder import Shelf, by_rule

CHANNEL = ThreadAddress(platform="web", workspace="local", channel="club", thread="t1")
READERS = {suffix: reader for reader in build_readers() for suffix in reader.suffixes}
EXTRACTORS = build_extractors()


class Curious:
    """A model that calls every tool it is given with all that it can think of, and then repeats what it was shown."""

    name = "curious"

    def __init__(self, *, tools: bool) -> None:
        self.capabilities = Capabilities(tools=tools)
        self.requests: list[ChatRequest] = []
        self.words: tuple[str, ...] = ()
        self._calls = 0

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        self.requests.append(request)
        last = request.messages[-1]
        if request.tools and not last.tool_results:
            return calls(*self._everything(request))
        shown = [item for message in request.messages for result in message.tool_results for item in result.passages]
        if not shown:
            return says(" ".join(self.words) or "Nothing.")
        return says(" ".join(f"{item.source.passage.text} [{item.number}]" for item in shown[:4]))

    async def close(self) -> None:
        """Nothing to close."""

    def _everything(self, request: ChatRequest) -> Iterator[ToolInvocation]:
        offered = {tool.name for tool in request.tools}
        for name, arguments in self._thoughts():
            if name in offered:
                self._calls += 1
                yield ToolInvocation(id=f"i{self._calls}", name=name, arguments=arguments)

    def _thoughts(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        query = " ".join(self.words)
        yield "search", {"query": query, "limit": 20}
        yield "query_journal", {"query": query, "query_type": "summary", "journal_name": "The Novel"}
        yield "query_journal", {"query": "list all people", "query_type": "extraction"}
        yield "get_ontology", {}
        yield "list_documents", {"since": "2020"}
        for kind in ("entity", "relation", "table", "meeting", "action_item", "endpoint", "figure", "anchor", "page"):
            yield "find_extracts", {"type": kind, "limit": 100, "raw": True}
        yield "query_table", {"document": "The Novel"}
        yield "query_table", {"document": "The Novel", "operation": "rows", "limit": 50}
        for name in self.words:
            yield "query_table", {"table": name}
            yield "follow_relation", {"name": name}
            yield "find_extracts", {"query": name}
        for number in range(1, 7):
            yield "get_page", {"document": "The Novel", "page_number": number}


class World:
    """Everything in memory; one book, and a question desk."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.clock = ManualClock()
        self.store = self.shelf.stores.conversations
        self.jobs = self.shelf.stores.jobs
        self.conversations = Conversations(self.store, self.clock)
        self.histories = Histories(self.conversations, self.shelf.corpus)
        self.provider = Curious(tools=True)
        self.document: Document | None = None
        self._asked = 0

    async def add(self, book: Book, folder: Path) -> Document:
        path = book.write(folder)
        parsed = READERS[path.suffix].read(path, folder)
        shelf = self.shelf
        document = build_document(path.name, shelf.source, title=parsed.title, kind=parsed.kind)
        cut = chunk(parsed, "local", document.id, places_of)
        document = replace(document, revision=cut.revision, aliases=parsed.aliases)
        await shelf.corpus.save_source(shelf.source)
        await shelf.corpus.switch_revision(document, cut.pages, cut.passages)
        await shelf.index.add(
            [
                IndexEntry(
                    passage=item, workspace="local", source_id=shelf.source.id, kind=document.kind, title=document.title
                )
                for item in cut.passages
            ]
        )
        for extractor in EXTRACTORS:
            if extractor.reads(document):
                given = ExtractorInput(document=document, pages=cut.pages, path=path)
                checked = to_extracts(list(extractor.extract(given)), extractor, given)
                assert checked.error is None, checked.error
                run = Extraction(
                    document_id=document.id,
                    extractor=extractor.name,
                    version=extractor.version,
                    revision=cut.revision,
                    extracts=len(checked.extracts),
                    extracted_at=NOON,
                )
                await shelf.extracts.replace(run, checked.extracts)
        self.document = document
        return document

    async def set(self, holder: ChannelAddress | PersonAddress, last: int | None) -> None:
        assert self.document is not None
        await self.shelf.settings.save_position(holder, self.document.id, last)

    async def ask(self, text: str, *, strategy: str = "tool_use", author: str = "ada") -> Answer:
        self._asked += 1
        incoming = IncomingMessage(
            address=CHANNEL, author=author, text=text, event_key=f"e{self._asked}", strategy=strategy
        )
        return await self._service().answer(incoming, SilentProgress())

    def commands(self) -> Commands:
        return Commands(
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            conversations=self.conversations,
            jobs=Jobs(self.jobs, self.store, self.clock),
            access=self.shelf.access,
            settings=self.shelf.settings,
            auto_answers=AutoAnswers(self.shelf.stores.auto_answers, self.shelf.stores.settings, self.clock),
            facts=self.shelf.facts,
            recaps=by_rule(self.shelf),
        )

    async def call(self, name: str, argument: str = "", author: str = "ada") -> str:
        """What a command shows, or says is wrong."""
        conversation = await self.store.find_by_address(CHANNEL)
        call = CommandCall(
            name=name, argument=argument, workspace="local", conversation=conversation, author=author, address=CHANNEL
        )
        try:
            result = await self.commands().run(call)
        except FootnoteError as error:
            return str(error)
        file = result.file.data.decode(errors="replace") if result.file else ""
        return f"{result.text}\n{result.citations}\n{result.rows}\n{file}"

    async def scope(self, author: str = "ada") -> SearchScope:
        return await self.shelf.access.scope("local", CHANNEL, reader=author)

    def _service(self) -> Pipeline:
        return build_answers(
            self.shelf,
            clock=self.clock,
            conversations=self.conversations,
            pipeline={"strategy": self._strategy, "toolbox": self._toolbox},
        )

    async def _strategy(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        made = STRATEGIES[message.strategy or ToolUseStrategy.name]
        return ChosenStrategy(strategy=made(self.provider, Budget(steps=3), self.clock, observer))

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        tools = (
            SearchTool(),
            GetPageTool(),
            QueryJournalTool(),
            FindExtractsTool(),
            QueryTableTool(),
            FollowRelationTool(),
            GetOntologyTool(),
            ListDocumentsTool(),
        )
        context = self.shelf.context(
            scope=reading.scope, focus=reading.focus, linked=frozenset(item.id for item in reading.linked)
        )
        return Toolbox(tools, context, reading.offer, observer)
