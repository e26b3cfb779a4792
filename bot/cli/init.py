"""`init`: the set-up wizard in the terminal."""

import asyncio
import getpass
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from bot.cli.session import Session
from bot.presentation.setup_screens import Choice, Field, FieldKind, Finding, Screen, Tone
from bot.service.operations import new_web_link
from bot.setup.wizard import Wizard, open_wizard
from core.errors import InvalidState

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 130
SKIP, BACK, SHOW = "skip", "back", "show"  # words that a person may type at any question
HINT = f"Enter keeps a value in [brackets]. {SKIP} leaves a step out, {BACK} returns to the one before, Ctrl+C saves."
SAVED = "Saved. Run `footnote init` to continue."
NO_TERMINAL = (
    "The set-up asks questions, so it needs a terminal. Run `footnote init` in one, or write config.toml from "
    "`footnote config example`."
)
_MARKS = {Tone.OK: "✓", Tone.WARNING: "!", Tone.PROBLEM: "✗"}


def register(app: typer.Typer) -> None:
    app.command("init")(init)


def init(context: typer.Context) -> None:
    """Set Footnote up, step by step: platform, documents, model. Each answer is checked and saved at once."""
    session: Session = context.obj
    wizard = open_wizard(session.config, session.data_dir, session.workspace)
    if session.as_json:
        session.print_json(wizard.state())
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidState(NO_TERMINAL)
    setup = TerminalSetup(wizard, session.console)
    is_new = session.config is not None and not session.config.exists()
    if not is_new and session.find_service():
        setup.tell(f"The same steps in the browser: {session.call(new_web_link, True)} (opens once)")
    try:
        is_done = setup.run()
        wants_start = is_done and _wants_start(session, setup)
    except KeyboardInterrupt:
        session.console.print(f"\n{SAVED}", markup=False)
        raise typer.Exit(INTERRUPTED) from None
    if wants_start:
        from bot.cli.serve import serve  # imports the service

        serve(context)


def _wants_start(session: Session, setup: "TerminalSetup") -> bool:
    """Ask whether to start the service; one that runs already has to be restarted."""
    if session.find_service():
        setup.tell(
            "Footnote is running. Restart it to use the new settings: stop `footnote serve`, and start it again."
        )
        return False
    if setup.is_yes("Start Footnote now?"):
        return True
    setup.tell("Start it with `footnote serve`.")
    return False


class TerminalSetup:
    """Shows each screen of a wizard as plain questions."""

    def __init__(
        self,
        wizard: Wizard,
        console: "Console",
        read_line: Callable[[str], str] = input,
        read_secret: Callable[[str], str] = getpass.getpass,
    ) -> None:
        self._wizard = wizard
        self._console = console
        self._read_line = read_line
        self._read_secret = read_secret

    def run(self) -> bool:
        """Ask until the end; False if the person left before, with Ctrl+D. Raises KeyboardInterrupt, FootnoteError."""
        with asyncio.Runner() as runner:
            self._runner = runner
            try:
                self.tell(HINT)
                self._ask_steps()
            except EOFError:
                self.tell(f"\n{SAVED}")
                return False
            return True

    def tell(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)  # a line break in a link would make it useless

    def is_yes(self, question: str) -> bool:
        try:
            return self._read_line(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
        except EOFError:
            return False

    def _ask_steps(self) -> None:
        screen = self._runner.run(self._wizard.screen())
        is_new = True
        while True:
            if is_new:
                self._show(screen)
            if screen.is_last:
                if self._finish():
                    return
                step = self._before(screen.step)
            else:
                step = self._ask(screen)
            is_new = step != screen.step
            screen = self._runner.run(self._wizard.screen(step))

    def _finish(self) -> bool:
        """Write the configuration, unless the person goes back."""
        if self._read_line("Enter writes the configuration: ").strip().lower() == BACK:
            return False
        self._runner.run(self._wizard.finish())
        self.tell(f"Written: {self._wizard.file}")
        return True

    def _ask(self, screen: Screen) -> str:
        """Ask a step's questions, and return the key of the step to show next."""
        try:
            answers = self._answers(screen)
        except _WordTyped as typed:
            if typed.word == SKIP:
                self._runner.run(self._wizard.skip(screen.step))
                return self._after(screen.step)
            return self._before(screen.step)
        self.tell("Checking …")
        findings = self._runner.run(self._wizard.submit(screen.step, answers))
        self._tell_findings(findings)
        if any(finding.tone is Tone.PROBLEM for finding in findings):
            return screen.step
        return self._after(screen.step)

    def _answers(self, screen: Screen) -> Mapping[str, str | list[str]]:
        answers: dict[str, str | list[str]] = {}
        shown = [field for field in screen.fields if field.kind is not FieldKind.FILES]
        for field in shown:
            if field.applies(answers):
                answers[field.name] = self._value(field, screen)
        if not shown:
            self._line("Enter checks again: ", screen)
        return answers

    def _value(self, field: Field, screen: Screen) -> str | list[str]:
        match field.kind:
            case FieldKind.CHOICE:
                return self._choice(field, screen)
            case FieldKind.CHOICES:
                return self._choices(field, screen)
            case FieldKind.LINES:
                return self._lines(field, screen)
            case FieldKind.SECRET:
                self._tell_note(field)
                kept = " [stored, Enter keeps it]" if field.is_stored else ""
                return self._line(f"{field.label}{kept}: ", screen, self._read_secret)
        self._tell_note(field)
        value = str(field.value)
        return self._line(f"{field.label}{f' [{value}]' if value else ''}: ", screen) or value

    def _choice(self, field: Field, screen: Screen) -> str:
        self._tell_choices(field)
        default = str(field.value)
        number = next((str(place) for place, one in enumerate(field.choices, 1) if one.value == default), "")
        while True:
            typed = self._line(f"{field.label}, by its number{f' [{number}]' if number else ''}: ", screen) or number
            if (chosen := _find(field.choices, typed)) is not None:
                return chosen.value
            self.tell(f"Type a number from 1 to {len(field.choices)}.")

    def _choices(self, field: Field, screen: Screen) -> list[str]:
        self._tell_choices(field)
        values = [field.value] if isinstance(field.value, str) else field.value
        default = ", ".join(str(place) for place, one in enumerate(field.choices, 1) if one.value in values)
        while True:
            question = f"{field.label}, by their numbers with commas{f' [{default}]' if default else ''}: "
            typed = (self._line(question, screen) or default).split(",")
            chosen = [_find(field.choices, word.strip()) for word in typed if word.strip()]
            if None not in chosen:
                return [one.value for one in chosen if one is not None]
            self.tell(f"Type numbers from 1 to {len(field.choices)}, with commas.")

    def _lines(self, field: Field, screen: Screen) -> list[str]:
        self._tell_note(field)
        stored = [field.value] if isinstance(field.value, str) else list(field.value)
        typed: list[str] = []
        self.tell(f"{field.label}, one a line; an empty line ends them:")
        while line := self._line("> ", screen):
            typed.append(line)
        return typed or [value for value in stored if value]

    def _line(self, question: str, screen: Screen, read: Callable[[str], str] | None = None) -> str:
        """Read a line. Raises _WordTyped for skip and back."""
        while True:
            typed = (read or self._read_line)(question).strip()
            if typed.lower() == SHOW and screen.copied:
                self.tell(screen.copied)
            elif typed.lower() in (SKIP, BACK):
                raise _WordTyped(typed.lower())
            else:
                return typed

    def _show(self, screen: Screen) -> None:
        self._console.print(f"\n{screen.number}/{screen.count}  {screen.title}", style="bold", markup=False)
        for paragraph in screen.text:
            self.tell(paragraph)
        for link in screen.links:
            self.tell(f"  {link.label}: {link.address}")
        if screen.copied:
            self.tell(f"  Type {SHOW} to print the text to paste.")
        self._tell_findings(screen.findings)

    def _tell_findings(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self.tell(f"{_MARKS[finding.tone]} {finding.sentence}")
            if finding.link:
                self.tell(f"  {finding.link}")

    def _tell_note(self, field: Field) -> None:
        if field.note:
            self.tell(field.note)

    def _tell_choices(self, field: Field) -> None:
        self._tell_note(field)
        for place, one in enumerate(field.choices, 1):
            self.tell(f"  {place}  {one.label}{f' - {one.note}' if one.note else ''}")

    def _after(self, step: str) -> str:
        keys = [key for key, _ in self._wizard.steps]
        return keys[min(keys.index(step) + 1, len(keys) - 1)]

    def _before(self, step: str) -> str:
        keys = [key for key, _ in self._wizard.steps]
        return keys[max(keys.index(step) - 1, 0)]


class _WordTyped(Exception):
    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


def _find(choices: tuple[Choice, ...], typed: str) -> Choice | None:
    """Return the choice of a number, or of a name."""
    if typed.isdigit():
        return choices[int(typed) - 1] if 0 < int(typed) <= len(choices) else None
    return next((one for one in choices if typed and typed.casefold() in (one.value, one.label.casefold())), None)
