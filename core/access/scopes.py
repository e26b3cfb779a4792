"""The sources and positions that a question may read: decided only here, applied inside every index and page read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.access.positions.reading import lowest
from core.domain.corpus import SearchScope, Source
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings, PersonAddress, PositionHolder
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository

# The kind of a source that holds the attachments of one thread.
ATTACHMENTS = "attachment"


def attached_name(address: ThreadAddress) -> str:
    """The name of the source of a thread's attachments."""
    return f"attached:{address}"


class Ground(StrEnum):
    """The reason why a source may be read in a place, or not."""

    NO_CHANNEL = "no_channel"  # private context: every source is readable except thread attachments
    ALL_SOURCES = "all_sources"  # the channel's settings name no sources
    ALLOWED = "allowed"  # the channel's settings name it
    ATTACHED_HERE = "attached_here"  # it belongs to the thread
    NOT_ALLOWED = "not_allowed"  # the channel's settings name others
    ATTACHED_ELSEWHERE = "attached_elsewhere"  # it belongs to another thread
    OTHER_WORKSPACE = "other_workspace"  # the channel is another workspace's

    @property
    def is_readable(self) -> bool:
        return self in _READABLE


_READABLE = (Ground.NO_CHANNEL, Ground.ALL_SOURCES, Ground.ALLOWED, Ground.ATTACHED_HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All sources of a workspace, by name, each with the ground on which it may be read in a place, or may not."""

    workspace: str
    sources: tuple[tuple[Source, Ground], ...]
    settings: ChannelSettings | None = None  # of the channel; None: without one, or another workspace's

    @property
    def readable(self) -> list[Source]:
        return [source for source, ground in self.sources if ground.is_readable]

    def scope(self, positions: Mapping[str, int] | None = None) -> SearchScope:
        """Return the scope of the readable sources, up to these positions."""
        ids = frozenset(source.id for source in self.readable)
        return SearchScope(workspace=self.workspace, sources=ids, positions=positions or {})

    def everything(self) -> SearchScope:
        """Return a scope of all sources, for explanations: for names, never for a page's text."""
        return SearchScope(workspace=self.workspace, sources=frozenset(source.id for source, _ in self.sources))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The reading positions set in a place, by holder.

    The lowest of each document applies. In private places (`own_first`) it is that of the last holder with one: lifted
    by the person, else the person's, else the channel's.
    """

    held: tuple[tuple[PositionHolder, Mapping[str, int]], ...]
    own_first: bool

    @property
    def deciding(self) -> dict[str, int]:
        """Document id -> the place in `held` of the position that holds."""
        found: dict[str, int] = {}
        for place, (_, positions) in enumerate(self.held):
            for document_id, last in positions.items():
                if document_id not in found or self.own_first or last < self.held[found[document_id]][1][document_id]:
                    found[document_id] = place
        return found

    @property
    def positions(self) -> dict[str, int]:
        """Document id -> the last page that may be read."""
        return {document_id: self.held[place][1][document_id] for document_id, place in self.deciding.items()}


class Access:
    """Read permissions, as they are set at this moment."""

    def __init__(self, corpus: CorpusRepository, settings: SettingsRepository) -> None:
        self._corpus = corpus
        self._settings = settings

    async def scope(
        self,
        workspace: str,
        address: ThreadAddress | None = None,
        positions: Mapping[str, int] | None = None,
        reader: str | None = None,
        *,
        alone: bool = False,
    ) -> SearchScope:
        """Return the scope of a thread, up to the reading positions.

        It holds the workspace's sources that the channel's settings allow, and the thread's attachments; without a
        thread (a private context) all sources without any attachments. An address of another workspace reads nothing.
        Positions are the channel's, the given ones and the `reader`'s (a person's id), the lowest of each document. In
        private places (a person's own thread, no thread, or `alone`) the person's apply, lifted if they lifted them,
        and the channel's only for documents without one of the person.
        """
        grounds, bounds = await self.decide(workspace, address, reader, alone=alone)
        return grounds.scope(lowest(bounds.positions, positions) if positions else bounds.positions)

    async def decide(
        self, workspace: str, address: ThreadAddress | None = None, reader: str | None = None, *, alone: bool = False
    ) -> tuple[Grounds, Bounds]:
        """Return the parts of `scope`, each with its reason."""
        return await self._grounds(workspace, address), await self._bounds(workspace, address, reader, alone)

    async def scope_to_the_end(self, workspace: str, address: ThreadAddress | None = None) -> SearchScope:
        """Return the same scope without reading positions: to look up a position, never for display."""
        return (await self._grounds(workspace, address)).scope()

    async def sources(self, workspace: str, address: ThreadAddress | None = None) -> list[Source]:
        """The sources of that scope, by name."""
        return (await self._grounds(workspace, address)).readable

    async def _grounds(self, workspace: str, address: ThreadAddress | None) -> Grounds:
        sources = await self._corpus.list_sources(workspace)
        settings = None
        if address is not None and address.workspace == workspace:
            settings = await self._settings.channel(ChannelAddress.of(address))
        grounds = tuple((source, _ground(source, address, settings)) for source in sources)
        return Grounds(workspace=workspace, sources=grounds, settings=settings)

    async def _bounds(self, workspace: str, address: ThreadAddress | None, reader: str | None, alone: bool) -> Bounds:
        owner = address.private_to if address is not None else None
        person = owner or reader
        own_first = bool(person) and (address is None or owner is not None or alone)
        holders: list[PositionHolder] = [ChannelAddress.of(address)] if address is not None else []
        holders += [PersonAddress(workspace=workspace, person=person)] if person else []
        if person and own_first:
            holders.append(PersonAddress(workspace=workspace, person=person, alone=True))
        held = await self._settings.positions_of(holders)
        return Bounds(held=tuple(zip(holders, held, strict=True)), own_first=own_first)


def _ground(source: Source, address: ThreadAddress | None, settings: ChannelSettings | None) -> Ground:
    """`settings` are the channel's; None if its address isn't of the source's workspace."""
    if address is not None and settings is None:
        return Ground.OTHER_WORKSPACE
    if source.kind == ATTACHMENTS:
        is_here = address is not None and source.name == attached_name(address)
        return Ground.ATTACHED_HERE if is_here else Ground.ATTACHED_ELSEWHERE
    if settings is None:
        return Ground.NO_CHANNEL
    if settings.sources is None:
        return Ground.ALL_SOURCES
    return Ground.ALLOWED if settings.allows(source.name) else Ground.NOT_ALLOWED
