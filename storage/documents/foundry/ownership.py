"""The ownership of Foundry's journals and packs as names of people: who may read each page.

Foundry's rules: game masters (and their assistants) read everything. Others read a page with the level OBSERVER on it,
of a journal that they see (LIMITED). A page inherits the journal's level, and people without a level have the default.
Pages of packs have the pack's level for players instead; a pack is open to them unless the world says otherwise.
Exported entries of a world name it; entries of packs, with the levels that Foundry ignores, don't.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.knowledge.narrowing import Limits

GAMEMASTERS = "gamemasters"
NAMES = "user:{name}"
INHERIT, NONE, LIMITED, OBSERVER = -1, 0, 1, 2
_ASSISTANT = 3  # the lowest role of a game master
_LEVELS = {"NONE": NONE, "LIMITED": LIMITED, "OBSERVER": OBSERVER, "OWNER": 3}
_PLAYER = "PLAYER"
_OF_PACK = "Compendium."  # the beginning of an address

Entry = Mapping[str, Any]
CLOSED: Limits = (frozenset({GAMEMASTERS}),)


@dataclass(frozen=True, slots=True)
class Players:
    """The users of a world who aren't game masters: id -> name."""

    names: Mapping[str, str]
    masters: frozenset[str] = frozenset()  # ids of game masters

    @classmethod
    def of(cls, users: Iterator[Entry]) -> "Players":
        names, masters = dict[str, str](), set[str]()
        for user in users:
            id = str(user.get("_id"))
            if _number(user.get("role")) >= _ASSISTANT:
                masters.add(id)
            else:
                names[id] = str(user.get("name") or id)
        return cls(names, frozenset(masters))

    def readers_of(self, entry: Entry, page: Entry) -> Limits:
        """Return who may read a page of a journal of the world; nothing if all players may."""
        whole, own = _ownership(entry), _ownership(page)
        people = {*self.names, *whole, *own} - {"default"} - self.masters
        reading = {person for person in people if _may_read(whole, own, person)}
        if reading == people and _may_read(whole, own, "default"):
            return ()
        return (frozenset({GAMEMASTERS, *(NAMES.format(name=self.names.get(id, id)) for id in reading)}),)


def readers_of_pack(manifest: Mapping[str, Any], chosen: Mapping[str, Any]) -> Limits:
    """Return who may read a pack, by its entry in world.json and by the world's own setting for it."""
    given = (chosen.get("ownership"), manifest.get("ownership"))
    stated = [levels for levels in given if isinstance(levels, dict) and levels]
    private = [given for given in (chosen.get("private"), manifest.get("private")) if isinstance(given, bool)]
    if stated:  # since version 11; `private` before
        is_open = _LEVELS.get(str(stated[0].get(_PLAYER)), NONE) >= LIMITED  # which is OBSERVER for journals of packs
        return () if is_open else CLOSED
    return CLOSED if private and private[0] else ()


def readers_of_export(entry: Entry) -> Limits:
    """Return who may read all pages of an exported journal: () if all players may, or if it comes from no world.

    Foundry's own export leaves out the levels of the journal; then the levels of its pages decide.
    """
    source = _exported_from(entry)
    if not (source.get("worldId") or source.get("world")) or str(source.get("uuid") or "").startswith(_OF_PACK):
        return ()
    has_own = "ownership" in entry or "permission" in entry
    whole = entry if has_own else {"ownership": {"default": OBSERVER}}
    pages = [page for page in entry.get("pages") or () if isinstance(page, dict)]
    unnamed = Players({})
    return tuple(dict.fromkeys(names for page in pages or [{}] for names in unnamed.readers_of(whole, page)))


def _exported_from(entry: Entry) -> Entry:
    """Return the origin that Foundry's export states; before version 12 it was a flag."""
    for field in ("_stats", "flags"):
        holder = entry.get(field)
        found = holder.get("exportSource") if isinstance(holder, dict) else None
        if isinstance(found, dict):
            return found
    return {}


def by_readers(entry: Entry, players: Players) -> Iterator[tuple[Limits, bool, Entry]]:
    """Yield an entry for each group of pages with the same readers, and whether they are the journal's.

    Entries are marked: what embeds pages of one with fewer readers must not show them.
    """
    pages = [page for page in entry.get("pages") or () if isinstance(page, dict)]
    whole = players.readers_of(entry, {})
    groups: dict[Limits, list[Entry]] = {}
    for page in pages:
        groups.setdefault(players.readers_of(entry, page), []).append(page)
    for limits, group in (groups or {whole: []}).items():
        yield limits, limits == whole, marked({**entry, "pages": group}, limits)


def marked(entry: Entry, limits: Limits) -> Entry:
    """Return an entry that says who may read it, for the reader of the file."""
    return {**entry, "footnote": {"readers": [sorted(names) for names in limits]}} if limits else entry


def _may_read(whole: Mapping[str, int], own: Mapping[str, int], person: str) -> bool:
    journal = whole.get(person, INHERIT)
    journal = whole.get("default", NONE) if journal == INHERIT else journal
    page = own.get(person, own.get("default", INHERIT))
    return journal >= LIMITED and (journal if page == INHERIT else page) >= OBSERVER


def _ownership(entry: Entry) -> dict[str, int]:
    """Return the level of each user id and the `default`; before version 10, the field had another name."""
    given = entry.get("ownership", entry.get("permission"))
    return {str(id): _number(level) for id, level in given.items()} if isinstance(given, dict) else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else NONE
