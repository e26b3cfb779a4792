"""The workspace that each server and team of a chat platform reads: configured, bound by an admin, or its own."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.domain.audit import AuditNote, Deed
from core.domain.service import PlatformTeam
from core.errors import Ambiguous, BadInput, InvalidState, NotFound
from core.ports import Clock
from core.ports.service import TeamRepository
from core.text.words import collapse

LONGEST_NAME = 100  # characters of a workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTeam:
    """A server or team with the workspace that it reads."""

    team: PlatformTeam
    workspace: str
    is_configured: bool  # by the configuration file, which takes precedence

    @property
    def label(self) -> str:
        """Its name for people: “Harbour” (Discord)."""
        return f"“{self.team.name or self.team.id}” ({self.team.platform.capitalize()})"

    @property
    def has_own(self) -> bool:
        """Whether it reads its own workspace, which no other team reads unless it is bound to it."""
        return self.workspace == own_workspace(self.team.platform, self.team.id)


def own_workspace(platform: str, team_id: str) -> str:
    """Return the workspace of a server or team without a binding."""
    return f"{platform}-{team_id}"


class Bindings:
    """The bindings as they were loaded last: `load` first, and again to see other processes' changes.

    Before the first load, a team reads its own workspace, unless another one is configured.
    """

    def __init__(
        self,
        teams: TeamRepository,
        configured: Mapping[str, Mapping[str, str]],
        id_formats: Mapping[str, str],
        clock: Clock,
    ) -> None:
        """`configured` maps platform -> team id -> workspace; `id_formats` has a pattern for each platform's ids."""
        self._teams = teams
        self._configured = configured
        self._id_formats = id_formats
        self._clock = clock
        self._known: dict[tuple[str, str], PlatformTeam] = {}

    async def load(self) -> None:
        """Read the stored bindings. Raises StorageError."""
        self._known = {(team.platform, team.id): team for team in await self._teams.list_teams()}

    def workspace_of(self, platform: str, team_id: str) -> str:
        """Return the workspace that a server or team reads."""
        fixed = self._configured.get(platform, {}).get(team_id)
        known = self._known.get((platform, team_id))
        return fixed or (known.workspace if known else None) or own_workspace(platform, team_id)

    def changed_at(self, platform: str, team_id: str) -> datetime | None:
        """Return the time of the last binding or unbinding: the workspace knows no earlier message of the team."""
        known = self._known.get((platform, team_id))
        return known.changed_at if known else None

    def all(self) -> list[BoundTeam]:
        """Return all known servers and teams, with others named in the configuration, by platform and name."""
        named = {(platform, team_id) for platform, teams in self._configured.items() for team_id in teams}
        new = [PlatformTeam(platform=platform, id=team_id) for platform, team_id in named - self._known.keys()]
        found = [self._bound(team) for team in (*self._known.values(), *new)]
        return sorted(found, key=lambda one: (one.team.platform, one.team.name.casefold(), one.team.id))

    async def record_connected(self, platform: str, names: Mapping[str, str]) -> None:
        """Store the servers or teams that the bot is in, id -> name. Writes nothing if that is known already."""
        stored = {id: team for (of, id), team in self._known.items() if of == platform and team.is_connected}
        if stored.keys() != names.keys() or any(name and stored[id].name != name for id, name in names.items()):
            await self._teams.record_connected(platform, names, self._clock.now())
            await self.load()

    def abandoned(self, before: datetime) -> list[str]:
        """Return the own workspaces of teams that the bot left before then, unless another team reads them."""
        teams = self.all()
        read = {one.workspace for one in teams if one.team.is_connected or one.is_configured}
        left = [one for one in teams if one.has_own and one.team.left_at and one.team.left_at < before]
        return [one.workspace for one in left if one.workspace not in read]

    async def bind(self, platform: str, wanted: str, workspace: str, *, by: str = "") -> BoundTeam:
        """Bind a server or team, by its name or id, to a workspace, and return it.

        Raises NotFound for an unknown name, Ambiguous if several have it, InvalidState if the configuration sets it,
        and BadInput for another platform or an unusable name of a workspace.
        """
        workspace = workspace.strip()
        if not workspace or len(workspace) > LONGEST_NAME or not workspace.isprintable():
            raise BadInput(f"A workspace's name needs 1 to {LONGEST_NAME} characters, without line breaks.")
        return await self._change(platform, wanted, workspace, by)

    async def unbind(self, platform: str, wanted: str, *, by: str = "") -> BoundTeam:
        """Let a server or team read its own workspace again, and return it. Raises as `bind` does."""
        return await self._change(platform, wanted, None, by)

    async def _change(self, platform: str, wanted: str, workspace: str | None, by: str) -> BoundTeam:
        await self.load()
        found = self._find(platform, wanted)
        if found.is_configured:
            raise InvalidState(
                f"{found.label} is bound to {found.workspace!r} in the configuration. Change [{platform}] workspaces "
                "in config.toml, or remove the line and repeat the command."
            )
        if found.team.workspace != workspace:
            was, deed = found.workspace, Deed.UNBOUND if workspace is None else Deed.BOUND
            about = f"{platform} {found.team.id}"
            audit = AuditNote(workspace=workspace or was, actor=by, deed=deed, about=about) if by else None
            await self._teams.bind(platform, found.team.id, workspace, self._clock.now(), audit=audit)
            await self.load()
        return self._bound(self._known.get((platform, found.team.id), found.team))

    def _find(self, platform: str, wanted: str) -> BoundTeam:
        if platform not in self._id_formats:
            raise BadInput(f"Unknown platform {platform!r}. Use {' or '.join(self._id_formats)}.")
        here = [one for one in self.all() if one.team.platform == platform]
        by_id = [one for one in here if one.team.id == wanted]
        name = collapse(wanted).casefold()
        found = by_id or [one for one in here if collapse(one.team.name).casefold() == name]
        if len(found) > 1:
            ids = tuple(one.team.id for one in found)
            raise Ambiguous(f"{len(found)} have the name {wanted!r}. Use the ID: {', '.join(ids)}.", candidates=ids)
        if found:
            return found[0]
        if re.fullmatch(self._id_formats[platform], wanted):
            return self._bound(PlatformTeam(platform=platform, id=wanted))
        names = ", ".join(f"“{one.team.name}”" for one in here if one.team.name)
        known = f"The bot knows {names}." if names else "The bot has not been connected yet."
        raise NotFound(
            f"{platform.capitalize()} has no {wanted!r} that the bot knows. {known} Invite the bot, start `footnote "
            "serve`, and repeat the command; or use the ID."
        )

    def _bound(self, team: PlatformTeam) -> BoundTeam:
        fixed = team.id in self._configured.get(team.platform, {})
        return BoundTeam(team=team, workspace=self.workspace_of(team.platform, team.id), is_configured=fixed)
