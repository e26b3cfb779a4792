"""A Discord on loopback for a bot that runs as its own process with an unmodified discord.py.

    async with DiscordServer() as server:
        guild = server.world.create_guild("team")
        general = guild.create_text_channel("general")
        alice = server.person("alice", guild)
        bot = server.bot("bot", "serve", log=tmp_path / "bot.log")  # python -m tests.discord_launch bot serve
        bot.start()
        await server.wait_for_login()
        await alice.mention(general, "how long is a day?")
        await server.wait_for(lambda: general.threads and len(server.posts(general.threads[0])) == 1)

Names, by what they are for:

- the world, `server.world`: `create_guild`; of a guild `create_text_channel`, `create_forum_channel`, `create_role`,
  `create_webhook`; of a channel `threads`, `history(viewer=)`, `last_message` (all of these are simcord's handles);
  `place(id)`, `place_of(message)`, `stored(message)` (what became of it), `allow_bot(place, send_messages=False)`,
  `set_thread(thread, archived=, locked=)`, `rename`, `delete`, `unfurl(message, title, url)`, `advance(seconds)`,
  `acknowledged_after` (seconds)
- people, `server.person(name, *guilds, bot=, **permissions)`: `say`, `mention`, `reply`, `edit`, `delete`, `react`,
  `post` (in a forum), `open_thread`, `slash`, `complete` (autocomplete), `menu` (context menu), `click`, `choose`,
  `submit` (modal), `dm` (a place), `close_dms`
- bots, `server.bot(module, *args, log=, environment=)`: `start`, `stop`, `kill`, `running`, `exit_code`, `printed`
- waiting and looking: `wait_for(condition, timeout_seconds, what=)`, `wait_for_login(times)`, `calls(method, path)`,
  `posts(place)`, `edits(place)`, `answers(place)`, `transcript(place)`, `text_of(stored)`; `gateway.identified`,
  `.resumed`, `.heartbeats`, `.connected`; `api.deduplicated`; `gaps`
- faults: `fail_next`, `hang_next`, `lose_reply_of_next`, `limit`, `drop_gateway`, `gateway_down`,
  `world.approved_intents`, `api.largest_upload`. Paths are patterns as in "/channels/*/messages".

What is modelled and what not: tests/README.md.
"""

from tests.bot_process import BotProcess
from tests.discord_server.calls import Call
from tests.discord_server.people import Person
from tests.discord_server.server import TOKEN, DiscordServer
from tests.discord_server.transcript import text_of

__all__ = ["TOKEN", "BotProcess", "Call", "DiscordServer", "Person", "text_of"]
