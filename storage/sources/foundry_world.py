"""The journals of a Foundry world, and of the packs in it: each entry as a JSON file, as Foundry itself exports it.

Foundry keeps them in LevelDB folders (since version 11), before that in files of JSON lines. A LevelDB has one user,
and opening writes into it: so a copy of the folder is opened, while Foundry keeps running.

Who may read which pages is decided by documents/foundry/ownership.py; pages with other readers than their journal are a
file of their own.
"""

import asyncio
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.domain.sources import FoundryWorldOrigin
from core.errors import SourceUnavailable
from core.knowledge.narrowing import Limits
from core.ports.documents import Fetched, FetchProgress
from core.thread_work import to_its_end
from storage.documents.foundry.ownership import Players, by_readers, marked, readers_of_pack
from storage.sources.mirror import Kept, Mirror, safe_part

ENTRY, PAGE = "!journal!", "!journal.pages!"  # the beginnings of keys
COPY_TRIES = 3  # while Foundry tidies up, a file may go between listing and copying
_NEEDED = (
    "Foundry's databases need a library of their own: pip install 'footnote[foundry]' on Python 3.11 or 3.12. For "
    "newer ones build it from source (LevelDB's headers, then pip install plyvel), or export the journals in Foundry "
    "and read the exported files as a folder"
)

Entry = Mapping[str, Any]


class FoundryWorldFetcher:
    """SourceFetcher of a FoundryWorldOrigin."""

    def __init__(self, origin: FoundryWorldOrigin) -> None:
        self._origin = origin

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """`journal/<name>-<id>.json` for the world's entries, `packs/<pack>/...` for entries of its packs.

        Pages with other readers than their journal are in `journal/<name>-<id>-<mark>.json`.

        A pack that can't be read is a warning; the world's own journal, or a folder that is no world, raises.
        """
        opened = await asyncio.to_thread(Mirror, mirror, force=force)
        loop = asyncio.get_running_loop()

        def told(done: int, total: int | None, name: str) -> None:
            loop.call_soon_threadsafe(progress, done, total, name)

        return await to_its_end(lambda: self._fetch(opened, told))

    def _fetch(self, mirror: Mirror, progress: FetchProgress) -> Fetched:
        world = self._origin.path
        if not (world / "world.json").is_file():
            raise SourceUnavailable(
                f"{str(world)!r} is no Foundry world: `path` is its folder below Data/worlds, which holds world.json"
            )
        wanted = dict(self._write_journal(mirror))
        readers, warnings = _readers_of_packs(world), []
        packs = sorted(item for item in (world / "packs").glob("*") if item.is_dir() or item.suffix == ".db")
        for number, pack in enumerate(packs, start=1):
            folder, limits = f"packs/{safe_part(pack.stem)}", readers.get(pack.stem, ())
            try:
                for entry in _entries(pack.with_suffix("")):
                    wanted[_write(mirror, folder, marked(entry, limits))] = limits
            except SourceUnavailable as error:
                warnings.append(str(error))
                wanted |= {path: limits for path in mirror.memory.files if path.startswith(f"{folder}/")}
            progress(number, len(packs), pack.name)
        mirror.keep_only(wanted)
        mirror.save()
        restricted = {path: limits for path, limits in wanted.items() if limits}
        return replace(mirror.fetched(warnings), restricted=restricted)

    def _write_journal(self, mirror: Mirror) -> Iterator[tuple[str, Limits]]:
        """Write the world's own journal; yield the path of each file with its readers."""
        players = Players.of(iter(_stored(self._origin.path / "data" / "users", "!users!").values()))
        for entry in _entries(self._origin.path / "data" / "journal"):
            for limits, is_whole, part in by_readers(entry, players):
                mark = (
                    "" if is_whole else f"-{hashlib.sha256(repr(sorted(map(sorted, limits))).encode()).hexdigest()[:6]}"
                )
                yield _write(mirror, "journal", part, mark), limits


def _write(mirror: Mirror, folder: str, entry: Entry, mark: str = "") -> str:
    name = safe_part(str(entry.get("name") or "journal")[:80])
    path = f"{folder}/{name}-{safe_part(str(entry['_id']))}{mark}.json"
    text = json.dumps(entry, ensure_ascii=False, indent=1, sort_keys=True)
    mirror.write(path, text.encode("utf-8", "replace"), Kept(key=str(entry["_id"])))
    return path


def _readers_of_packs(world: Path) -> dict[str, Limits]:
    """Return who may read each pack, by the name of its folder or file."""
    try:
        packs = json.loads((world / "world.json").read_text("utf-8")).get("packs") or ()
        chosen: Entry = next(
            (
                json.loads(setting["value"])
                for setting in _stored(world / "data" / "settings", "!settings!").values()
                if setting.get("key") == "core.compendiumConfiguration"
            ),
            {},
        )
        return {
            Path(str(pack.get("path") or pack["name"])).stem: readers_of_pack(
                pack, chosen.get(f"world.{pack['name']}") or {}
            )
            for pack in packs
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceUnavailable(
            f"The packs of {str(world)!r} can't be read, as world.json or the world's settings are damaged ({error})"
        ) from error


def _stored(place: Path, prefix: str) -> Mapping[str, Entry]:
    """Return the contents of a LevelDB folder, or of its file of JSON lines; nothing if neither is there."""
    lines = place.with_name(f"{place.name}.db")
    if (place / "CURRENT").is_file():
        return _read_leveldb(place, prefix.encode())
    return {str(entry["_id"]): entry for entry in _last_lines(lines)} if lines.is_file() else {}


def _entries(place: Path) -> Iterator[Entry]:
    """Return the journal entries, with pages, of a LevelDB folder or of the file of JSON lines with its name."""
    lines = place.with_name(f"{place.name}.db")
    if (place / "CURRENT").is_file():
        yield from _with_pages(_read_leveldb(place, b"!journal"))
    elif lines.is_file():
        yield from _read_lines(lines)
    elif place.name == "journal":
        raise SourceUnavailable(f"The world has no journal at {str(place)!r}: was it made by another version?")


def _read_leveldb(place: Path, prefix: bytes) -> Mapping[str, Entry]:
    try:
        import plyvel
    except ImportError as error:
        raise SourceUnavailable(_NEEDED) from error
    with tempfile.TemporaryDirectory(prefix="footnote-") as temporary:
        copy = Path(temporary) / "db"
        _copy(place, copy)
        try:
            database = plyvel.DB(str(copy), create_if_missing=False)
        except (plyvel.Error, OSError) as error:
            raise SourceUnavailable(f"The database {str(place)!r} can't be read: {error}") from error
        try:
            return {key.decode(): json.loads(value) for key, value in database.iterator(prefix=prefix)}
        except (plyvel.Error, ValueError) as error:
            raise SourceUnavailable(f"The database {str(place)!r} is damaged: {error}") from error
        finally:
            database.close()


def _copy(place: Path, copy: Path) -> None:
    for attempt in range(1, COPY_TRIES + 1):
        try:
            shutil.copytree(place, copy, ignore=shutil.ignore_patterns("LOCK", "LOG*"))
            return
        except OSError as error:  # shutil.Error, too
            shutil.rmtree(copy, ignore_errors=True)
            if attempt == COPY_TRIES:
                raise SourceUnavailable(f"The database {str(place)!r} can't be copied: {error}") from error


def _with_pages(stored: Mapping[str, Entry]) -> Iterator[Entry]:
    """Entries name their pages by id; each page has a key of its own."""
    for key, entry in stored.items():
        if not key.startswith(ENTRY):
            continue
        ids = [str(page) for page in entry.get("pages") or () if isinstance(page, str)]
        pages = [stored[f"{PAGE}{entry['_id']}.{page}"] for page in ids if f"{PAGE}{entry['_id']}.{page}" in stored]
        yield {**entry, "pages": pages or [page for page in entry.get("pages") or () if isinstance(page, dict)]}


def _read_lines(file: Path) -> Iterator[Entry]:
    """Yield journals with pages."""
    for entry in _last_lines(file):
        if isinstance(entry.get("pages"), list):
            yield entry
        elif isinstance(entry.get("content"), str):  # before version 10 an entry was one text: a journal of one page
            text = {"content": entry["content"], "format": 1}
            page = {"_id": entry["_id"], "name": entry.get("name", ""), "type": "text", "text": text}
            yield {**{name: value for name, value in entry.items() if name != "content"}, "pages": [page]}


def _last_lines(file: Path) -> list[Entry]:
    """Return the last state of each id, without deleted ones: NeDB only appends."""
    found: dict[str, Entry] = {}
    is_broken = False
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            for line in opened:
                try:
                    entry = json.loads(line) if line.strip() else {}
                except ValueError:
                    is_broken = True
                    continue
                if isinstance(entry, dict) and "_id" in entry:
                    found[str(entry["_id"])] = entry
    except OSError as error:
        raise SourceUnavailable(f"The journal {str(file)!r} can't be read: {error.strerror}") from error
    if is_broken and not found:
        raise SourceUnavailable(f"The journal {str(file)!r} holds no line of JSON")
    return [entry for entry in found.values() if not entry.get("$$deleted")]
