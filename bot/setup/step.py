"""One step of the wizard: its screen, its checks, and its keys of config.toml."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from bot.presentation.setup_screens import Answers, Finding, Screen, Tone
from bot.setup.draft import Draft, Secret
from bot.setup.writing import ConfigFile

# A screen that the wizard numbers.
page = partial(Screen, step="", number=0, count=0)
ok = partial(Finding, tone=Tone.OK)
warning = partial(Finding, tone=Tone.WARNING)
problem = partial(Finding, tone=Tone.PROBLEM)


class Step(Protocol):
    """To add one, list it in wizard.py."""

    key: str
    title: str  # in the list of steps

    def applies(self, draft: Draft) -> bool: ...

    def is_set_up(self, draft: Draft) -> bool: ...

    async def screen(self, draft: Draft) -> Screen:
        """Return the screen, with `page`; earlier answers are checked again."""
        ...

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        """Check the answers, and change the draft, which is saved afterwards."""
        ...

    def write(self, draft: Draft, file: ConfigFile) -> None:
        """Set the step's keys."""
        ...

    def summary(self, draft: Draft) -> Sequence[str]:
        """Describe the set-up in sentences."""
        ...


def one(answers: Answers, name: str) -> str:
    """Return a field's only value, without blanks around it; "" without one."""
    value = answers.get(name, "")
    return (value if isinstance(value, str) else next(iter(value), "")).strip()


def several(answers: Answers, name: str) -> list[str]:
    """Return a field's values, without blanks around them and empty ones."""
    value = answers.get(name, ())
    words = value.splitlines() if isinstance(value, str) else value
    return [word.strip() for word in words if word.strip()]


def secret_note(draft: Draft, secret: Secret) -> str:
    """Return where a secret is."""
    if draft.is_from_environment(secret):
        return f"Taken from {secret.variable}. Paste another one only to replace it."
    return "Kept on this machine, in a file that only Footnote can read."


def write_secret(draft: Draft, file: ConfigFile, secret: Secret) -> None:
    """Name the file of a secret that was entered in this run."""
    if path := draft.entered_file(secret):
        file.set(*secret.key, value=str(path))


def write_bindings(
    draft: Draft, file: ConfigFile, platform: str, chosen: Mapping[str, str], configured: Mapping[str, str]
) -> None:
    """Bind the chosen servers or teams to our workspace; others stay bound to other workspaces."""
    for id, workspace in configured.items():
        if workspace == draft.workspace and id not in chosen:
            file.remove(platform, "workspaces", id)
    for id in chosen:
        file.set(platform, "workspaces", id, value=draft.workspace)


def is_problem(findings: Sequence[Finding]) -> bool:
    return any(finding.tone is Tone.PROBLEM for finding in findings)
