"""Readers of sources and documents, and audiences of places: the words that both are compared in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import BadInput

EVERYONE = "everyone"  # all who can write to the bot, also guests and people of other organisations
MEMBERS = "members"  # of the servers and teams that read the workspace, without guests and people from elsewhere
MEMBERS_ONLY = frozenset({MEMBERS})
OPEN_TO_ALL = frozenset({EVERYONE})

# Readers with an id of their platform: everyone who can read the channel, or has the role, or is in the user group.
KINDS = ("channel", "role", "group", "person")
# A group of a sign-in's provider has a name instead, such as /teams/docs.
_READER = re.compile(
    rf"(?:{EVERYONE}|{MEMBERS}|(?:{'|'.join(KINDS)}):[A-Za-z0-9_.-]{{1,64}}|group:[A-Za-z0-9_./:@+-]{{1,128}})"
)
MOST_READERS = 100  # of one source
# A document's own limits: each of its readers is one of its source's, and one of every set. Without any: all of them.
Narrowing = frozenset[frozenset[str]]
UNLIMITED: Narrowing = frozenset()
READER_FORMS = ", ".join((MEMBERS, EVERYONE, *(f"{kind}:ID" for kind in KINDS)))


@dataclass(frozen=True, slots=True)
class Audience:
    """Everyone who can read a place, in parts. A part lists the readers that all of its people are.

    An audience without parts is unknown and may read nothing. The operator alone reads everything, also sources without
    readers.
    """

    parts: frozenset[frozenset[str]] = frozenset()
    is_operator: bool = False

    @classmethod
    def of(cls, *parts: Iterable[str]) -> "Audience":
        return cls(frozenset(frozenset(part) for part in parts))

    def may_read(self, readers: frozenset[str]) -> bool:
        """Return whether every part has one of these readers."""
        return self.is_operator or (bool(self.parts) and all(not part.isdisjoint(readers) for part in self.parts))

    def may_read_narrowed(self, narrowing: Narrowing) -> bool:
        """Return whether every part has one of the readers of each set."""
        return all(self.may_read(readers) for readers in narrowing)


def parse_readers(words: Iterable[str]) -> frozenset[str]:
    """Read readers as people write them. No words at all are no readers. Raises BadInput."""
    found = frozenset(word.strip() for word in words)
    for word in sorted(found):
        if not _READER.fullmatch(word):
            raise BadInput(f"{word!r} is no reader. Use one of {READER_FORMS}.")
    if len(found) > MOST_READERS:
        raise BadInput(f"These are {len(found)} readers; at most {MOST_READERS} can be set. Use a role or a channel.")
    return found


def group_readers(names: Iterable[str]) -> frozenset[str]:
    """Return the groups of a provider as readers, as far as they can be written as such."""
    return frozenset(word for name in names if _READER.fullmatch(word := f"group:{name}"))


def readers_label(readers: frozenset[str]) -> str:
    """Return who they are, as the end of a sentence."""
    if EVERYONE in readers:
        return "everyone, also guests"
    if MEMBERS in readers:
        return "all members, without guests"
    return ", ".join(sorted(readers)) or "nobody"


def narrowing_label(narrowing: Narrowing) -> str:
    """Return who they are, as the end of a sentence, without the source's own readers."""
    if any(not readers for readers in narrowing):
        return "nobody"
    return " who are also among ".join(sorted(map(readers_label, narrowing))) or "all readers of the source"


def is_wider(new: Narrowing, old: Narrowing) -> bool:
    """Return whether the readers may have a new member: an earlier limit holds no longer."""
    return any(not any(readers <= limit for readers in new) for limit in old)
