"""The service's log: one line for each event on standard error, with time, level and logger.

Messages hold names, IDs and counts, never keys, tokens or the text of documents.
"""

import logging
import sys

# Of libraries, only warnings and errors are logged.
OWN_LOGGERS = ("bot", "core", "storage")
LINE = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s"
TIME = "%Y-%m-%dT%H:%M:%S"


class OneLine(logging.Formatter):
    """A formatter that escapes line breaks, so that each event stays on one line."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send all logs to standard error; safe to repeat."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine(LINE, TIME))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
