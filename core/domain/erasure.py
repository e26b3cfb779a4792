"""Results of the removal of a person or a workspace."""

from dataclasses import dataclass

from core.domain.incoming import ThreadAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedPerson:
    conversations: tuple[ThreadAddress, ...]  # without questions of others
    questions: int
    posts: int  # of the answers, that are still to be deleted from the platform


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedWorkspace:
    conversations: int
    posts: int  # that are still to be deleted from their platforms
