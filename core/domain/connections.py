"""How documents hang together: by links in their texts, and by answers that cite them."""

from dataclasses import dataclass

from core.domain.conversation import Conversation
from core.domain.corpus import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedIn:
    """A conversation whose answers cite a document."""

    conversation_id: str
    document_id: str
    answers: int  # that cite it
    is_private: bool  # one person's alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Two documents that have something to do with each other, by their ids; it has no direction."""

    first: str
    second: str
    links: int = 0  # from one of them to the other, both ways
    together: int = 0  # conversations that cite both


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A document as it is connected with another one."""

    document: Document
    links_to: int = 0  # links that lead to it from the other
    linked_from: int = 0  # links in it that lead to the other
    together: int = 0

    @property
    def weight(self) -> int:
        return self.links_to + self.linked_from + self.together


@dataclass(frozen=True, slots=True, kw_only=True)
class CitingThread:
    conversation: Conversation
    answers: int  # that cite the document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentConnections:
    """All lists with the strongest first, then by path or by time."""

    document: Document
    links: tuple[Neighbour, ...]  # what it links to
    backlinks: tuple[Neighbour, ...]  # what links to it
    related: tuple[Neighbour, ...]  # these, and what is cited together with it
    threads: tuple[CitingThread, ...]  # that cite it


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentGraph:
    """The documents with the most connections, and the connections between them; documents without any are left out."""

    documents: tuple[Document, ...]
    connections: tuple[Connection, ...]
    total: int  # documents with any connection, those left out included
