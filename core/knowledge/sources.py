"""Choice of the source that a path belongs to when it is ingested.

A source has one root folder. A path inside the root of a source belongs to that source; any other folder becomes a new
source, named after the folder. A file outside every source becomes a source of kind `file`: rooted in its folder, but
holding only the named files, until the folder itself is ingested. Several paths may share one `--source` if they are
files of one folder, or inside a folder that the source already has.
"""

import asyncio
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from core.domain.audit import AuditNote, Deed
from core.domain.corpus import NAMESPACE, Source
from core.domain.readers import MEMBERS_ONLY
from core.errors import BadInput, InvalidState, NotFound
from core.ports import CorpusRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A source, and the part of it that was named: "" for all, else a path below its root."""

    source: Source
    only: str


async def add_source(
    corpus: CorpusRepository,
    workspace: str,
    path: Path,
    name: str | None = None,
    link_template: str | None = None,
    readers: frozenset[str] = MEMBERS_ONLY,
    by: str = "",
) -> Place:
    """The source that `path` belongs to, saved when it is new or became a folder; the same path gives the same source.

    A new source gets these `readers`, and is noted as added `by` a person.

    Raises:
        NotFound: there is nothing at `path`.
        BadInput: the name can't be used.
        InvalidState: the name belongs to another folder, or the folder to a source of another name.
    """
    resolved, is_folder = await asyncio.to_thread(_resolved, path)
    sources = await corpus.list_sources(workspace)
    holding = [source for source in sources if _holds(source, resolved, is_folder=is_folder)]
    source = max(holding, key=lambda source: len(source.location), default=None)  # with the deepest root
    if source is None:
        root = resolved if is_folder else resolved.parent
        source = replace(_new(workspace, root, name, is_folder=is_folder), readers=readers)
        taken = next((known for known in sources if known.name == source.name), None)
        if taken is not None:
            raise InvalidState(
                f"The name {source.name!r} belongs to the source of {taken.location!r}: "
                f"choose another for {source.location!r} with --source NAME (one source has one folder)"
            )
    elif name is not None and source.name != name:
        raise InvalidState(
            f"{str(path)!r} already belongs to the source {source.name!r}: "
            "leave --source out, or remove that source first"
        )
    root = Path(source.location)
    kind = "folder" if is_folder and resolved == root else source.kind
    wanted = replace(source, kind=kind, link_template=link_template or source.link_template)
    if wanted not in sources:
        is_new = wanted.id not in {known.id for known in sources}
        note = AuditNote(workspace=workspace, actor=by, deed=Deed.SOURCE_ADDED, about=wanted.name)
        await corpus.save_source(wanted, audit=note if by and is_new else None)
    return Place(source=wanted, only="" if resolved == root else resolved.relative_to(root).as_posix())


def source_id(workspace: str, location: str) -> str:
    """Return the same id for the same folder forever, so that references to its documents stay valid."""
    return str(uuid.uuid5(NAMESPACE, f"source\x1f{workspace}\x1f{location}"))


def _resolved(path: Path) -> tuple[Path, bool]:
    try:
        resolved = path.expanduser().resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"{str(path)!r} does not exist: check the path") from None
    except (OSError, RuntimeError, ValueError) as error:  # no permission, a circle of links, a NUL in the name
        raise BadInput(f"{str(path)!r} can't be opened: {error}") from error
    try:
        str(resolved).encode()
    except UnicodeEncodeError:
        raise BadInput(f"{str(path)!r} has a name that is not valid UTF-8: rename it") from None
    return resolved, resolved.is_dir()


def _holds(source: Source, path: Path, *, is_folder: bool) -> bool:
    """Return whether a path belongs to a source; a source of kind `file` holds files of its folder only."""
    root = Path(source.location)
    if source.kind == "files":  # only the files that the configuration names
        return False
    if path == root:
        return True
    if source.kind == "file":
        return not is_folder and path.parent == root
    return path.is_relative_to(root)


def _new(workspace: str, root: Path, name: str | None, *, is_folder: bool) -> Source:
    chosen = root.name if name is None else name.strip()
    if not chosen and name is not None:
        raise BadInput("The name of a source is empty. Set it with --source")
    return Source(
        id=source_id(workspace, str(root)),
        workspace=workspace,
        name=chosen or "root",
        kind="folder" if is_folder else "file",
        location=str(root),
    )
