"""Kept answers: proposals of people, their readers, and the file that one is read from. Pure."""

import re
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.answer import Provenance
from core.domain.channels import LIVE_KIND
from core.domain.incoming import ThreadAddress

KEPT_KIND = "kept"  # the kind of their source and of their documents
SAID_KINDS = frozenset({KEPT_KIND, LIVE_KIND})  # of documents that people said, which rank below the others
KEPT_MARK = "<!-- footnote: kept answers -->"  # the first line of the file

_FILE = re.compile(rf"{re.escape(KEPT_MARK)}\n+# ([^\n]+)\n+<!-- kept: (\S+) -->[ \t]*\n(## ([^\n]+).*)", re.DOTALL)


class KeptState(StrEnum):
    PROPOSED = "proposed"  # waits for a reviewer, and no search finds it
    ACCEPTED = "accepted"  # a document of the library
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """A question with a message of a person about it, or an answer that a person vouches for.

    `id` follows from the workspace and the link, so a message is proposed once.
    """

    id: str
    workspace: str
    state: KeptState
    question: str
    text: str
    link: str  # web address of the message
    address: ThreadAddress  # of the message
    readers: frozenset[str]  # of its channel, as core/domain/readers.py writes them; none: only its thread
    said_by: str  # the platform's id of the person; of the bot's answer, who proposed it
    said_by_name: str
    author: str  # who proposed it
    author_name: str
    created_at: datetime
    changed_at: datetime
    expires_at: datetime
    answer_id: str = ""  # of the stored answer; "" for a message of a person
    origin: str = ""  # the posting key of the message itself
    rests_on: Provenance = field(default_factory=Provenance)
    document_id: str = ""  # once it is accepted
    decided_by: str = ""
    decided_by_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRule:
    """The readers of a kept answer: of its place, everyone who may read all that it rests on."""

    document_id: str
    address: ThreadAddress | None = None  # None: without readers, as it isn't accepted or its message was deleted
    readers: frozenset[str] = frozenset()  # of its channel
    rests_on: Provenance = field(default_factory=Provenance)
    sources: Mapping[str, str] = field(default_factory=dict)  # of the documents that it rests on, as far as they exist

    def holds(self, sources: Container[str], hidden: frozenset[str], positions: Collection[str] = ()) -> bool:
        """Return whether a scope holds all that it rests on.

        A reading position in one of its documents hides it, because its text may tell more.
        """
        basis = self.rests_on
        may_list = all(id in sources for id in basis.sources) and not (basis.sources and positions)
        return may_list and all(
            self.sources.get(id, "") in sources and id not in hidden and id not in positions for id in basis.documents
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A kept answer as its file has it. `text` begins with the heading `question`."""

    title: str
    link: str
    question: str
    text: str


def write_file(kept: KeptFile) -> str:
    return f"{KEPT_MARK}\n\n# {kept.title}\n\n<!-- kept: {kept.link} -->\n{kept.text}\n"


def read_file(text: str) -> KeptFile | None:
    """Return the kept answer of a file; None if it has none."""
    found = _FILE.match(text)
    if found is None:
        return None
    return KeptFile(title=found[1].strip(), link=found[2], question=found[4].strip(), text=found[3].strip())
