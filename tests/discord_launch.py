"""Starts a program whose discord.py talks to a test server: `python -m tests.discord_launch MODULE ARGS...`

The program is not changed, and of the tests it loads this file alone. The addresses come from
FOOTNOTE_TEST_DISCORD_API and FOOTNOTE_TEST_DISCORD_GATEWAY.
"""

import os
import runpy
import sys

import discord.gateway
import discord.http
import yarl

API_VARIABLE = "FOOTNOTE_TEST_DISCORD_API"
GATEWAY_VARIABLE = "FOOTNOTE_TEST_DISCORD_GATEWAY"


def redirect() -> None:
    discord.http.Route.BASE = os.environ[API_VARIABLE] + "/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ[GATEWAY_VARIABLE])


def main() -> None:
    redirect()
    _, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
