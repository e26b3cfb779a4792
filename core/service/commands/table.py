"""The table itself: every command that is bound, by name."""

from collections.abc import Mapping
from dataclasses import replace

from core.access.scopes import Access
from core.answering.redaction import Histories
from core.errors import BadInput
from core.features.kept_answers import KeptAnswers
from core.features.recap import Recaps
from core.features.replay.cassettes import Cassettes
from core.features.staleness.detection import Staleness
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository
from core.service.commands.asking import AskingCommands
from core.service.commands.base import Command, CommandCall, CommandResult
from core.service.commands.cases import CaseCommands
from core.service.commands.completing import Completion, Completions
from core.service.commands.control import ControlCommands
from core.service.commands.facts import FactsCommands
from core.service.commands.keeping import KeepingCommands
from core.service.commands.library import LibraryCommands
from core.service.commands.position import PositionCommands
from core.service.commands.recap import RecapCommands
from core.service.commands.running import RunningQuestions
from core.service.commands.settings import SettingsCommands
from core.service.commands.stale import StaleCommands
from core.service.commands.threads import ThreadCommands
from core.service.jobs.trees import Jobs
from core.work.conversations import Conversations


class Commands:
    """The table, bound to the use cases.

    `questions` are those that a service has in hand, where one runs; `kept` are the answers that people keep, `facts`
    what was extracted, `staleness` notices stale answers, `cassettes` has recorded runs, `recaps` sums
    conversations up. Without them their commands are not in the table.
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
        questions: RunningQuestions | None = None,
        kept: KeptAnswers | None = None,
        facts: Facts | None = None,
        staleness: Staleness | None = None,
        recaps: Recaps | None = None,
        cassettes: Cassettes | None = None,
    ) -> None:
        threads = ThreadCommands(conversations, questions, Histories(conversations, corpus), access)
        self._completions = Completions(library, access, threads)
        rows = (
            *AskingCommands(library, access).rows,
            *threads.rows,
            *LibraryCommands(library, corpus, access, conversations).rows,
            *(FactsCommands(facts, access).rows if facts is not None else ()),
            *(StaleCommands(staleness).rows if staleness is not None else ()),
            *(RecapCommands(recaps, conversations, access).rows if recaps is not None else ()),
            *ControlCommands(conversations, jobs, questions).rows,
            *PositionCommands(settings, library, corpus, access).rows,
            *SettingsCommands(settings, access).rows,
            *(KeepingCommands(conversations, kept).rows if kept is not None else ()),
            *(CaseCommands(conversations, cassettes).rows if cassettes is not None else ()),
            Command(name="help", usage="", help="this list", run=self._help, control=True),
        )
        self.table: Mapping[str, Command] = {command.name: command for command in rows}

    async def run(self, call: CommandCall) -> CommandResult:
        """BadInput for an unknown command, naming the nearest ones; other errors as the use cases raise them."""
        command = self.table.get(call.name)
        if command is None:
            near = [name for name in self.table if name.startswith(call.name[:1])] or ["help"]
            raise BadInput(f"There is no command /{call.name}: did you mean {' or '.join(f'/{n}' for n in near)}?")
        if not call.options:
            call = replace(call, options=command.parse(command.options, call.argument))
        return await command.run(call)

    async def complete(self, call: CommandCall, option: str, typed: str) -> list[Completion]:
        """What a value that somebody is typing may become, best first; empty for what can't be completed."""
        command = self.table.get(call.name)
        wanted = next((item for item in command.options if item.name == option), None) if command else None
        return await self._completions.of(wanted, typed, call) if wanted else []

    async def _help(self, call: CommandCall) -> CommandResult:
        rows = [
            f"- `{f'/{item.name} {item.usage}'.strip()}`: {item.help}"
            for item in self.table.values()
            if call.address is not None or not item.for_channels
        ]
        return CommandResult(text="\n".join(rows))
