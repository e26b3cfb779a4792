"""Workspaces and their readers: the documents of each, the places that read it, and findings for the doctor."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.access.availability import ingest_command
from core.access.bindings import Bindings, BoundTeam
from core.access.scopes import ATTACHMENTS
from core.ports import CorpusRepository
from core.text.notation import join_with_and

BIND = "footnote workspaces bind"
LOCAL_READERS = ("the terminal", "the web app")  # of the default workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceState:
    """A workspace with its documents and its readers."""

    name: str
    documents: int
    is_default: bool  # terminal, web app and API read it
    teams: tuple[BoundTeam, ...] = ()  # that read it, connected or not

    @property
    def readers(self) -> list[str]:
        """The places that read it now, for people."""
        connected = [one.label for one in self.teams if one.team.is_connected]
        return [*(LOCAL_READERS if self.is_default else ()), *connected]

    def to_json(self) -> dict[str, object]:
        """As `footnote workspaces --json` shows it."""
        return {
            "workspace": self.name,
            "documents": self.documents,
            "default": self.is_default,
            "readers": [
                {
                    "platform": one.team.platform,
                    "id": one.team.id,
                    "name": one.team.name,
                    "connected": one.team.is_connected,
                    "configured": one.is_configured,
                }
                for one in self.teams
            ],
        }


class Workspaces:
    """Lists workspaces from the configuration, the library and the bindings."""

    def __init__(self, corpus: CorpusRepository, bindings: Bindings, default: str, configured: Iterable[str]) -> None:
        """`default` is the workspace of terminal and web app; `configured` names others in the configuration."""
        self._corpus = corpus
        self._bindings = bindings
        self._default = default
        self._configured = frozenset(configured)

    async def list_states(self) -> list[WorkspaceState]:
        """Return the states by name, the default workspace first. Raises StorageError."""
        await self._bindings.load()
        teams = self._bindings.all()
        documents = await self._corpus.count_documents(except_kind=ATTACHMENTS)
        names = {self._default, *self._configured, *documents, *(one.workspace for one in teams)}
        return [
            WorkspaceState(
                name=name,
                documents=documents.get(name, 0),
                is_default=name == self._default,
                teams=tuple(one for one in teams if one.workspace == name),
            )
            for name in sorted(names, key=lambda name: (name != self._default, name))
        ]


def bind_command(one: BoundTeam | None, workspace: str | None) -> str:
    """Return the command that lets a server or team read a workspace, with placeholders for None."""
    team = f"{one.team.platform} {shlex.quote(one.team.name or one.team.id)}" if one else "PLATFORM NAME"
    return f"{BIND} {team} {shlex.quote(workspace) if workspace else 'WORKSPACE'}"


def empty_teams(states: Sequence[WorkspaceState]) -> list[BoundTeam]:
    """Return the connected servers and teams whose workspace has no documents."""
    return [one for state in states if not state.documents for one in state.teams if one.team.is_connected]


def describe_readers(states: Sequence[WorkspaceState], workspace: str) -> str:
    """Return who reads a workspace, and how a server or team without documents gets to read it."""
    state = next((one for one in states if one.name == workspace), None)
    readers = state.readers if state else []
    read_by = f"Read by: {join_with_and(readers)}." if readers else "Nobody reads it yet."
    if state and any(one.team.is_connected for one in state.teams):
        return read_by
    candidates = [one for one in empty_teams(states) if not one.is_configured]
    if not readers:
        return f"{read_by} Let a server or team read it: `{bind_command(_only(candidates), workspace)}`."
    if not candidates:
        return read_by
    return f"{read_by} No server or team reads it yet: `{bind_command(_only(candidates), workspace)}`."


def find_unread(states: Sequence[WorkspaceState]) -> list[str]:
    """Return a sentence with the exact command for each unread workspace, and each server or team without documents.

    A library without any documents has none.
    """
    filled = [state for state in states if state.documents]
    empty = empty_teams(states)
    free = [one for one in empty if not one.is_configured]
    default = next((state.name for state in states if state.is_default), None)
    found = []
    for state in filled:
        if not state.readers:
            found.append(
                f"Nobody can read the {_count(state.documents)} in {state.name!r}. Let a server or team read them: "
                f"`{bind_command(_only(free), state.name)}`."
            )
    for one in empty if filled else ():
        fill = f"Add some: `{ingest_command(one.workspace, default)}`."
        if one.is_configured:
            found.append(f"{one.label} reads {one.workspace!r}, which has no documents (set in config.toml). {fill}")
            continue
        other = filled[0].name if len(filled) == 1 else None
        found.append(
            f"{one.label} has no documents to read. {fill} Or let it read another workspace: "
            f"`{bind_command(one, other)}`."
        )
    return found


def _only(teams: Sequence[BoundTeam]) -> BoundTeam | None:
    """Return the only one: with several, the admin chooses."""
    return teams[0] if len(teams) == 1 else None


def _count(documents: int) -> str:
    return "1 document" if documents == 1 else f"{documents} documents"
