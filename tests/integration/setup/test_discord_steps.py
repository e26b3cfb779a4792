"""The wizard's steps for Discord: each problem with a token in one sentence with its fix, and the way to a server."""

from pathlib import Path

import discord
import pytest

from bot.presentation.setup_screens import Choice, FieldKind, Finding, Tone
from bot.setup.wizard import Wizard
from tests.discord_server import TOKEN, DiscordServer


def contents(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def told(wizard: Wizard, **answers: str | list[str]) -> list[tuple[Tone, str]]:
    """What the wizard says about the answers to its current question."""
    screen = await wizard.screen()
    return [(found.tone, found.sentence) for found in await wizard.submit(screen.step, answers)]


@pytest.fixture
async def at_token(wizard: Wizard) -> Wizard:
    await wizard.submit("platform", {"platform": "discord"})
    return wizard


@pytest.mark.parametrize(
    ("pasted", "sentence"),
    [
        ("", "Paste the bot's token, or skip this step."),
        ("123456789012345678", "This is the application ID. The token is on the page “Bot”."),
        ("ab" * 32, "This is the public key. The token is on the page “Bot”."),
        ("aB-_" * 8, "This is the client secret. The token is on the page “Bot”."),
        ("xoxb-1", "This is a token of Slack. Copy the one of Discord from the developer portal, page “Bot”."),
        ("mfa.x", "This is a person's token. Footnote needs the bot's, from the developer portal, page “Bot”."),
        (
            "no.such.token",
            "Discord does not know this token. On the page “Bot”, press “Reset Token” once more, and copy all of it.",
        ),
    ],
)
async def test_a_wrong_token_is_refused_in_one_sentence(
    at_token: Wizard, on_discord: DiscordServer, pasted: str, sentence: str
) -> None:
    assert await told(at_token, token=pasted) == [(Tone.PROBLEM, sentence)]
    screen = await at_token.screen()
    assert (screen.step, screen.fields[0].is_stored) == ("discord", False)


async def test_a_missing_intent_stops_the_step_until_it_is_on(at_token: Wizard, on_discord: DiscordServer) -> None:
    on_discord.world.approved_intents = discord.Intents.default()
    found = await told(at_token, token=TOKEN)

    assert found[0] == (Tone.OK, f"The token works. Your bot is called {on_discord.world.backend.bot_user.name}.")
    assert found[1] == (
        Tone.PROBLEM,
        "Message Content Intent is off, so the bot can't connect. Turn it on at Developer portal › Bot › Privileged "
        "Gateway Intents.",
    )
    screen = await at_token.screen()
    assert (screen.step, screen.fields[0].is_stored) == ("discord", True)
    on_discord.world.approved_intents = discord.Intents.all()
    assert (Tone.OK, "Message Content Intent is on.") in await told(at_token, token="")
    assert (await at_token.screen()).step == "server"


async def test_a_lost_connection_keeps_the_token(
    at_token: Wizard, on_discord: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = [(Tone.PROBLEM, "Discord did not answer. Check this machine's network, and try again.")]
    monkeypatch.setattr(discord.http.Route, "BASE", "http://127.0.0.1:9/api/v10")
    assert await told(at_token, token=TOKEN) == lost
    assert [(found.tone, found.sentence) for found in (await at_token.screen()).findings] == lost
    monkeypatch.setattr(discord.http.Route, "BASE", f"{on_discord.address}/api/v10")
    assert (await told(at_token, token=""))[0][0] is Tone.OK


async def test_a_discord_that_never_answers_is_given_up(
    at_token: Wizard, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord.http.Route, "BASE", f"{silent}/api/v10")

    assert await told(at_token, token=TOKEN) == [
        (Tone.PROBLEM, "Discord did not answer. Check this machine's network, and try again.")
    ]


async def test_servers_are_chosen_by_name(at_token: Wizard, on_discord: DiscordServer) -> None:
    await at_token.submit("discord", {"token": TOKEN})
    name = on_discord.world.backend.bot_user.name
    waits = await at_token.screen()
    assert waits.title == "Which server?"
    invite = waits.links[0].address
    assert waits.findings == (
        Finding(
            tone=Tone.WARNING,
            sentence=f"{name} isn't in a server yet. Open the invite link, and choose yours.",
            link=invite,
        ),
    )
    assert "scope=bot" in invite and "permissions=" in invite
    assert [found.tone for found in await at_token.submit("server", {})] == [Tone.PROBLEM]

    guild = on_discord.world.create_guild("Tern Islands Ferries")
    on_discord.world.create_guild("Tuesday Table")
    screen = await at_token.screen()
    assert screen.fields[0].choices[0] == Choice(value=str(guild.id), label="Tern Islands Ferries")
    assert screen.fields[0].kind is FieldKind.CHOICES
    assert await told(at_token, servers=[str(guild.id)]) == [(Tone.OK, "Tern Islands Ferries reads this library.")]


async def test_what_is_written_binds_the_server_and_names_the_token_file(
    at_token: Wizard, on_discord: DiscordServer, config_file: Path, tmp_path: Path
) -> None:
    guild = on_discord.world.create_guild("Tern Islands Ferries")
    await at_token.submit("discord", {"token": TOKEN})
    await at_token.submit("server", {})  # its only one
    await at_token.submit("model", {"provider": "extractive"})
    assert "It reads this library in Tern Islands Ferries." in await at_token.finish()

    secret = tmp_path / "data" / "secrets" / "discord_token"
    written = contents(config_file)
    assert f'token_file = "{secret}"' in written
    assert f'{guild.id} = "local"' in written
    assert contents(secret) == f"{TOKEN}\n"
    assert TOKEN not in written


async def test_channels_and_roles_that_may_ask_are_chosen_by_name(
    at_token: Wizard, on_discord: DiscordServer, config_file: Path
) -> None:
    guild = on_discord.world.create_guild("Tern Islands Ferries")
    general, role = guild.create_text_channel("general"), guild.create_role("crew")
    await at_token.submit("discord", {"token": TOKEN})
    await at_token.submit("server", {})
    screen = await at_token.screen("people")
    fields = {field.name: field for field in screen.fields}
    assert Choice(value=str(general.id), label="#general") in fields["channels"].choices
    assert [choice.label for choice in fields["roles"].choices] == ["@crew"]

    assert [one.sentence for one in await at_token.submit("people", {"who": "roles"})] == [
        "Choose at least one of the roles, or another answer."
    ]
    found = await at_token.submit("people", {"who": "roles", "roles": [str(role.id)]})
    assert [one.sentence for one in found] == ["Only @crew may ask."]
    await at_token.finish()
    assert f'ask_roles = ["{role.id}"]' in contents(config_file)
    assert (await at_token.screen("people")).fields[0].value == "roles"
