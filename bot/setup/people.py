"""The step of the people: who may ask."""

from collections.abc import Sequence

from bot.discordbot.connection import list_places
from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Screen
from bot.setup.checks import UNREACHABLE
from bot.setup.draft import DISCORD_TOKEN, Askers, Draft
from bot.setup.step import ok, one, page, problem, several
from bot.setup.writing import ConfigFile
from core.errors import FootnoteError

EVERYONE, CHANNELS, ROLES, MEMBERS, NETWORK = "everyone", "channels", "roles", "members", "network"
_CHOICES = {
    "discord": (
        Choice(value=EVERYONE, label="Everyone in the server"),
        Choice(value=CHANNELS, label="Only in some channels", note="Not in direct messages either."),
        Choice(value=ROLES, label="Only members with a role"),
    ),
    "slack": (
        Choice(value=EVERYONE, label="Everyone in Slack, guests too"),
        Choice(value=MEMBERS, label="Full members", note="No guests, and nobody from other companies."),
    ),
    "local": (
        Choice(value=EVERYONE, label="Only on this machine"),
        Choice(value=NETWORK, label="Everyone who can reach this machine", note="Protect its port with your network."),
    ),
}


class PeopleStep:
    key, title = "people", "People"

    def applies(self, draft: Draft) -> bool:
        return bool(draft.answers.platform)

    def is_set_up(self, draft: Draft) -> bool:
        return draft.answers.askers is not None

    async def screen(self, draft: Draft) -> Screen:
        askers, findings = draft.answers.askers or Askers(), []
        choices: dict[str, dict[str, str]] = {CHANNELS: {}, ROLES: {}}
        if draft.answers.platform == "discord":
            try:
                choices = await self._places(draft)
            except FootnoteError:
                findings = [problem(sentence=UNREACHABLE.format("Discord"))]
        shown = {CHANNELS: ("Channels", askers.channels), ROLES: ("Roles", askers.roles)}
        return page(
            title="Who may ask?",
            fields=(
                Field(
                    name="who",
                    label="Who may ask",
                    kind=FieldKind.CHOICE,
                    choices=_CHOICES[draft.answers.platform],
                    value=askers.who,
                ),
                *(
                    Field(
                        name=name,
                        label=label,
                        kind=FieldKind.CHOICES,
                        choices=tuple(Choice(value=id, label=place) for id, place in choices[name].items()),
                        value=tuple(chosen),
                        only_if=("who", name),
                    )
                    for name, (label, chosen) in shown.items()
                    if choices[name]
                ),
            ),
            findings=tuple(findings),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        who = one(answers, "who") or EVERYONE
        if who not in [choice.value for choice in _CHOICES[draft.answers.platform]]:
            return [problem(sentence="Choose who may ask.")]
        askers = Askers(who=who)
        if who in (CHANNELS, ROLES):
            try:
                known = (await self._places(draft))[who]
            except FootnoteError:
                return [problem(sentence=UNREACHABLE.format("Discord"))]
            chosen = {id: known[id] for id in several(answers, who) if id in known}
            if not chosen:
                return [problem(sentence=f"Choose at least one of the {who}, or another answer.")]
            askers = Askers(who=who, **{who: chosen})
        draft.answers.askers = askers
        return [ok(sentence=sentence) for sentence in self.summary(draft)]

    def write(self, draft: Draft, file: ConfigFile) -> None:
        askers, platform = draft.answers.askers, draft.answers.platform
        if askers is None:
            return
        if platform == "discord":
            file.set_or_remove("discord", "ask_channels", value=list(askers.channels))
            file.set_or_remove("discord", "ask_roles", value=list(askers.roles))
        elif platform == "slack":
            file.set_or_remove("slack", "ask_full_members", value=askers.who == MEMBERS)
        else:
            file.set_or_remove("web", "open_to_network", value=askers.who == NETWORK)

    def summary(self, draft: Draft) -> Sequence[str]:
        askers = draft.answers.askers
        if askers is None:
            return []
        if askers.who in (CHANNELS, ROLES):
            names = ", ".join([*askers.channels.values(), *askers.roles.values()])
            return [f"It answers only in {names}." if askers.who == CHANNELS else f"Only {names} may ask."]
        found = next(one.label for one in _CHOICES[draft.answers.platform] if one.value == askers.who)
        return [f"Who may ask: {found}."]

    async def _places(self, draft: Draft) -> dict[str, dict[str, str]]:
        """Return the channels and roles of the chosen servers, id -> name. Raises ConfigError, PlatformError."""
        servers, token = draft.answers.servers or {}, draft.secret(DISCORD_TOKEN)
        if not servers or not token:
            return {CHANNELS: {}, ROLES: {}}
        channels, roles = await list_places(token, list(servers))
        return {CHANNELS: dict(channels), ROLES: dict(roles)}
