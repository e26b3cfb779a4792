"""The screens of the set-up wizard, which the terminal and the browser both show; bot/setup has the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

# The values a person entered, by the names of the fields; several values for FieldKind.CHOICES and LINES.
Answers: TypeAlias = Mapping[str, str | Sequence[str]]


class Tone(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it works without this
    PROBLEM = "problem"  # the step can't be finished with it, only skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check, in one sentence that names the fix."""

    tone: Tone
    sentence: str
    link: str = ""  # the page of the fix


class FieldKind(StrEnum):
    CHOICE = "choice"  # one of `choices`
    CHOICES = "choices"  # any of them
    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - the kind of a field
    LINES = "lines"  # one value a line
    FILES = "files"  # uploads of the browser; the terminal leaves it out


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A value with its name and its meaning."""

    value: str
    label: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Something to enter."""

    name: str
    label: str
    kind: FieldKind
    choices: tuple[Choice, ...] = ()
    value: str | tuple[str, ...] = ""  # entered before; of a secret always ""
    is_stored: bool = False  # a secret: it was entered before
    only_if: tuple[str, str] | None = None  # shown only while this other field has one of these values, by blanks
    note: str = ""

    def applies(self, answers: Answers) -> bool:
        """Return whether it is shown next to these answers to the fields before it."""
        return self.only_if is None or answers.get(self.only_if[0], "") in self.only_if[1].split(" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A page to open on the way, such as the developer portal."""

    label: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One question of the wizard, as it is now."""

    step: str  # its key
    number: int  # of the steps that apply, from 1
    count: int
    title: str
    text: tuple[str, ...] = ()  # paragraphs: where to click
    links: tuple[Link, ...] = ()
    copied: str = ""  # a text to copy, such as Slack's manifest
    fields: tuple[Field, ...] = ()
    findings: tuple[Finding, ...] = ()  # of the values entered before, checked now
    is_last: bool = False  # there is nothing to enter: finishing writes the configuration


class SetupWizard(Protocol):
    """The wizard: every answer is stored at once, so leaving it loses nothing."""

    @property
    def steps(self) -> Sequence[tuple[str, str]]:
        """Key and title of the steps that apply now, in order."""
        ...

    async def screen(self, step: str = "") -> Screen:
        """Return a step's screen; "": the first step that is neither finished nor skipped. NotFound for another key."""
        ...

    async def submit(self, step: str, answers: Answers) -> Sequence[Finding]:
        """Check and store the entered values. With a PROBLEM among the findings the step is not finished."""
        ...

    async def skip(self, step: str) -> None:
        """Leave a step out for now; its stored values stay."""
        ...

    async def finish(self) -> Sequence[str]:
        """Write the configuration; return a sentence for each thing that is set up. Raises ConfigError."""
        ...
