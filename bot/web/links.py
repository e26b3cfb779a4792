"""Signed links to cited passages.

A link to a footnote of a stored answer is short: it names the answer and the number. Any other link holds the passage,
revision, thread, reading position of the person who asked, and expiry date itself. Neither grants access: each request
computes the scope of the thread's readers again.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from itsdangerous import BadData, URLSafeSerializer

from bot.config import WEB_KEY_FILE, Config
from bot.presentation.platform_parts import LinkTo
from bot.web.page_markup import CITED
from core.domain.answer import Citation
from core.domain.channels import is_said
from core.domain.incoming import ThreadAddress
from core.domain.passages import Span
from core.errors import AccessDenied, NotFound, StorageError
from core.ports import Clock
from core.work.conversations import Conversations

# Characters of a revision (a content hash) in a link: enough to distinguish the revisions of a document.
_REVISION = 12
KEY_BYTES = 32
OWNER_ONLY_FILE = 0o600
# Our links have about 250 characters; longer ones are forged.
_LONGEST = 2_000
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A short link: the answer's id, the footnote's number, and a signature of 88 bits.
_STORED_ID = re.compile(r"[0-9a-f]{32}")
_NUMBER_BYTES, _MARK_BYTES = 2, 11
_NUMBERS = 256**_NUMBER_BYTES
_SHORT_LENGTH = 39  # characters of 29 bytes in base 64
_INVALID = "This link isn't valid. It was changed or cut off, or another service made it."


class ForgedLink(AccessDenied):
    """The signature doesn't match the link."""


class ExpiredLink(AccessDenied):
    """The link was valid until its expiry date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLink:
    """The content of a signed link."""

    passage_id: str  # "" if the citation has none
    document_id: str
    revision: str  # the first characters of it
    page_number: int
    span: Span  # the quote, in the page's text
    thread: ThreadAddress
    expires_at: datetime
    last_page: int | None = None  # reading position of the person who asked; later pages are hidden

    def is_of(self, revision: str | None) -> bool:
        """Return whether it names this revision of its document."""
        return revision is not None and revision[:_REVISION] == self.revision


class Links:
    def __init__(self, *, secret_key: str, clock: Clock, days: int, public_url: str | None) -> None:
        self._serializer = URLSafeSerializer(
            secret_key,
            salt="footnote source link",
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )
        self._key = secret_key.encode()
        self._clock = clock
        self._days = days
        self._public_url = public_url

    def url(self, citation: Citation, thread: ThreadAddress, answer: str = "") -> str | None:
        """Return the address for a footnote, or None without a public address (others can't open loopback).

        `answer` is the id of the stored answer that has the footnote; without it, the link is long.
        """
        return f"{self._public_url}{self.path(citation, thread, answer)}" if self._public_url else None

    def path(self, citation: Citation, thread: ThreadAddress, answer: str = "") -> str:
        return f"/s/{self.token(citation, thread, answer)}#{CITED}"

    def token(self, citation: Citation, thread: ThreadAddress, answer: str = "") -> str:
        if _STORED_ID.fullmatch(answer) and citation.number < _NUMBERS:
            named = bytes.fromhex(answer) + citation.number.to_bytes(_NUMBER_BYTES, "big")
            return base64.urlsafe_b64encode(named + self._mark(named, thread)).decode().rstrip("=")
        ends = (self._clock.now() - _EPOCH) // _DAY + self._days + 1
        return self._serializer.dumps(
            [
                _packed(citation.passage_id),
                _packed(citation.document_id),
                citation.revision[:_REVISION],
                citation.page_number,
                citation.span.start,
                citation.span.end - citation.span.start,
                ends,
                [thread.platform, thread.workspace, thread.channel, thread.thread],
                *([citation.last_page] if citation.last_page is not None else []),
            ]
        )

    async def open(self, token: str, conversations: Conversations) -> SourceLink:
        """Read a link; short ones are looked up in the history. Raises ForgedLink, ExpiredLink and NotFound."""
        if len(token) != _SHORT_LENGTH:
            return self.read(token)
        try:
            whole = base64.urlsafe_b64decode(token + "=")
        except ValueError:
            raise ForgedLink(_INVALID) from None
        named, mark = whole[:-_MARK_BYTES], whole[-_MARK_BYTES:]
        answer, number = named[:-_NUMBER_BYTES].hex(), int.from_bytes(named[-_NUMBER_BYTES:], "big")
        conversation, message = await conversations.signed_message(answer)
        if not hmac.compare_digest(mark, self._mark(named, conversation.address)):
            raise ForgedLink(_INVALID)
        citation = next((item for item in message.citations if item.number == number), None)
        if citation is None:
            raise NotFound(f"The answer has no footnote {number} any more.")
        return self._in_time(
            SourceLink(
                passage_id=citation.passage_id,
                document_id=citation.document_id,
                revision=citation.revision[:_REVISION],
                page_number=citation.page_number,
                span=citation.span,
                thread=conversation.address,
                expires_at=_EPOCH + ((message.created_at - _EPOCH) // _DAY + self._days + 1) * _DAY,
                last_page=citation.last_page,
            )
        )

    def _mark(self, named: bytes, thread: ThreadAddress) -> bytes:
        """Sign the content of a short link for the readers of one thread."""
        place = "\x1f".join((thread.platform, thread.workspace, thread.channel, thread.thread)).encode()
        return hmac.digest(self._key, b"footnote short link\x1f" + named + place, "sha256")[:_MARK_BYTES]

    def _in_time(self, link: SourceLink) -> SourceLink:
        if link.expires_at <= self._clock.now():
            raise ExpiredLink(f"This link expired on {link.expires_at:%d %B %Y}.")
        return link

    def read(self, token: str) -> SourceLink:
        """Read a long link. Raises ForgedLink and ExpiredLink."""
        try:
            named = self._serializer.loads(token[:_LONGEST])
        except BadData:
            raise ForgedLink(_INVALID) from None
        passage, document, revision, page, start, length, ends, thread, *last_page = named
        return self._in_time(
            SourceLink(
                passage_id=_unpacked(passage),
                document_id=_unpacked(document),
                revision=revision,
                page_number=page,
                span=Span(start, start + length),
                thread=ThreadAddress(platform=thread[0], workspace=thread[1], channel=thread[2], thread=thread[3]),
                expires_at=_EPOCH + ends * _DAY,
                last_page=last_page[0] if last_page else None,
            )
        )


def _packed(identity: str) -> str:
    """Shorten a UUID to 22 characters after a dot; leave other text as it is."""
    try:
        value = uuid.UUID(identity)
    except ValueError:
        return identity
    return "." + base64.urlsafe_b64encode(value.bytes).decode().rstrip("=") if str(value) == identity else identity


def _unpacked(packed: str) -> str:
    if not packed.startswith("."):
        return packed
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(packed[1:] + "==")))


def build_links(config: Config, clock: Clock) -> Links:
    """Build the configured links. Raises StorageError without a key to sign them."""
    settings = config.web
    return Links(secret_key=link_key(config), clock=clock, days=settings.link_days, public_url=settings.public_url)


def link_maker(config: Config, clock: Clock) -> LinkTo:
    """Return a maker of footnote links: to the viewer, else to the document on the web, else None. Never loopback.

    A footnote to a message of a live channel leads there.
    """
    to_viewer = build_links(config, clock).url if config.web.public_url else own_address

    def link(citation: Citation, thread: ThreadAddress, answer: str = "") -> str | None:
        return (own_address if is_said(citation.document) else to_viewer)(citation, thread, answer)

    return link


def own_address(citation: Citation, thread: ThreadAddress, answer: str = "") -> str | None:
    """Return the document's web address, or None."""
    return citation.url if citation.url and citation.url.startswith(("http://", "https://")) else None


def link_key(config: Config) -> str:
    """Return the configured key, else the data directory's own; create that at the first start."""
    configured = config.web_key()
    if configured is not None:
        return configured.get_secret_value()
    file = config.data_path / WEB_KEY_FILE
    try:
        if not file.exists():
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY_FILE)
            with os.fdopen(handle, "w", encoding="ascii") as fresh:
                fresh.write(secrets.token_urlsafe(KEY_BYTES))
        return file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise StorageError(f"The key file {str(file)!r} can't be used ({error.strerror}): check it.") from error
