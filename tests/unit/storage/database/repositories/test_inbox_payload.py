"""Messages survive the inbox whole, and those of earlier versions are still read."""

import json
from datetime import UTC, datetime

from core.domain.incoming import Attachment, Circumstances, IncomingMessage, RepliesTo, Talk
from storage.database.repositories.inbox_rows import from_payload, to_payload
from tests.builders import build_incoming

NEWER = ("author_name", "circumstances", "about", "attachments", "private", "language", "to_the_end")


def test_a_message_with_everything_survives() -> None:
    said = Talk(message_id="7", author="Ben", text="Bring the key.", said_at=datetime(2026, 11, 2, 9, 30, tzinfo=UTC))
    message = build_incoming(
        "Which key?",
        author_name="Ada",
        circumstances=Circumstances(mentioned=False, replies_to=RepliesTo.SOMEBODY),
        about=said,
        attachments=(Attachment(name="keys.txt", size_bytes=12, reference="file-9"),),
        private=True,
        language="German",
        metadata={"token": "t"},
    )
    assert from_payload(json.loads(json.dumps(to_payload(message)))) == message


def test_a_message_stored_by_an_earlier_version_is_read() -> None:
    message = build_incoming("Which key?")
    old = {name: value for name, value in to_payload(message).items() if name not in NEWER}
    assert from_payload(json.loads(json.dumps(old))) == message
    assert isinstance(from_payload(old), IncomingMessage)
