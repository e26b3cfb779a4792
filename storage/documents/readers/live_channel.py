"""Threads of live channels (core/features/live_channels.py): a page for each message, with its address."""

from pathlib import Path

from core.domain.channels import LIVE_KIND, ChannelMessage, read_thread
from core.domain.corpus import ParsedDocument, ParsedPage
from core.domain.footnotes import web_address
from core.errors import ReadError
from core.text.asking import Form, read_asked
from core.text.words import collapse, shorten

_BEGINNING = 100  # characters of a question, shown above its replies


class LiveChannelReader:
    """Reads files that are written for it. No suffix leads to it, so words of others can't be uploaded."""

    kind = LIVE_KIND
    suffixes = frozenset[str]()
    expects = "a thread of a live channel"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.startswith(b'{"channel": ')

    def read(self, path: Path, root: Path) -> ParsedDocument:
        try:
            channel, messages = read_thread(path.read_text("utf-8"))
        except ValueError as error:
            raise ReadError(f"not {self.expects}") from error
        if not messages:
            raise ReadError("empty: it has no messages")
        first = messages[0]
        return ParsedDocument(
            title=f"Said in {channel} by {collapse(first.author_name)}, {first.said_at:%Y-%m-%d}",
            kind=self.kind,
            pages=tuple(_to_page(item, first, channel) for item in messages),
            dated=f"{first.said_at:%Y-%m-%d}",
        )


def _to_page(message: ChannelMessage, first: ChannelMessage, channel: str) -> ParsedPage:
    """Replies to a question have it above them, as they are no use without."""
    asks = read_asked(first.text).form is Form.QUESTION
    return ParsedPage(
        title=f"Said in {channel} by {collapse(message.author_name)}, {message.said_at:%Y-%m-%d %H:%M}",
        text=message.text,
        heading_path=(shorten(first.text, _BEGINNING),) if message is not first and asks else (),
        deep_link=web_address(message.link),
    )
