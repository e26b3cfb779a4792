"""The journals of a Foundry world, and of the packs in it: each entry as a JSON file, as Foundry itself exports it.

Foundry keeps them in LevelDB folders (since version 11), before that in files of JSON lines. A LevelDB has one user,
and opening writes into it: so a copy of the folder is opened, while Foundry keeps running.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.domain.sources import FoundryWorldOrigin
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from core.thread_work import to_its_end
from storage.sources.mirror import Kept, Mirror, safe_part

ENTRY, PAGE = "!journal!", "!journal.pages!"  # the beginnings of keys
COPY_TRIES = 3  # while Foundry tidies up, a file may go between listing and copying
_NEEDED = (
    "Foundry's databases need a library of their own: pip install 'footnote[foundry]' on Python 3.11 or 3.12. For "
    "newer ones build it from source (LevelDB's headers, then pip install plyvel), or export the journals in Foundry "
    "and read the exported files as a folder"
)

Entry = dict[str, Any]


class FoundryWorldFetcher:
    """SourceFetcher of a FoundryWorldOrigin."""

    def __init__(self, origin: FoundryWorldOrigin) -> None:
        self._origin = origin

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """`journal/<name>-<id>.json` for the world's entries, `packs/<pack>/...` for entries of its packs.

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
        wanted = set(self._write(mirror, "journal", _entries(world / "data" / "journal")))
        warnings = []
        packs = sorted(item for item in (world / "packs").glob("*") if item.is_dir() or item.suffix == ".db")
        for number, pack in enumerate(packs, start=1):
            folder = f"packs/{safe_part(pack.stem)}"
            try:
                wanted.update(self._write(mirror, folder, _entries(pack.with_suffix(""))))
            except SourceUnavailable as error:
                warnings.append(str(error))
                wanted.update(path for path in mirror.memory.files if path.startswith(f"{folder}/"))
            progress(number, len(packs), pack.name)
        mirror.keep_only(wanted)
        mirror.save()
        return mirror.fetched(warnings)

    def _write(self, mirror: Mirror, folder: str, entries: Iterator[Entry]) -> Iterator[str]:
        for entry in entries:
            name = safe_part(str(entry.get("name") or "journal")[:80])
            path = f"{folder}/{name}-{safe_part(str(entry['_id']))}.json"
            text = json.dumps(entry, ensure_ascii=False, indent=1, sort_keys=True)
            mirror.write(path, text.encode("utf-8", "replace"), Kept(key=str(entry["_id"])))
            yield path


def _entries(place: Path) -> Iterator[Entry]:
    """Return the journal entries, with pages, of a LevelDB folder or of the file of JSON lines with its name."""
    lines = place.with_name(f"{place.name}.db")
    if (place / "CURRENT").is_file():
        yield from _with_pages(_read_leveldb(place))
    elif lines.is_file():
        yield from _read_lines(lines)
    elif place.name == "journal":
        raise SourceUnavailable(f"The world has no journal at {str(place)!r}: was it made by another version?")


def _read_leveldb(place: Path) -> Mapping[str, Entry]:
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
            return {key.decode(): json.loads(value) for key, value in database.iterator(prefix=b"!journal")}
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
    """Yield the last state of each id, without deleted ones: NeDB only appends."""
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
    for entry in found.values():
        if entry.get("$$deleted"):
            continue
        if isinstance(entry.get("pages"), list):
            yield entry
        elif isinstance(entry.get("content"), str):  # before version 10 an entry was one text: a journal of one page
            text = {"content": entry["content"], "format": 1}
            page = {"_id": entry["_id"], "name": entry.get("name", ""), "type": "text", "text": text}
            yield {**{name: value for name, value in entry.items() if name != "content"}, "pages": [page]}
