"""A bot as its own process, which a test can stop and kill: as on Discord, started by another launcher."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.discord_server.process import BotProcess


class SlackBotProcess(BotProcess):
    """`python -m tests.slack_launch MODULE ARGS...`; what it prints goes to `log`, one file for all runs."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        super().__init__(command, environment, log)
        self._command = [sys.executable, "-m", "tests.slack_launch", *command]
