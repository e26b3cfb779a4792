"""The steps of Slack: how it reaches Footnote, the app's tokens, and the teams that read the library."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlencode

from bot.config.slack import APP_PAGE, public_address
from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Link, Screen
from bot.setup.checks import Checked, check_slack, check_slack_app, check_slack_secret
from bot.setup.draft import SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, SLACK_TOKEN, Draft, Secret
from bot.setup.step import ok, one, page, problem, secret_note, several, write_bindings, write_secret
from bot.setup.writing import ConfigFile
from bot.slackbot.events.manifest import EVENTS_PATH, build_manifest
from core.errors import BadInput

NEW_SLACK_APP = f"{APP_PAGE}?new_app=1&"
SOCKET: Literal["socket"] = "socket"
HTTP: Literal["http"] = "http"
Check = Callable[[str], Awaitable[Checked]]


class SlackConnectionStep:
    key, title = "connection", "Connection"

    def applies(self, draft: Draft) -> bool:
        return draft.answers.platform == "slack"

    def is_set_up(self, draft: Draft) -> bool:
        return draft.answers.slack_transport == SOCKET or bool(draft.answers.public_url)

    async def screen(self, draft: Draft) -> Screen:
        return page(
            title="How does Slack reach Footnote?",
            fields=(
                Field(
                    name="transport",
                    label="Connection",
                    kind=FieldKind.CHOICE,
                    value=draft.answers.slack_transport,
                    choices=(
                        Choice(
                            value=SOCKET,
                            label="Footnote opens the connection",
                            note="Socket Mode. This machine needs no public address.",
                        ),
                        Choice(
                            value=HTTP,
                            label="Slack sends requests to a public address",
                            note="A proxy with a certificate passes them on to Footnote.",
                        ),
                    ),
                ),
                Field(
                    name="public_url",
                    label="Public address, as in https://footnote.example.org",
                    kind=FieldKind.TEXT,
                    value=draft.answers.public_url,
                    only_if=("transport", HTTP),
                ),
            ),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        if one(answers, "transport") != HTTP:
            draft.answers.slack_transport = SOCKET
            return []
        typed = one(answers, "public_url")
        if not typed:
            return [problem(sentence="Enter the public address of Footnote. It must begin with https://.")]
        try:
            address = public_address(typed, by_socket=False)
        except BadInput as error:
            return [problem(sentence=str(error))]
        draft.answers.slack_transport, draft.answers.public_url = HTTP, address or ""
        return [ok(sentence=sentence) for sentence in self.summary(draft)]

    def write(self, draft: Draft, file: ConfigFile) -> None:
        if draft.answers.slack_transport == HTTP:
            file.set("slack", "transport", value=HTTP)
            file.set("web", "public_url", value=draft.answers.public_url)
        else:
            file.remove("slack", "transport")

    def summary(self, draft: Draft) -> Sequence[str]:
        if draft.answers.slack_transport == SOCKET:
            return []
        return [f"Slack sends its requests to {draft.answers.public_url}{EVENTS_PATH}."]


class SlackStep:
    key, title = "slack", "Tokens"

    def applies(self, draft: Draft) -> bool:
        return draft.answers.platform == "slack"

    def is_set_up(self, draft: Draft) -> bool:
        return bool(draft.secret(SLACK_TOKEN) and draft.secret(_second(draft)))

    async def screen(self, draft: Draft) -> Screen:
        by_socket = draft.answers.slack_transport == SOCKET
        manifest = build_manifest(by_socket=by_socket, url=None if by_socket else draft.answers.public_url)
        link = NEW_SLACK_APP + urlencode({"manifest_json": json.dumps(manifest, separators=(",", ":"))})
        stored = {secret.name: draft.secret(secret) for secret in (SLACK_TOKEN, _second(draft))}
        first = _secret_field(draft, SLACK_TOKEN, "token", "Bot token (xoxb-…)")
        second = (
            _secret_field(draft, SLACK_APP_TOKEN, "app_token", "App-level token (xapp-…)")
            if by_socket
            else _secret_field(draft, SLACK_SIGNING_SECRET, "signing_secret", "Signing secret")
        )
        return page(
            title="Create the app, and paste its two tokens" if by_socket else "Create the app, and paste its secrets",
            text=(
                "Open Slack with everything filled in, choose your workspace, and press Create. If the page is empty, "
                "choose “From a manifest” there, and paste the text below.",
                *(_SOCKET_TEXT if by_socket else _HTTP_TEXT),
            ),
            links=(
                Link(label="Open Slack with everything filled in", address=link),
                Link(label="Your Slack apps", address=APP_PAGE),
            ),
            copied=json.dumps(manifest, indent=2, ensure_ascii=False),
            fields=(first, second if second.note != first.note else replace(second, note="")),
            findings=tuple(await self._check(draft, stored)) if any(stored.values()) else (),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        typed = {
            SLACK_TOKEN.name: one(answers, "token"),
            SLACK_APP_TOKEN.name: one(answers, "app_token"),
            SLACK_SIGNING_SECRET.name: one(answers, "signing_secret"),
        }
        return await self._check(draft, typed, is_typed=True)

    async def _check(self, draft: Draft, given: dict[str, str], *, is_typed: bool = False) -> Sequence[Finding]:
        """Check both secrets; keep typed ones that aren't refused."""
        findings: list[Finding] = []
        for secret in (SLACK_TOKEN, _second(draft)):
            check, missing = _CHECKS[secret.name]
            token = given[secret.name] or draft.secret(secret)
            if not token:
                findings.append(problem(sentence=missing, link=APP_PAGE))
                continue
            checked = await check(token)
            findings += checked.findings
            if checked.teams:
                _keep_teams(draft, checked)
            if is_typed and given[secret.name] and not checked.refused:
                draft.keep_secret(secret, token)
        return findings

    def write(self, draft: Draft, file: ConfigFile) -> None:
        for secret in (SLACK_TOKEN, _second(draft)):
            write_secret(draft, file, secret)
        if draft.answers.teams:
            write_bindings(draft, file, "slack", draft.answers.teams, draft.config.slack.workspaces)

    def summary(self, draft: Draft) -> Sequence[str]:
        if not self.is_set_up(draft):
            return ["Slack is not connected: a token is missing."]
        where = ", ".join(draft.answers.teams.values())
        return [f"{draft.answers.bot or 'The bot'} answers on Slack{f', in {where}' if where else ''}."]


class SlackTeamsStep:
    """Asked only of a token that is for several teams."""

    key, title = "teams", "Teams"

    def applies(self, draft: Draft) -> bool:
        return draft.answers.platform == "slack" and len(draft.answers.known_teams) > 1

    def is_set_up(self, draft: Draft) -> bool:
        return bool(draft.answers.teams)

    async def screen(self, draft: Draft) -> Screen:
        known = draft.answers.known_teams
        return page(
            title="Which teams?",
            text=(
                f"{draft.answers.bot or 'The bot'} is in {len(known)} teams of your organisation.",
                "The teams you choose read this library, as the browser and the terminal do.",
            ),
            fields=(
                Field(
                    name="teams",
                    label="Teams",
                    kind=FieldKind.CHOICES,
                    choices=tuple(Choice(value=id, label=name) for id, name in known.items()),
                    value=tuple(draft.answers.teams),
                ),
            ),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        known = draft.answers.known_teams
        chosen = {id: known[id] for id in several(answers, "teams") if id in known}
        if not chosen:
            return [problem(sentence="Choose a team, or skip this step.")]
        draft.answers.teams = chosen
        return [ok(sentence=f"{name} reads this library.") for name in chosen.values()]

    def write(self, draft: Draft, file: ConfigFile) -> None:
        """Nothing: the step of the tokens binds the teams."""

    def summary(self, draft: Draft) -> Sequence[str]:
        return []


_SOCKET_TEXT = (
    "Under “Install App”, install it, and copy the bot token. Under “Basic Information”, “App-Level Tokens”, make a "
    "token with the scope connections:write, and copy it.",
)
_HTTP_TEXT = (
    "Under “Install App”, install it, and copy the bot token. Under “Basic Information”, “App Credentials”, copy the "
    "signing secret.",
    "Slack can check the address only while Footnote runs. After the set-up, paste the text below once more on your "
    "app's page “App Manifest”, and save it.",
)
_CHECKS: dict[str, tuple[Check, str]] = {  # the check of a secret, and the sentence without one
    SLACK_TOKEN.name: (check_slack, "Paste the bot token (xoxb-…), or skip this step."),
    SLACK_APP_TOKEN.name: (check_slack_app, "Paste the app-level token (xapp-…), or skip this step."),
    SLACK_SIGNING_SECRET.name: (check_slack_secret, "Paste the signing secret, or skip this step."),
}


def _second(draft: Draft) -> Secret:
    """Return the secret that the connection needs besides the bot's token."""
    return SLACK_APP_TOKEN if draft.answers.slack_transport == SOCKET else SLACK_SIGNING_SECRET


def _keep_teams(draft: Draft, checked: Checked) -> None:
    """Remember a token's teams; a single one is chosen, and several only if they were chosen before."""
    answers, known = draft.answers, dict(checked.teams)
    answers.known_teams, answers.bot = known, checked.name
    answers.teams = known if len(known) == 1 else {id: known[id] for id in answers.teams if id in known}


def _secret_field(draft: Draft, secret: Secret, name: str, label: str) -> Field:
    return Field(
        name=name,
        label=label,
        kind=FieldKind.SECRET,
        is_stored=bool(draft.secret(secret)),
        note=secret_note(draft, secret),
    )
