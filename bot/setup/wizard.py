"""The set-up wizard, for the browser and for `footnote init`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.presentation.setup_screens import Answers, Finding, Screen
from bot.setup.documents import DocumentsStep
from bot.setup.draft import Draft
from bot.setup.model import ModelStep
from bot.setup.people import PeopleStep
from bot.setup.platforms import DiscordServerStep, DiscordTokenStep, PlatformStep
from bot.setup.slack import SlackConnectionStep, SlackStep, SlackTeamsStep
from bot.setup.step import Step, is_problem, page
from bot.setup.writing import ConfigFile
from bot.wiring.parts import open_parts
from core.errors import NotFound

STEPS: tuple[Step, ...] = (
    PlatformStep(),
    DiscordTokenStep(),
    DiscordServerStep(),
    SlackConnectionStep(),
    SlackStep(),
    SlackTeamsStep(),
    DocumentsStep(),
    ModelStep(),
    PeopleStep(),
)
FINISH = ("finish", "Done")


class Wizard:
    """Implements SetupWizard over a draft."""

    def __init__(self, draft: Draft, steps: Sequence[Step] = STEPS) -> None:
        self._draft = draft
        self._all = steps

    @property
    def steps(self) -> Sequence[tuple[str, str]]:
        return [*((step.key, step.title) for step in self._applying), FINISH]

    @property
    def file(self) -> Path:
        """The configuration that `finish` writes."""
        return self._draft.file

    def state(self) -> dict[str, object]:
        """Return the state of each step, as a JSON object, without live checks."""
        answered = self._draft.answers.steps
        steps = [
            {
                "step": step.key,
                "title": step.title,
                "progress": answered.get(step.key),
                "is_set_up": step.is_set_up(self._draft),
                "summary": list(step.summary(self._draft)),
            }
            for step in self._applying
        ]
        return {"config": str(self.file), "is_unfinished": self._draft.is_unfinished, "steps": steps}

    async def screen(self, step: str = "") -> Screen:
        keys = [key for key, _ in self.steps]
        key = step or next(key for key in keys if key not in self._draft.answers.steps)
        if key not in keys:
            raise NotFound(f"The set-up has no step {step!r}. Open its first page again.")
        shown = self._last() if key == FINISH[0] else await self._step(key).screen(self._draft)
        return replace(shown, step=key, number=keys.index(key) + 1, count=len(keys))

    async def submit(self, step: str, answers: Answers) -> Sequence[Finding]:
        findings = await self._step(step).submit(self._draft, answers)
        if is_problem(findings):
            self._draft.answers.steps.pop(step, None)
        else:
            self._draft.answers.steps[step] = "finished"
        self._draft.save()
        return findings

    async def skip(self, step: str) -> None:
        self._draft.answers.steps[self._step(step).key] = "skipped"
        self._draft.save()

    async def finish(self) -> Sequence[str]:
        done = self._summary()
        file = ConfigFile(self._draft.file)
        for step in self._applying:
            step.write(self._draft, file)
        if self._draft.has_own_data_dir and not file.has("data_dir"):
            file.set("data_dir", value=str(self._draft.config.data_path))
        self._draft.read(file.text)
        file.replace()
        await self._owe_greetings()
        self._draft.clear()
        return done

    async def _owe_greetings(self) -> None:
        """Let the service greet new servers: they were joined before it could hear of that."""
        if not self._draft.answers.servers:
            return
        async with open_parts(self._draft.config) as parts:
            teams = parts.stores.teams
            known = {team.id for team in await teams.list_teams() if team.name}
            for server in self._draft.answers.servers.keys() - known:
                await teams.owe_greeting("discord", server)

    @property
    def _applying(self) -> list[Step]:
        return [step for step in self._all if step.applies(self._draft)]

    def _step(self, key: str) -> Step:
        """Raises NotFound for a step that doesn't apply."""
        found = next((step for step in self._applying if step.key == key), None)
        if found is None:
            raise NotFound(f"The set-up has no step {key!r}. Open its first page again.")
        return found

    def _last(self) -> Screen:
        return page(title="Ready", text=tuple(self._summary()), is_last=True)

    def _summary(self) -> list[str]:
        return [sentence for step in self._applying for sentence in step.summary(self._draft)]


def open_wizard(file: Path | None = None, data_dir: Path | None = None, workspace: str | None = None) -> Wizard:
    """Return the wizard of a configuration file (None: config.toml here), which may not exist yet.

    Raises ConfigError and StorageError.
    """
    return Wizard(Draft(file, data_dir, workspace))
