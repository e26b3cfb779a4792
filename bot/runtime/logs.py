"""The service's log: one line an event on standard error, with time, level and where it comes from.

What is logged is written by this project: names, ids and counts, never keys, tokens or the text of documents.
"""

import logging
import sys

# Libraries log what they do at INFO; only what went wrong in them matters here.
OWN_LOGGERS = ("bot", "core", "storage")
LINE = "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s"
TIME = "%Y-%m-%dT%H:%M:%S"


class OneLine(logging.Formatter):
    """Line breaks of messages and tracebacks become visible escapes: an event stays a line, whatever it quotes."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send all logs to standard error; safe to repeat."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine(LINE, TIME))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
