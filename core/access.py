"""What a question may read. Made here and nowhere else; applied inside every index and page read."""

from collections.abc import Mapping, Sequence

from core.domain.conversation import ThreadAddress
from core.domain.corpus import SearchScope, Source
from core.domain.settings import ChannelAddress, ChannelSettings, PersonAddress, PositionHolder
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository
from core.positions.reading import lowest

# The kind of a source that holds what was attached to the questions of one thread.
ATTACHMENTS = "attachment"


def attached_name(address: ThreadAddress) -> str:
    """The name of the source of a thread's attachments."""
    return f"attached:{address}"


class Access:
    """Who may read what, as it is set at this moment."""

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
        """What may be read in a thread, up to the reading positions.

        Of the workspace's sources, those that the channel's settings allow and what was attached in this thread;
        without a thread, which is where nobody else looks on, all but what was attached anywhere. An address of
        another workspace reads nothing. Positions are the channel's, those given and those of the `reader` (a person's
        id), the lowest of each document. Where nobody else reads (in a person's own thread, without a thread, or where
        `alone` says so) it is the person's that hold, lifted where they lifted them, and the channel's only for
        documents of which they set none.
        """
        found = await self.sources(workspace, address)
        return SearchScope(
            workspace=workspace,
            sources=frozenset(source.id for source in found),
            positions=lowest(await self._positions(workspace, address, reader, alone), positions or {}),
        )

    async def scope_to_the_end(self, workspace: str, address: ThreadAddress | None = None) -> SearchScope:
        """The same without any reading position: for finding the place of one, never for what is shown."""
        found = await self.sources(workspace, address)
        return SearchScope(workspace=workspace, sources=frozenset(source.id for source in found))

    async def sources(self, workspace: str, address: ThreadAddress | None = None) -> list[Source]:
        """The sources of that scope, by name."""
        sources = await self._corpus.list_sources(workspace)
        if address is None:
            return [source for source in sources if source.kind != ATTACHMENTS]
        if address.workspace != workspace:
            return []
        return readable(sources, address, await self._settings.channel(ChannelAddress.of(address)))

    async def _positions(
        self, workspace: str, address: ThreadAddress | None, reader: str | None, alone: bool
    ) -> Mapping[str, int]:
        owner = address.private_to if address is not None else None
        person = owner or reader
        holders: list[PositionHolder] = [ChannelAddress.of(address)] if address is not None else []
        holders += [PersonAddress(workspace=workspace, person=person)] if person else []
        if not person or not (address is None or owner is not None or alone):
            return lowest(*await self._settings.positions_of(holders))
        holders.append(PersonAddress(workspace=workspace, person=person, alone=True))
        return {id: last for held in await self._settings.positions_of(holders) for id, last in held.items()}


def readable(sources: Sequence[Source], address: ThreadAddress, settings: ChannelSettings) -> list[Source]:
    """Those that may be read in a thread of a channel with these settings."""
    own = attached_name(address)
    return [
        source
        for source in sources
        if (source.name == own if source.kind == ATTACHMENTS else settings.allows(source.name))
    ]
