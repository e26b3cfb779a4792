"""The table itself: every command that is bound, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from core.access.availability import Availability
from core.access.scopes import Access
from core.answering.redaction import Histories
from core.domain.answer import Provenance
from core.domain.corpus import Document
from core.domain.incoming import ChannelAddress
from core.domain.service import FollowUps
from core.errors import BadInput
from core.features.additions import Additions, library_command
from core.features.kept_answers import KeptAnswers, keep_command
from core.features.live_channels import LiveChannels
from core.features.personal_data import my_data_command
from core.features.recap import Recaps, recap_command
from core.features.replay.cassettes import Cassettes, case_command
from core.features.review import Reviews, inbox_command
from core.features.staleness.stale_answers import Staleness, stale_command
from core.features.uploads import UPLOADS
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.knowledge.search.documents import only_journals
from core.ports import CorpusRepository
from core.ports.service import PersonRecords, SettingsRepository
from core.service.auto_answers import AutoAnswers
from core.service.commands.help import ALL, MORE, TOPICS, first_help, topic_help, topics_of
from core.service.commands.library import LibraryCommands
from core.service.commands.settings import SettingsCommands
from core.service.commands.threads import RunningQuestions, ThreadCommands, control_commands
from core.service.jobs import Jobs
from core.text.words import shorten
from core.work.commands import Command, CommandCall, CommandMenu, CommandResult, Option, OptionKind, readable_by
from core.work.conversations import Conversations

MOST_COMPLETIONS = 25  # the limit of chat platforms
LABEL_LENGTH = 100
LONGEST_VALUE = 100  # characters that a chat platform takes; ids are shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One proposal."""

    label: str  # for people, at most LABEL_LENGTH characters
    value: str  # of the option, at most LONGEST_VALUE characters


class Commands:
    """The table, bound to the use cases.

    `questions`, `kept`, `facts`, `staleness`, `cassettes`, `recaps`, `additions`, `reviews` and `people` are optional:
    without one, its commands are not in the table.
    """

    def __init__(
        self,
        *,
        library: Library,
        corpus: CorpusRepository,
        conversations: Conversations,
        jobs: Jobs,
        access: Access,
        settings: SettingsRepository,
        auto_answers: AutoAnswers,
        availability: Availability | None = None,
        questions: RunningQuestions | None = None,
        kept: KeptAnswers | None = None,
        facts: Facts | None = None,
        staleness: Staleness | None = None,
        recaps: Recaps | None = None,
        cassettes: Cassettes | None = None,
        additions: Additions | None = None,
        reviews: Reviews | None = None,
        people: PersonRecords | None = None,
        live: LiveChannels | None = None,
        catchup: Command | None = None,
    ) -> None:
        self._library = library
        self._settings = settings
        self._access = access
        self.availability = availability or Availability(corpus, access)
        self._threads = threads = ThreadCommands(conversations, questions, Histories(conversations, corpus), access)
        rows = (
            *LibraryCommands(library, corpus, access, self.availability, conversations, facts).rows,
            *threads.rows,
            *([stale_command(staleness, access, corpus)] if staleness is not None else ()),
            *([recap_command(recaps, conversations, access)] if recaps is not None else ()),
            *control_commands(conversations, jobs, questions, access, corpus),
            *SettingsCommands(settings, library, corpus, access, auto_answers, live).rows,
            *([keep_command(conversations, kept)] if kept is not None else ()),
            *([inbox_command(reviews)] if reviews is not None else ()),
            *([library_command(additions)] if additions is not None else ()),
            *([case_command(conversations, cassettes)] if cassettes is not None else ()),
            *([catchup] if catchup is not None else ()),
            *([my_data_command(people, access)] if people is not None else ()),
            Command(
                name="help",
                usage="[TOPIC]",
                help="how to ask, and the other commands by task",
                run=self._help,
                options=(
                    Option(
                        name="topic",
                        help="what you want to do",
                        kind=OptionKind.CHOICE,
                        choices=(*TOPICS, ALL),
                    ),
                ),
                control=True,
            ),
        )
        self.table: Mapping[str, Command] = {command.name: command for command in rows}

    async def run(self, call: CommandCall) -> CommandResult:
        """BadInput for an unknown command, naming the nearest ones; other errors as the use cases raise them."""
        command = self.table.get(call.name)
        if command is None:
            near = get_close_matches(call.name, self.table, n=2) or ["help"]
            raise BadInput(f"Unknown command /{call.name}. Did you mean {' or '.join(f'/{n}' for n in near)}?")
        if not call.options:
            call = replace(call, options=command.parse(command.options, call.argument))
        return await command.run(call)

    async def complete(self, call: CommandCall, option: str, typed: str) -> list[Completion]:
        """Return completions of a partial value: prefix matches first, then other values with the text in them.

        At most MOST_COMPLETIONS; empty for an option without any.
        """
        command = self.table.get(call.name)
        wanted = next((item for item in command.options if item.name == option), None) if command else None
        match wanted.kind if wanted else None:
            case OptionKind.CHOICE if wanted:
                found = [Completion(label=choice, value=choice) for choice in wanted.choices]
            case OptionKind.DOCUMENT:
                found = [_of_document(item) for item in await self._documents(call)]
            case OptionKind.JOURNAL:
                found = [_of_document(item) for item in only_journals(await self._documents(call))]
            case OptionKind.ADDED:
                found = [_of_document(item) for item in await self._documents(call) if item.source_kind == UPLOADS]
            case OptionKind.THREAD:
                listed = await self._threads.visible(call)
                found = [
                    Completion(label=shorten(item.title or item.id, LABEL_LENGTH), value=item.id) for item in listed
                ]
            case _:
                found = []
        said = typed.strip().casefold()
        fitting = [item for item in found if said in f"{item.label} {item.value}".casefold()]
        fitting.sort(key=lambda item: not item.label.casefold().startswith(said))
        return fitting[:MOST_COMPLETIONS]

    async def complete_line(self, call: CommandCall, line: str) -> list[str]:
        """Return the lines that continue one typed in a terminal: commands, else values of the first option."""
        name, blank, typed = line.removeprefix("/").partition(" ")
        if not blank:
            return [f"/{row.name} " for row in self._rows_for(call) if row.name.startswith(name)]
        row = self.table.get(name)
        options = row.options[:1] if row else ()
        found = [
            item.value
            for option in options
            for item in await self.complete(replace(call, name=name), option.name, typed)
        ]
        return [f"/{name} {value}" for value in found if value.casefold().startswith(typed.casefold())]

    async def _documents(self, call: CommandCall) -> list[Document]:
        documents = await self._library.documents(await readable_by(call, self._access))
        return [document for document in documents if document.revision is not None]

    async def _help(self, call: CommandCall) -> CommandResult:
        rows, topic = {row.name: row for row in self._rows_for(call)}, call.option("topic").casefold()
        if topic in (*TOPICS, ALL):
            return CommandResult(text=topic_help(rows, topic))
        sources = await self._access.sources(call.workspace, call.address)
        return CommandResult(
            text=first_help(rows, sources, await self._follow_ups(call)),
            menu=CommandMenu(title=MORE, command="help", options=tuple(topics_of(rows))),
            rests_on=Provenance(sources=tuple(source.id for source in sources)),
        )

    async def _follow_ups(self, call: CommandCall) -> FollowUps | None:
        """Return the rule of a channel's threads, or of the call's own; None outside channels."""
        if call.address is None or call.direct:
            return None
        if (await self._settings.listening(call.address)).is_muted:
            return FollowUps.NAMED
        return (await self._settings.channel(ChannelAddress.of(call.address))).follow_ups

    def _rows_for(self, call: CommandCall) -> list[Command]:
        return [row for row in self.table.values() if call.address is not None or not row.for_channels]


def _of_document(document: Document) -> Completion:
    label = document.title if document.title == document.path else f"{document.title} ({document.path})"
    path = f"{document.source}/{document.path}"
    return Completion(label=shorten(label, LABEL_LENGTH), value=path if len(path) <= LONGEST_VALUE else document.id)
