"""`footnote serve` as one process: a service, and after set-up a new one with the new configuration.

The port stays open in between, so that browsers wait instead of failing. Questions that were accepted are in the inbox,
and continue in the new service, as they do after a kill.
"""

import logging
import socket
import time
from collections.abc import Callable

from bot.config import Config
from bot.config.sections import WebConfig
from bot.service.service import Entrance, Service, SetupHost, listen
from core.errors import FootnoteError

# A configuration is new for this long. If it fails in that time, as with a bot's token that was revoked, the former one
# is used again.
TRIAL_SECONDS = 120.0

_log = logging.getLogger(__name__)


class Restarts:
    """`run` services until one ends that doesn't want a successor."""

    def __init__(self, load: Callable[[], Config], on_ready: Callable[[Entrance], None], setup: SetupHost) -> None:
        """`load` reads the configuration again; `on_ready` takes the way to the pages, once."""
        self._load = load
        self._on_ready = on_ready
        self._setup = setup
        self._is_announced = False
        self._listening: socket.socket | None = None
        self._place: tuple[str, int] | None = None

    async def run(self) -> None:
        """Serve until a signal. Raises FootnoteError if a service fails and there is no former configuration."""
        following: tuple[Config, Config | None] | None = (self._load(), None)
        try:
            while following is not None:
                following = await self._serve(*following)
        finally:
            if self._listening is not None:
                self._listening.close()

    async def _serve(self, config: Config, former: Config | None) -> tuple[Config, Config | None] | None:
        """Run one service; return the configuration of the next one and the one to return to. None: that was it."""
        service = Service(config, self._ready, setup=self._setup, open_port=self._open_port)
        started = time.monotonic()
        try:
            await service.run()
        except FootnoteError as error:
            if former is None or time.monotonic() - started > TRIAL_SECONDS:
                raise
            self._report(error)
            return former, None
        if not service.wants_restart:
            return None
        try:
            return self._load(), config
        except FootnoteError as error:
            self._report(error)
            return config, None

    def _report(self, error: FootnoteError) -> None:
        """Tell the terminal and the set-up page why the new configuration isn't used."""
        self._setup.run.problem = str(error)
        _log.error("Footnote did not start with the new settings: %s It runs on with those from before", error)

    def _ready(self, entrance: Entrance) -> None:
        self._setup.run.is_restarting = False
        if not self._is_announced:
            self._is_announced = True
            self._on_ready(entrance)

    def _open_port(self, web: WebConfig) -> socket.socket:
        """Return the open port for one service to close. Raises as `listen`."""
        place = (web.host, web.port)
        if self._listening is None or place != self._place:
            fresh = listen(web)
            if self._listening is not None:
                self._listening.close()
            self._listening, self._place = fresh, place
        return self._listening.dup()
