"""What is asked about access, and what is told. Frozen; no text of any document."""

from dataclasses import dataclass
from enum import StrEnum

from core.access.scopes import Ground
from core.domain.conversation import ThreadAddress
from core.domain.corpus import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessQuestion:
    """Who, and where. Without an address: where nobody else looks on, as on the command line."""

    workspace: str
    address: ThreadAddress | None = None
    reader: str | None = None  # a person's id; None: anybody, so only the channel's positions count
    alone: bool = False  # nobody else reads there
    document: str | None = None  # path, title or alias

    @property
    def person(self) -> str | None:
        """Whose positions count: in a person's own thread theirs, whoever is named."""
        return (self.address.private_to if self.address is not None else None) or self.reader


class Holder(StrEnum):
    """Whose a reading position is."""

    CHANNEL = "channel"
    PERSON = "person"
    LIFTED = "lifted"  # what a person lifted for themselves, where nobody else reads


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPosition:
    holder: Holder
    last_page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionOf:
    """The reading position that holds for a document, and all that are set."""

    document: Document
    holder: Holder
    last_page: int
    held: tuple[HeldPosition, ...]  # the channel's first

    def of(self, holder: Holder) -> int | None:
        return next((item.last_page for item in self.held if item.holder is holder), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReason:
    """A source, and why it may be read, or not."""

    name: str
    kind: str
    ground: Ground
    sentence: str


class Verdict(StrEnum):
    """How much of a document may be read."""

    WHOLE = "whole"
    UP_TO = "up_to"  # a page
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictOn:
    """How much of a document may be read, why, and what would change it."""

    document: Document
    verdict: Verdict
    ground: Ground  # of its source
    position: PositionOf | None
    chapter: str = ""  # where what may be read ends; "" where that is not said
    sentence: str = ""
    changes: tuple[str, ...] = ()  # one sentence each

    @property
    def reason(self) -> str:
        """What decides: the ground of its source, that no file of it was ever read, or a reading position."""
        if not self.ground.is_readable:
            return self.ground.value
        if self.document.revision is None:
            return "never_read"
        return self.ground.value if self.verdict is Verdict.WHOLE else "position"

    @property
    def last_page(self) -> int | None:
        """The last page that may be read; None: the end, 0: none."""
        if self.verdict is Verdict.WHOLE:
            return None
        return self.position.last_page if self.verdict is Verdict.UP_TO and self.position is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    question: AccessQuestion
    alone: bool  # nobody else reads, so a person's own positions come before the channel's
    sources: tuple[SourceReason, ...]  # all of the workspace, by name
    positions: tuple[PositionOf, ...]  # of what may be read, by source name, then path
    document: VerdictOn | None = None
