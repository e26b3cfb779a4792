"""Actions of admins and moderators: an entry names people, places and things by their ids and names.

It never holds people's messages, the text of documents, or secrets.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Deed(StrEnum):
    """The kinds of entries."""

    SETTING = "setting changed"
    POSITION = "reading position changed"
    READERS = "readers changed"
    SOURCE_ADDED = "source added"
    SOURCE_REMOVED = "source removed"
    DOCUMENT_ADDED = "document added"
    DOCUMENT_DECLINED = "document declined"
    DOCUMENT_REMOVED = "document removed"
    BOUND = "workspace bound"
    UNBOUND = "workspace unbound"
    TOKEN_ADDED = "token added"  # noqa: S105 - a kind of entry
    TOKEN_REVOKED = "token revoked"  # noqa: S105 - a kind of entry
    SIGNED_OUT = "browsers signed out"
    KEPT_ACCEPTED = "kept answer accepted"
    KEPT_DECLINED = "kept answer declined"
    KEPT_UNDONE = "kept answer undone"
    KEPT_DELETED = "kept answer deleted"
    CONVERSATION_DELETED = "conversation deleted"
    PERSON_REMOVED = "person removed"  # about their pseudonym
    WORKSPACE_REMOVED = "workspace removed"  # in a workspace called by its pseudonym
    ANSWER_STOPPED = "answer stopped"  # of another person


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditNote:
    """One thing that a person did, to be stored by the same commit."""

    workspace: str
    actor: str  # the platform's id of the person, or the name of the user at the machine
    deed: Deed
    about: str = ""  # the object: an id, a path or a name


# A change of a port with `audit` stores it by the same commit, if it changes anything.
Audit = AuditNote | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A stored note."""

    id: int
    done_at: datetime
    note: AuditNote
