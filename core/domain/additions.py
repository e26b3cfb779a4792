"""Documents that people add through a chat: files and links, from the request to the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.incoming import ThreadAddress
from core.domain.service import PostRef

READERS = "readers"  # key of an addition's details


class AdditionKind(StrEnum):
    FILE = "file"
    LINK = "link"


class AdditionState(StrEnum):
    PROPOSED = "proposed"  # an admin, or another permitted person, has to confirm it
    ACCEPTED = "accepted"  # to be fetched and stored
    READING = "reading"  # stored among the uploads, not read yet
    READ = "read"
    FAILED = "failed"  # stored, but it can't be read; it is kept, and listed with its reason
    REFUSED = "refused"  # not stored
    DISMISSED = "dismissed"  # a proposal that was turned down
    UNDONE = "undone"

    @property
    def is_final(self) -> bool:
        return self not in (AdditionState.PROPOSED, AdditionState.ACCEPTED, AdditionState.READING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A request to add a file or a link, with its present state and its post.

    `id` follows from the platform's event, so a repeated event is one addition. Once it is settled, its post shows its
    state, and no work is left.
    """

    id: str
    workspace: str
    kind: AdditionKind
    name: str  # of the file; of a link, its address
    address: ThreadAddress  # of the request
    author: str  # the platform's id of the person
    author_name: str
    state: AdditionState
    created_at: datetime
    details: Mapping[str, str] = field(
        default_factory=dict
    )  # READERS, and the adapter's own: the place of the file's bytes, for example
    post_ref: PostRef | None = None  # of its progress post
    is_settled: bool = False
    decided_by: str = ""  # who confirmed, dismissed or undid it
    decided_by_name: str = ""
    path: str = ""  # among the uploads; "" until the bytes are held
    document_id: str = ""
    revision: str = ""  # of the document when it was read
    pages: int = 0
    reason: str = ""  # a sentence: why it failed or was refused
    changed_at: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it is complete, and only a decision of people is missing."""
        return self.state is AdditionState.PROPOSED and (self.kind is AdditionKind.LINK or bool(self.path))

    @property
    def readers(self) -> frozenset[str] | None:
        """Its readers, among the readers of uploads; None: nobody chose."""
        chosen = self.details.get(READERS)
        return None if chosen is None else frozenset(chosen.split())

    @property
    def can_be_undone(self) -> bool:
        return self.state in UNDOABLE


UNDOABLE = (AdditionState.ACCEPTED, AdditionState.READING, AdditionState.READ, AdditionState.FAILED)
KEPT = (AdditionState.READING, AdditionState.READ, AdditionState.FAILED)  # its file is among the uploads
