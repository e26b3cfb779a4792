"""A wizard of a few steps whose checks a test changes: the pages need no more."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Link, Screen, Tone
from core.errors import ConfigError, NotFound

STEPS = (
    ("platform", "Platform"),
    ("token", "Token"),
    ("server", "Server"),
    ("documents", "Documents"),
    ("done", "Done"),
)
TITLES = ("Where does your team talk?", "Paste your bot's token", "Which server?", "What should it read?", "Finish")
GOOD_TOKEN = "a good token"
BAD_TOKEN = "Discord doesn't know this token. Press Reset Token once more, and copy all of it."
NO_INTENT = "Message Content Intent is off. Follow-ups without a mention would not reach me."


@dataclass
class ScriptedWizard:
    """Implements SetupWizard."""

    stored: dict[str, Answers] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    has_intent: bool = False
    servers: list[str] = field(default_factory=lambda: ["Tern Islands Ferries"])
    is_finished: bool = False
    trouble: str = ""  # why it can't finish

    @property
    def steps(self) -> Sequence[tuple[str, str]]:
        return STEPS

    async def screen(self, step: str = "") -> Screen:
        keys = [key for key, _ in STEPS]
        open_steps = [key for key in keys if key not in self.stored and key not in self.skipped]
        step = step or next(iter(open_steps), keys[-1])
        if step not in keys:
            raise NotFound(f"There is no step {step!r}.")
        at = keys.index(step)
        return Screen(
            step=step,
            number=at + 1,
            count=len(keys),
            title=TITLES[at],
            text=("Footnote answers as a bot of your own.",) if step == "token" else (),
            links=(Link(label="Discord developer portal", address="https://discord.com/developers"),),
            copied='{"display_information": {}}' if step == "server" else "",
            fields=self._fields(step),
            findings=self._check() if step == "token" and step in self.stored else (),
            is_last=step == keys[-1],
        )

    async def submit(self, step: str, answers: Answers) -> Sequence[Finding]:
        if step == "token" and answers.get("token", GOOD_TOKEN) != GOOD_TOKEN:
            return [Finding(tone=Tone.PROBLEM, sentence=BAD_TOKEN, link="https://discord.com/developers")]
        self.stored[step] = {**self.stored.get(step, {}), **answers}
        return self._check() if step == "token" else []

    async def skip(self, step: str) -> None:
        self.skipped.append(step)

    async def finish(self) -> Sequence[str]:
        if self.trouble:
            raise ConfigError(self.trouble)
        self.is_finished = True
        return ["Discord: Footnote Tern answers in Tern Islands Ferries."]

    def _check(self) -> list[Finding]:
        works = Finding(tone=Tone.OK, sentence="The token works. Your bot is called Footnote Tern.")
        intent = Finding(tone=Tone.OK, sentence="Message Content Intent is on.")
        return [works, intent if self.has_intent else Finding(tone=Tone.WARNING, sentence=NO_INTENT)]

    def _fields(self, step: str) -> tuple[Field, ...]:
        known = self.stored.get(step, {})
        match step:
            case "platform":
                choices = (Choice(value="discord", label="Discord", note="About five minutes."),)
                none = Choice(value="none", label="Only here, in the browser")
                return (Field(name="platform", label=TITLES[0], kind=FieldKind.CHOICE, choices=(*choices, none)),)
            case "token":
                note = "Kept on this machine in a file that only you can read."
                is_stored = "token" in known
                return (Field(name="token", label="Bot token", kind=FieldKind.SECRET, is_stored=is_stored, note=note),)
            case "server":
                servers = tuple(Choice(value=name.lower(), label=name) for name in self.servers)
                return (Field(name="servers", label="Servers", kind=FieldKind.CHOICES, choices=servers),)
            case "documents":
                way = str(known.get("way", "upload"))
                ways = tuple(Choice(value=word, label=word.capitalize()) for word in ("upload", "folder", "links"))
                return (
                    Field(name="way", label=TITLES[3], kind=FieldKind.CHOICE, choices=ways, value=way),
                    Field(name="files", label="Files", kind=FieldKind.FILES, only_if=("way", "upload")),
                    Field(name="folder", label="Folder", kind=FieldKind.TEXT, only_if=("way", "folder")),
                    Field(name="links", label="Links", kind=FieldKind.LINES, only_if=("way", "links")),
                )  # fmt: skip
        return ()
