"""What stands behind a platform in tests: the real inbox, worker and answer service over stores in memory."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.config.sections import TEAM_IDS
from core.access.availability import Availability
from core.access.bindings import Bindings
from core.answering.deletion import Forgetting
from core.answering.pipeline import QuestionContext
from core.answering.run import RunObserver
from core.answering.steps.private_answers import ToPrivate
from core.answering.support.check import SupportCheck
from core.answering.tools.toolbox import Toolbox
from core.domain.answer import Citation
from core.domain.chat import ToolInvocation
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.replies import ChatResponse
from core.features.additions import Additions
from core.features.catchup import catchup_command
from core.features.feedback import Feedbacks
from core.features.kept_answers import KeptAnswers
from core.features.staleness.stale_answers import Staleness
from core.features.uploads import Uploads
from core.features.workspaces import Workspaces
from core.knowledge.library import Library
from core.ports import ChatProvider, Clock
from core.ports.auto_answers import PrivateReports
from core.ports.documents import WebFile
from core.ports.service import ChatPlatform, ThreadReader
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.commands.threads import RunningQuestions
from core.service.inbox import Gate, Inbox, QuestionLimits, platform_gates
from core.service.jobs import Jobs
from core.service.turns import Turns
from core.service.worker import Worker
from core.work.commands import Command
from core.work.conversations import Conversations
from storage.database.repositories.ingest_progress import SqlIngestProgress
from storage.documents.base import check_readable
from storage.documents.files import stamp_file
from storage.sources.web_pages import fetch_link
from tests.integration.platform_files import LIMITS, Files, build_kept, build_live, build_reviews
from tests.integration.upload_place import alone
from tests.pipeline import build_answers
from tests.scripted import Turn, calls, says
from tests.turn_model import TURN_MODEL
from tests.unit.bot.web.chat_place import HeldProvider
from tests.unit.core.answering.providers.extractive.small_library import NearModel
from tests.unit.core.library_builder import QUOTING, Shelf, by_rule

KEY = "The key hangs under the stairs."
ANSWER = says("The key hangs under the stairs [1].")
EDIT_SECONDS = 0.02  # between the edits of a draft, here
UNTIL_SECONDS, LOOK_SECONDS = 60.0, 0.02


def search(id: str = "t1", query: str = "where is the key") -> ChatResponse:
    return calls(ToolInvocation(id=id, name="search", arguments={"query": query}))


def turns(count: int) -> tuple[Turn, ...]:
    """The same question, looked up and answered so many times."""
    return tuple(turn for number in range(count) for turn in (search(f"t{number}"), ANSWER))


@dataclass
class PlatformPlace:
    """What is stored outlives the processes that work on it."""

    script: tuple[Turn, ...] = ()
    folder: Path | None = None  # of the files; None: answers can't be kept either
    shelf: Shelf = field(default_factory=Shelf)
    pages: dict[str, WebFile] = field(default_factory=dict)  # of the web, by address
    writer: ChatProvider = QUOTING  # of what people catch up with
    relevance: float = 1.0  # of a question about keys
    pause: Callable[[float], Awaitable[None]] = lambda seconds: asyncio.sleep(EDIT_SECONDS)

    _reading: "asyncio.Task[None] | None" = None

    def ingests(self) -> SqlIngestProgress:
        """What one more process knows of the ingests."""
        return SqlIngestProgress(self.shelf.stores.database, self._clock)

    def begin(self, clock: Clock) -> None:
        """Everything that is stored, empty; `clock` is the platform's."""
        self._clock = clock
        self.files = Files(self.shelf.corpus, self.shelf.index)
        stores = self.shelf.stores
        self.conversation_store = stores.conversations
        self.attachments = self.files.attachments(self.conversation_store)
        self.job_store = stores.jobs
        self.entries = stores.inbox(clock)
        self.live = build_live(self.shelf, self.files, self.entries, clock)
        self.settings = self.shelf.settings
        self.conversations = Conversations(self.conversation_store, clock, self.attachments.forget)
        platforms = ("discord", "slack")
        self.availability = Availability(
            self.shelf.corpus, self.shelf.access, lambda: self.shelf.index, "local", platforms, ingests=self.ingests()
        )
        self.staleness = Staleness(
            stores.stale,
            conversations=self.conversation_store,
            inbox=self.entries,
            settings=self.settings,
            clock=clock,
            noted={"discord", "slack"},
        )
        self.feedback_store = stores.feedback
        self.uploads = Uploads(
            corpus=self.shelf.corpus,
            jobs=stores.jobs,
            clock=clock,
            ingest=self.files.ingest,
            check=check_readable,
            stamp=stamp_file,
            limits=LIMITS,
            folder=self.folder.with_name("uploads") if self.folder else Path("no uploads"),
            alone=alone,
            links=stores.additions.links,
        )
        library = Library(
            corpus=self.shelf.corpus,
            index=self.shelf.index,
            conversations=stores.conversations,
            delete_files=self.uploads.delete_files,
        )
        self.additions = Additions(
            stores.additions,
            self.uploads,
            library,
            self.shelf.access,
            Workspaces(self.shelf.corpus, Bindings(stores.teams, {}, TEAM_IDS, clock), "local", ()),
            self.fetch_link,
        )
        self.says(*self.script)

    def says(self, *script: Turn) -> None:
        """What the model says from now on, a turn for each of its requests."""
        if hasattr(self, "provider"):
            vars(self.provider).update(vars(HeldProvider(script)))  # the same object: the pipeline was built over it
        else:
            self.provider = HeldProvider(script)

    async def fetch_link(self, url: str, most_bytes: int) -> WebFile:
        """Fetch as the service does, if it isn't one of the test's pages."""
        return self.pages.get(url) or await fetch_link(url, most_bytes)

    async def kept(self) -> list[str]:
        """The texts of live channels that are stored, oldest first."""
        sources = await self.live.sources()
        found = [one for source in sources for one in await self.shelf.stores.channels.list_messages(source.id)]
        return [one.message.text for one in found if not one.is_gone]

    async def read_of_channels(self) -> list[str]:
        """The texts of live channels that the library has, and shows."""
        sources = [source.id for source in await self.live.sources() if self.live.is_open(source)]
        documents = await self.shelf.corpus.list_documents("local", frozenset(sources)) if sources else []
        scope = await self.shelf.access.scope("local")
        pages = [page for one in documents for page in await self.shelf.corpus.list_pages(one.id, scope)]
        return sorted(page.text for page in pages)

    async def until_read(self, *texts: str) -> None:
        """Wait until the library shows these texts of live channels, and no others."""

        async def is_read() -> bool:
            return await self.read_of_channels() == sorted(texts) == sorted(await self.kept())

        await until(is_read)

    async def until_open(self, platform: str, channel: str) -> None:
        """Wait until a live channel was compared with the platform's history."""
        address = ChannelAddress(platform=platform, workspace="local", channel=channel)

        async def is_open() -> bool:
            source = await self.live.find(address)
            return source is not None and self.live.is_open(source)

        await until(is_open)

    async def codes(self, workspace: str = "local") -> list[str]:
        """What was decided about each message, newest first."""
        return [entry.decision.code for entry in await self.entries.recent(workspace)]

    def build_worker(self, to_private: Mapping[str, ToPrivate]) -> None:
        """A new process's worker; its platforms are put into `platforms` and `readers` afterwards."""
        self.platforms: dict[str, ChatPlatform] = {}
        self.readers: dict[str, ThreadReader] = {}
        self.answers = build_answers(
            self.shelf,
            clock=self._clock,
            provider=self.provider,
            conversations=self.conversations,
            inbox_store=self.entries,
            staleness=self.staleness,
            attachments=self.attachments,
            availability=self.availability,
            pipeline={"toolbox": self._toolbox, "readers": self.readers, "to_private": to_private},
        )
        self.worker = Worker(self.entries, self.answers, self.platforms, self._clock, pause_scale=0.01)

    def gates(self) -> tuple[Gate, ...]:
        """Those of the platform, in their order."""
        return platform_gates(self.settings)

    def turns(self) -> Turns:
        return Turns(self.settings, self.entries, self._clock, TURN_MODEL, self.evidence, self.auto_answers().bar)

    def auto_answers(self) -> AutoAnswers:
        return AutoAnswers(self.shelf.stores.auto_answers, self.settings, self._clock)

    async def evidence(self, incoming: IncomingMessage, text: str) -> float:
        """How well the library covers a question: by a word, as no model is loaded here."""
        return self.relevance if "key" in text.casefold() else 0.0

    def limits(self) -> QuestionLimits:
        return QuestionLimits(settings=self.settings, person=20, platforms={"discord", "slack"})

    def core_parts(self) -> dict[str, Any]:
        """The fields of PlatformParts, for the worker that was built last."""
        inbox = Inbox(
            self.entries,
            self.gates(),
            self._clock,
            self.worker.wake,
            self.worker.withdraw,
            self.limits(),
            self.turns(),
        )
        jobs = Jobs(self.job_store, self.conversation_store, self._clock)
        kept = self._keeping()
        commands = Commands(
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            conversations=self.conversations,
            jobs=jobs,
            access=self.shelf.access,
            settings=self.settings,
            auto_answers=self.auto_answers(),
            availability=self.availability,
            questions=RunningQuestions(self.entries, self.worker.cancel),
            kept=kept,
            facts=self.shelf.facts,
            staleness=self.staleness,
            recaps=by_rule(self.shelf),
            additions=self.additions,
            reviews=build_reviews(self.shelf, kept, self.staleness, self._clock) if kept else None,
            people=self.shelf.stores.people,
            live=self.live,
            catchup=self._catchup(),
        )
        return {
            "inbox": inbox,
            "additions": self.additions,
            "entries": self.entries,
            "worker": self.worker,
            "conversations": self.conversations,
            "commands": commands,
            "feedbacks": Feedbacks(self.feedback_store, self.conversations, self._clock),
            "jobs": jobs,
            "access": self.shelf.access,
            "corpus": self.shelf.corpus,
            "suggestions": self.shelf.suggestions,
            "keeping": kept,
            "live": self.live,
            "settings": self.settings,
            "teams": self.shelf.stores.teams,
            "forgetting": Forgetting(
                inbox=self.entries,
                conversations=self.conversations,
                stop=self.worker.withdraw,
                attachments=self.attachments,
                derived=[*([kept] if kept else []), self.live],
            ),
            "clock": self._clock,
            "link": _link,
            "pause": self.pause,
        }

    def _catchup(self) -> Command:
        check = SupportCheck(NearModel())
        return catchup_command(
            self.live, self.shelf.corpus, self.shelf.access, lambda _: self.writer, check, self._clock
        )

    def _keeping(self) -> KeptAnswers | None:
        if self.folder is None:
            return None
        return build_kept(self.shelf, self.files, self._clock)

    def begin_reading(self) -> None:
        """Read uploads from now on, as the service does before it connects to a platform."""
        if self._reading is None:
            self._reading = asyncio.create_task(self.uploads.work(["local"]))

    async def begin_work(self) -> None:
        self._working = asyncio.create_task(self.worker.run())
        self._keeping_up = asyncio.create_task(self.live.work())
        self.begin_reading()
        await asyncio.sleep(0)  # it has begun: only then can it be stopped

    async def end_work(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
            self._reading = None
        self._keeping_up.cancel()
        await asyncio.wait({self._keeping_up})
        await self.worker.stop()
        await self._working

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        return self.shelf.toolbox(reading.offer, observer=observer, scope=reading.scope)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that is stored to become true; nobody tells when it does."""
    for _ in range(round(UNTIL_SECONDS / LOOK_SECONDS)):
        if await condition():
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError("it did not become true in time")


async def a_day_later(place: PlatformPlace, platform: str, channel: str, reports: PrivateReports) -> int:
    """The reports of shadow mode that are sent a day after it began in a channel."""
    address = ChannelAddress(platform=platform, workspace="local", channel=channel)
    settings = await place.settings.channel(address)
    assert settings.auto_answer_since is not None
    earlier = replace(settings, auto_answer_since=settings.auto_answer_since - timedelta(days=2))
    await place.settings.save_channel(address, earlier)
    return await place.auto_answers().send_reports({platform: reports}, place.entries)


def _link(citation: Citation, address: ThreadAddress, answer: str) -> str | None:
    return f"https://footnote.example.org/s/{citation.number}"
