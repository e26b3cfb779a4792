"""A Slack on loopback, for a bot in this process or in one of its own, with unmodified slack_sdk and slack_bolt.

    async with SlackServer() as server:
        team = server.create_team("acme")  # the app is installed in it: team.install.token
        general = server.create_channel(team, "general")  # the bot is a member of it
        alice = server.person("alice", general)
        bot = server.bot("bot", "serve", log=tmp_path / "bot.log")  # python -m tests.slack_launch bot serve
        bot.start()
        await server.wait_for_connection()  # or, over HTTP: await server.use_http(url)
        asked = await alice.mention(general, "how long is a day?")
        await server.wait_for(lambda: len(server.answers(general, thread=asked)) == 1)

In this process: `AsyncWebClient(token=team.install.token, base_url=server.api)`, `AsyncSocketModeHandler(app,
server.app.token, web_client=AsyncWebClient(token=server.app.token, base_url=server.api))`.

Names, by what they are for:

- the world: `create_team(name, installed=)`, `create_organisation(name, *teams)` (one token for all),
  `create_channel(team, name, *people, private=, with_bot=)`, `person(name, *channels, team=)`,
  `other_bot(name, *channels)`; `app` (ids, secrets, scopes), `api` (base URL); `advance(seconds)` moves the server's
  clock
- what is there stays alive, so that it says what became of it: of a `Message` `.text`, `.blocks`, `.edits`, `.stream`
  (`.tasks`, `.title`, `.ended`), `.reactions`, `.metadata`, `.only_to`, `.deleted`; of a `Channel` `.thread(root)`,
  `.seen_by(user)`, `.statuses`, `.titles`, `.prompts`; of a `Team` `.install` (`.token`, `.scopes`), `.bot`, `.homes`,
  `.views`, `.files`
- people: `say`, `mention`, `reply` (in the thread), `share` (a file), `dm` (a place), `edit`, `delete`, `react`,
  `unreact`, `slash`, `click`, `choose`, `suggest` (of an external select), `shortcut` (of a message), `submit` and
  `close` (modals), `modal` (the one on top), `home`, `open_home`, `open_pane`, `look_at` (another channel beside the
  pane), `sees(place)`, `refuse_messages`, `become_admin`, `invite`, `remove`, `archive`, `unarchive`, `rename`,
  `delete_channel`, `install`, `uninstall`. What asks the bot gives an `Outcome`: `acknowledged`, `after_seconds`,
  `payload`, `modal`, `error`, `errors` (at a modal's fields)
- bots: `bot(module, *args, log=, environment=)`: `start`, `stop`, `kill`, `running`, `exit_code`, `printed`
- waiting and looking: `wait_for(condition, timeout_seconds, what=)`, `wait_for_connection(times)`, `settle()`,
  `calls(method)`, `posts(place)`, `updates(place)`, `answers(place, thread=)`, `transcript(place, viewer, thread=)`,
  `status(place, thread)`, `text_of(message)`, `pings_of(message)`, `parcels` (what went to the bot: `.name`,
  `.payload`, `.failures`, `.acknowledged`), `acknowledged_after`, `gaps`
- transports: `socket.connected`, `.opened`, `.refused`; `use_http(url)`, `http.requests`, `http.signed(body, at=)`
- faults: `fail_next`, `hang_next`, `lose_reply_of_next`, `limit`, `use_tiers`, `lose_acks`, `deliver_twice`,
  `hold_events`, `redeliver`, `disconnect`, `drop_sockets`, `sockets_down`, `revoke(team, error)`,
  `world.mention_first`. Methods are patterns as in "chat.*"; "response_url" and "download" count as methods

What is modelled and what not: tests/README.md.
"""

from tests.slack_server.calls import Call
from tests.slack_server.interactions import Outcome
from tests.slack_server.people import Person
from tests.slack_server.server import SlackServer
from tests.slack_server.state import Channel, File, Install, Message, Team, View
from tests.slack_server.transcript import pings_of, text_of

__all__ = [
    "Call", "Channel", "File", "Install", "Message", "Outcome", "Person", "SlackServer", "Team", "View", "pings_of",
    "text_of",
]  # fmt: skip
