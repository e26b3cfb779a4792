"""One service on Slack and on Discord: the trouble of one is no trouble of the other, and nothing accepted is lost."""

import pytest

from tests.discord_server import TOKEN, DiscordServer
from tests.discord_server import text_of as discord_text
from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION, TEAM
from tests.e2e.slack_service import SlackService

pytestmark = pytest.mark.slow
BY_SOCKET = pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
ACK_SECONDS = 30.0
REFUSED_TIMES = 40  # more posts than the tries of one that a platform refuses for reasons of its own


@BY_SOCKET
async def test_while_discord_is_cut_off_slack_is_answered_and_discord_is_on_its_return(
    slack_service: SlackService,
) -> None:
    service, slack = slack_service, slack_service.server
    async with DiscordServer(ack_seconds=ACK_SECONDS) as discord:
        guild = discord.world.create_guild("House")
        there, ben = guild.create_text_channel("general"), discord.person("ben", guild)
        service.program = ("tests.discord_launch", "bot")
        service.settings |= {**discord.environment, "DISCORD_TOKEN": TOKEN, "FOOTNOTE_DISCORD__SHARDS": "1"}
        service.more_config = ["[discord.workspaces]", f'{guild.id} = "{TEAM}"']
        general, ada = service.settle_in()
        await service.start()
        await discord.wait_for_login()

        cut = discord.fail_next("*", "*", 503, times=REFUSED_TIMES)
        await ben.mention(there, QUESTION)
        await service.until(lambda: cut.met, "a post that Discord refuses")
        async with discord.gateway_down(resume=False):
            await service.ask(ada, general)
            await ben.mention(there, NEXT_QUESTION)
            await service.ask(ada, general, NEXT_QUESTION)
        cut.times = 0

        def is_answered() -> bool:
            said = [discord_text(post) for thread in there.threads for post in discord.answers(thread)]
            return sum(ANSWER in text for text in said) == 1 and sum(NEXT_ANSWER in text for text in said) == 1

        await service.until(is_answered, "both answers on Discord, once each")
        assert len(slack.answers(general)) == 2
        await service.stop()
        assert "Traceback" not in service.process.printed


@BY_SOCKET
async def test_slack_is_served_by_a_service_whose_discord_is_away_at_the_start(
    slack_service: SlackService,
) -> None:
    service = slack_service
    service.program = ("tests.discord_launch", "bot")
    service.settings |= {
        "DISCORD_TOKEN": TOKEN,
        "FOOTNOTE_TEST_DISCORD_API": "http://127.0.0.1:9",
        "FOOTNOTE_TEST_DISCORD_GATEWAY": "ws://127.0.0.1:9",
    }
    general, ada = service.settle_in()
    await service.start()
    await service.ask(ada, general)
    assert "Discord is off, everything else goes on" in service.process.printed
    assert "Discord can't be reached" in service.process.printed
    await service.stop()
    assert (service.process.exit_code, "Traceback" in service.process.printed) == (0, False)
