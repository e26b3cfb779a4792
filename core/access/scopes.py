"""The sources and positions that a question may read: decided only here, applied inside every index and page read."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain

from core.access.positions.copies import Copies
from core.access.positions.reading import lowest
from core.domain.channels import LIVE_KIND
from core.domain.corpus import SearchScope, Source
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.kept_answers import KEPT_KIND, KeptRule
from core.domain.readers import EVERYONE, Audience
from core.domain.service import TO_THE_END, ChannelSettings, PersonAddress, PositionHolder
from core.errors import PlatformError
from core.ports import CorpusRepository
from core.ports.service import Audiences, SettingsRepository

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
    NOT_FOR_ALL = "not_for_all"  # not everyone who can read the place is among its readers
    UNKNOWN_AUDIENCE = "unknown_audience"  # the readers of the place are unknown
    ATTACHED_ELSEWHERE = "attached_elsewhere"  # it belongs to another thread
    OTHER_WORKSPACE = "other_workspace"  # the channel is another workspace's
    NOT_COMPARED = "not_compared"  # a live channel that may hold messages which were deleted meanwhile

    @property
    def is_readable(self) -> bool:
        return self in _READABLE


_LIMITED = (Ground.ALL_SOURCES, Ground.ALLOWED)  # grounds that hold only if the place's audience may read the source
_READABLE = (Ground.NO_CHANNEL, Ground.ALL_SOURCES, Ground.ALLOWED, Ground.ATTACHED_HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All sources of a workspace, by name, each with the ground on which it may be read in a place, or may not."""

    workspace: str
    sources: tuple[tuple[Source, Ground], ...]
    settings: ChannelSettings | None = None  # of the channel; None: without one, or another workspace's
    hidden: frozenset[str] = frozenset()  # ids of documents with fewer readers than their source
    unknown: str = ""  # why the readers of the place are unknown; "" if they are known
    kept: tuple[KeptRule, ...] = ()  # of the kept answers that aren't hidden

    @property
    def readable(self) -> list[Source]:
        return [source for source, ground in self.sources if ground.is_readable]

    def scope(self, positions: Mapping[str, int] | None = None) -> SearchScope:
        """Return the scope of the readable sources, up to these positions; kept answers may go beyond them."""
        ids, hidden = frozenset(source.id for source in self.readable), self.hidden
        if bounds := [document for document, last in (positions or {}).items() if last < TO_THE_END]:
            hidden = _hide_kept(self.kept, ids, hidden, bounds)
        return SearchScope(workspace=self.workspace, sources=ids, positions=positions or {}, hidden=hidden)

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


@dataclass(slots=True)
class LiveSources:
    """The live channels that this process may show: they are as their platform has them.

    None is before it was compared. Documents are `changing` from an edit or a deletion until the library has it.
    """

    compared: set[str] = field(default_factory=set)  # ids of sources
    changing: set[str] = field(default_factory=set)  # ids of documents

    def close(self, found: Grounds) -> Grounds:
        """Return the grounds without all else of live channels."""
        if all(source.kind != LIVE_KIND for source, _ in found.sources):
            return found
        closed = {one.id for one, ground in found.sources if one.kind == LIVE_KIND and one.id not in self.compared}
        sources = tuple(
            (one, Ground.NOT_COMPARED if one.id in closed and ground.is_readable else ground)
            for one, ground in found.sources
        )
        return replace(found, sources=sources, hidden=found.hidden | self.changing)


# Platforms of the person at the machine, who may read everything. With Audiences, a platform has other people, too.
OPERATED = frozenset({"terminal", "api", "web"})
_SERVICE_ONLY = "only the running service can ask the platform"


class Access:
    """Read permissions, as they are set at this moment."""

    def __init__(
        self, corpus: CorpusRepository, settings: SettingsRepository, operated: Container[str] = OPERATED
    ) -> None:
        """`operated` are platforms of the person at the machine. `audiences`, by platform, are set when it connects."""
        self.audiences: dict[str, Audiences] = {}
        self.live = LiveSources()
        self.copies = Copies(corpus)
        self._corpus = corpus
        self._settings = settings
        self._operated = operated

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

        It holds the workspace's sources that everyone who can read the place may read and the channel's settings
        allow, and the thread's attachments; without a thread (the person at the machine) all sources without any
        attachments. An address of another workspace reads nothing.
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
        grounds = await self._grounds(workspace, address, reader if alone else None)
        return grounds, await self._bounds(workspace, address, reader, alone)

    async def scope_to_the_end(self, workspace: str, address: ThreadAddress | None = None) -> SearchScope:
        """Return the same scope without reading positions: to look up a position, never for display."""
        return (await self._grounds(workspace, address)).scope()

    async def sources(self, workspace: str, address: ThreadAddress | None = None) -> list[Source]:
        """The sources of that scope, by name."""
        return (await self._grounds(workspace, address)).readable

    async def reads(self, place: ThreadAddress, address: ThreadAddress | None, person: str | None) -> bool:
        """Return whether a person at `address` may read another thread. False if that is unknown.

        `person` None: everyone who reads `address`.
        """
        if address is None or place == address:
            return True
        if person is None:
            return await self._all_read(place, address)
        if address.platform in self._operated:
            if place.platform not in self._operated or place.private_to not in (None, person):
                return False
            return not place.thread or await self._is_own(place, address, person)
        if place.private_to is not None or place.platform != address.platform:
            return place.private_to == person and place.platform == address.platform
        word, alone = frozenset({f"channel:{place.channel}"}), frozenset({f"person:{person}"})
        audiences = self.audiences.get(place.platform)
        if audiences is None:
            return False
        try:
            if (await audiences.of_place(place, alone)).may_read(alone):  # such as a direct message
                return True
            channel, named = replace(place, thread=""), word | alone  # a private thread has other readers
            if await audiences.of_place(place, named) != await audiences.of_place(channel, named):
                return False
            return (await audiences.of_person(place.workspace, person, word)).may_read(word)
        except PlatformError:
            return False

    async def _all_read(self, place: ThreadAddress, address: ThreadAddress) -> bool:
        if place.private_to is not None or place.platform != address.platform:
            return False
        if address.platform in self._operated:
            return await self._is_same_reader(place, address)
        word = frozenset({f"channel:{place.channel}"})
        audiences = self.audiences.get(place.platform)
        if audiences is None:
            return False
        try:
            if await audiences.of_place(place, word) != await audiences.of_place(replace(place, thread=""), word):
                return False  # a private thread
            return (await audiences.of_place(address, word)).may_read(word)
        except PlatformError:
            return False

    async def _is_same_reader(self, place: ThreadAddress, address: ThreadAddress) -> bool:
        """Return whether all readers of a thread of an operated platform read another one of it, too."""
        audiences = self.audiences.get(address.platform)
        if audiences is None:
            return address.private_to is None
        who = await audiences.of_place(address, frozenset())
        return who.is_operator or await audiences.of_place(place, frozenset()) == who

    async def _is_own(self, place: ThreadAddress, address: ThreadAddress, person: str) -> bool:
        """Return whether an operated platform shows a thread to a person: theirs, and to the operator all."""
        audiences = self.audiences.get(address.platform)
        if audiences is None:
            return True
        who = await audiences.of_person(place.workspace, person, frozenset())
        is_same = place.platform == address.platform and await audiences.of_place(place, frozenset()) == who
        return who.is_operator or is_same

    async def may_review(self, rule: KeptRule, address: ThreadAddress | None, person: str | None) -> bool:
        """Return whether a person at `address` may read a kept answer with all that it rests on.

        `person` None: everyone who reads `address`.
        """
        if rule.address is None or address is None:
            return rule.address is not None
        if address.platform in self._operated:
            return rule.address.platform in self._operated and await self._may_read_basis(rule, address, person)
        if rule.address.platform != address.platform:
            return False
        alone = None if rule.address == address else person
        place = address if person is None else rule.address
        grounds = await self._grounds(rule.address.workspace, place, alone, [rule])
        return rule.document_id not in grounds.hidden

    async def _may_read_basis(self, rule: KeptRule, address: ThreadAddress, person: str | None) -> bool:
        """Return whether a reviewer on an operated platform may read all that a kept answer rests on."""
        if address.platform not in self.audiences:
            return True
        grounds = await self._grounds(address.workspace, address, person)
        return rule.holds(frozenset(source.id for source in grounds.readable), grounds.hidden)

    async def _grounds(
        self,
        workspace: str,
        address: ThreadAddress | None,
        alone: str | None = None,
        rules: Sequence[KeptRule] = (),
    ) -> Grounds:
        """`alone` is the only person who reads the place; None: all who can. `rules` are of more kept answers."""
        found, rules = await self._found(workspace, address, alone, rules)
        return _with_kept(self.live.close(found), rules)

    async def _found(
        self,
        workspace: str,
        address: ThreadAddress | None,
        alone: str | None,
        rules: Sequence[KeptRule],
    ) -> tuple[Grounds, Sequence[KeptRule]]:
        """Return the grounds apart from rules about kept answers and live channels, and all of the former."""
        sources = await self._corpus.list_sources(workspace)
        if any(source.kind == KEPT_KIND for source in sources):
            rules = [*await self._corpus.kept_rules(workspace), *rules]
        if address is None or address.workspace != workspace:
            grounds = [(item, _ground(item, address, None)) for item in sources]
            return Grounds(workspace=workspace, sources=tuple(grounds)), rules
        settings = await self._settings.channel(ChannelAddress.of(address))
        grounds = [(source, _ground(source, address, settings)) for source in sources]
        if address.platform in self._operated and address.platform not in self.audiences:
            return Grounds(workspace=workspace, sources=tuple(grounds), settings=settings), rules
        narrowed = await self._corpus.narrowed(workspace)
        own = {
            rule.document_id: rule.readers if _platform(rule.address) == address.platform else frozenset()
            for rule in rules
            if alone is not None or rule.address != address
        }
        limits = [*(source.readers for source in sources), *chain.from_iterable(narrowed.values()), *own.values()]
        audience, unknown = await self._audience(address, alone, limits)
        narrower = Ground.UNKNOWN_AUDIENCE if unknown else Ground.NOT_FOR_ALL
        for place, (source, ground) in enumerate(grounds):
            if ground in _LIMITED and EVERYONE not in source.readers and not audience.may_read(source.readers):
                grounds[place] = (source, narrower)
        hidden = frozenset(id for id, limits in narrowed.items() if not audience.may_read_narrowed(limits))
        hidden |= frozenset(id for id, readers in own.items() if not audience.may_read(readers))
        found = Grounds(workspace=workspace, sources=tuple(grounds), settings=settings, hidden=hidden, unknown=unknown)
        return found, rules

    async def _audience(
        self, address: ThreadAddress, alone: str | None, limits: Collection[frozenset[str]]
    ) -> tuple[Audience, str]:
        """Return everyone who reads the place, as far as `limits` name them, and the reason if they are unknown."""
        if all(EVERYONE in some for some in limits):  # no need to look them up
            return Audience.of({EVERYONE}), ""
        audiences = self.audiences.get(address.platform)
        if audiences is None:
            return Audience(), _SERVICE_ONLY
        named, person = frozenset[str]().union(*limits), address.private_to or alone
        try:
            if person is not None:
                return await audiences.of_person(address.workspace, person, named), ""
            return await audiences.of_place(address, named), ""
        except PlatformError as error:
            return Audience(), str(error)

    async def _bounds(self, workspace: str, address: ThreadAddress | None, reader: str | None, alone: bool) -> Bounds:
        owner = address.private_to if address is not None else None
        person = owner or reader
        own_first = bool(person) and (address is None or owner is not None or alone)
        holders: list[PositionHolder] = [ChannelAddress.of(address)] if address is not None else []
        holders += [PersonAddress(workspace=workspace, person=person)] if person else []
        if person and own_first:
            holders.append(PersonAddress(workspace=workspace, person=person, alone=True))
        held = [
            await self.copies.share(positions, workspace) for positions in await self._settings.positions_of(holders)
        ]
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


def _platform(address: ThreadAddress | None) -> str:
    return address.platform if address is not None else ""


def _with_kept(found: Grounds, rules: Sequence[KeptRule]) -> Grounds:
    """Hide the kept answers that aren't accepted, or rest on more than the place may read."""
    hidden = found.hidden | {rule.document_id for rule in rules if rule.address is None}
    hidden = _hide_kept(rules, frozenset(source.id for source in found.readable), hidden)
    return replace(found, hidden=hidden, kept=tuple(rule for rule in rules if rule.document_id not in hidden))


def _hide_kept(
    rules: Sequence[KeptRule], sources: frozenset[str], hidden: frozenset[str], positions: Collection[str] = ()
) -> frozenset[str]:
    """Return `hidden` with the kept answers that rest on more than the scope, or on another hidden one."""
    while more := {
        rule.document_id
        for rule in rules
        if rule.document_id not in hidden and not rule.holds(sources, hidden, positions)
    }:
        hidden |= more
    return hidden
