"""The steps of the platform and of Discord: the bot's token, and the servers that read the library."""

from collections.abc import Sequence

from bot.discordbot.connection import BotAccount, invite_link
from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Link, Screen, Tone
from bot.setup.checks import DISCORD_PORTAL, Checked, check_discord
from bot.setup.draft import DISCORD_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, SLACK_TOKEN, Draft
from bot.setup.step import ok, one, page, problem, secret_note, several, write_bindings, write_secret
from bot.setup.writing import ConfigFile


class PlatformStep:
    key, title = "platform", "Platform"

    def applies(self, draft: Draft) -> bool:
        return True

    def is_set_up(self, draft: Draft) -> bool:
        return bool(draft.answers.platform)

    async def screen(self, draft: Draft) -> Screen:
        return page(
            title="Where does your team talk?",
            fields=(
                Field(
                    name="platform",
                    label="Platform",
                    kind=FieldKind.CHOICE,
                    value=draft.answers.platform,
                    choices=(
                        Choice(
                            value="discord",
                            label="Discord",
                            note="About five minutes. You need to manage the server.",
                        ),
                        Choice(
                            value="slack", label="Slack", note="About five minutes. You may need an admin's approval."
                        ),
                        Choice(
                            value="local", label="Only here, in the browser and terminal", note="Nothing to connect."
                        ),
                    ),
                ),
            ),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        match one(answers, "platform"):
            case "discord" | "slack" | "local" as platform:
                if platform != draft.answers.platform:
                    draft.answers.askers = None  # its choices are another platform's
                draft.answers.platform = platform
                return []
        return [problem(sentence="Choose Discord, Slack, or only here.")]

    def write(self, draft: Draft, file: ConfigFile) -> None:
        if draft.answers.platform == "local":
            for secret in (DISCORD_TOKEN, SLACK_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET):
                file.remove(*secret.key)

    def summary(self, draft: Draft) -> Sequence[str]:
        if draft.answers.platform == "local":
            return ["Footnote answers here, in the browser and in the terminal."]
        return []


class DiscordTokenStep:
    key, title = "discord", "Token"

    def applies(self, draft: Draft) -> bool:
        return draft.answers.platform == "discord"

    def is_set_up(self, draft: Draft) -> bool:
        return bool(draft.secret(DISCORD_TOKEN))

    async def screen(self, draft: Draft) -> Screen:
        stored = draft.secret(DISCORD_TOKEN)
        checked = await self._check(draft, stored) if stored else None
        return page(
            title="Paste your bot's token",
            text=(
                "Footnote answers as a bot of your own, so only you hold its key.",
                "Open the Discord developer portal, and press New Application. Under Bot, switch on Message Content "
                "Intent, then press Reset Token and copy the token.",
            ),
            links=(Link(label="Discord developer portal", address=DISCORD_PORTAL),),
            fields=(
                Field(
                    name="token",
                    label="Bot token",
                    kind=FieldKind.SECRET,
                    is_stored=bool(stored),
                    note=secret_note(draft, DISCORD_TOKEN),
                ),
            ),
            findings=tuple(checked.findings) if checked else (),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        typed = one(answers, "token")
        token = typed or draft.secret(DISCORD_TOKEN)
        if not token:
            return [problem(sentence="Paste the bot's token, or skip this step.", link=DISCORD_PORTAL)]
        checked = await self._check(draft, token)
        if typed and not checked.refused:
            draft.keep_secret(DISCORD_TOKEN, typed)
        return checked.findings

    async def _check(self, draft: Draft, token: str) -> Checked:
        checked = await check_discord(token)
        if checked.bot is not None:
            draft.answers.bot = checked.bot.name
        return checked

    def write(self, draft: Draft, file: ConfigFile) -> None:
        write_secret(draft, file, DISCORD_TOKEN)

    def summary(self, draft: Draft) -> Sequence[str]:
        if not self.is_set_up(draft):
            return ["Discord is not connected: it has no token."]
        return [f"{draft.answers.bot or 'The bot'} answers on Discord."]


class DiscordServerStep:
    key, title = "server", "Server"

    def applies(self, draft: Draft) -> bool:
        return draft.answers.platform == "discord" and bool(draft.secret(DISCORD_TOKEN))

    def is_set_up(self, draft: Draft) -> bool:
        return bool(draft.answers.servers)

    async def screen(self, draft: Draft) -> Screen:
        checked = await check_discord(draft.secret(DISCORD_TOKEN))
        bot = checked.bot
        if bot is None:
            return page(title="Which server?", findings=tuple(checked.findings))
        chosen = tuple(id for id in draft.answers.servers or {} if id in bot.servers)
        count = len(bot.servers)
        return page(
            title="Which server?",
            text=(
                f"{bot.name} is in {count} of your servers." if count > 1 else f"{bot.name} is in one of your servers.",
                "The servers you choose read this library, as the browser and the terminal do.",
            )
            if count
            else ("Open the invite link, choose your server, and come back here.",),
            links=(Link(label="Add it to another server" if count else "Invite it", address=invite_link(bot.id)),),
            fields=(
                Field(
                    name="servers",
                    label="Servers",
                    kind=FieldKind.CHOICES,
                    choices=tuple(Choice(value=id, label=name) for id, name in bot.servers.items()),
                    value=chosen or (tuple(bot.servers) if count == 1 else ()),
                ),
            )
            if count
            else (),
            findings=() if count else (_not_in_a_server(bot, Tone.WARNING),),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        checked = await check_discord(draft.secret(DISCORD_TOKEN))
        bot = checked.bot
        if bot is None:
            return checked.findings
        if not bot.servers:
            return [_not_in_a_server(bot, Tone.PROBLEM)]
        wanted = several(answers, "servers") or (list(bot.servers) if len(bot.servers) == 1 else [])
        if not wanted:
            return [problem(sentence="Choose a server, or skip this step.")]
        if unknown := [id for id in wanted if id not in bot.servers]:
            return [problem(sentence=f"{bot.name} isn't in the server {unknown[0]}. Choose another one.")]
        draft.answers.servers = {id: bot.servers[id] for id in wanted}
        return [ok(sentence=f"{name} reads this library.") for name in draft.answers.servers.values()]

    def write(self, draft: Draft, file: ConfigFile) -> None:
        chosen = draft.answers.servers
        if chosen is not None:
            write_bindings(draft, file, "discord", chosen, draft.config.discord.workspaces)

    def summary(self, draft: Draft) -> Sequence[str]:
        names = list((draft.answers.servers or {}).values())
        return [f"It reads this library in {', '.join(names)}."] if names else []


def _not_in_a_server(bot: BotAccount, tone: Tone) -> Finding:
    sentence = f"{bot.name} isn't in a server yet. Open the invite link, and choose yours."
    return Finding(tone=tone, sentence=sentence, link=invite_link(bot.id))
