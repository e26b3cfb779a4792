"""Operations that remove a person or a workspace for good."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.config.sections import TEAM_IDS
from bot.service.calls import OperationContext, operation, workspaces_of
from core.domain.identity import PersonOnPlatform
from core.features.erasure import Erasure, PersonRemoval, WorkspaceRemoval, check_known
from core.features.workspaces import WorkspaceState
from core.work.conversations import RETENTION

if TYPE_CHECKING:
    from bot.wiring.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedWorkspace:
    removal: WorkspaceRemoval
    is_configured: bool  # the configuration still names it


@operation
async def remove_person(context: OperationContext, request: PersonOnPlatform) -> PersonRemoval:
    return await build_erasure(context.parts).remove_person(request, by=context.reader)


@operation
async def find_workspace(context: OperationContext, request: str) -> WorkspaceState:
    """Return its state. NotFound for an unknown one."""
    states = {state.name: state for state in await workspaces_of(context.parts).list_states()}
    check_known(request, states)
    return states[request]


@operation
async def remove_workspace(context: OperationContext, request: str) -> RemovedWorkspace:
    """Remove it with all that is in it. NotFound for an unknown one."""
    check_known(request, {state.name for state in await workspaces_of(context.parts).list_states()})
    removal = await build_erasure(context.parts).remove_workspace(request, by=context.reader)
    await context.parts.bindings.load()
    return RemovedWorkspace(removal=removal, is_configured=request in _configured(context.parts))


async def remove_abandoned(app: "Parts") -> list[WorkspaceRemoval]:
    """Remove the workspaces of servers and teams that removed Footnote as long ago as `forget_removed_days` says."""
    days = app.config.service.forget_removed_days
    if days is None:
        return []
    await app.bindings.load()
    gone = app.bindings.abandoned(app.clock.now() - timedelta(days=days))
    kept = {app.workspace, *_configured(app)}
    return [await build_erasure(app).remove_workspace(name, by=RETENTION) for name in gone if name not in kept]


def _configured(app: "Parts") -> set[str]:
    """Return the workspaces that the configuration names."""
    bound = {name for teams in app.config.team_workspaces.values() for name in teams.values()}
    return {*app.config.workspaces, *bound, *(spec.workspace for spec in app.config.source_specs())}


def build_erasure(app: "Parts") -> Erasure:
    known = (app.stores.erasure, app.inbox_store, app.stores.corpus, app.library, app.kept, app.live)
    files = (app.attachments.forget, app.uploads.delete_folder)
    return Erasure(*known, *files, posted=frozenset(TEAM_IDS), clock=app.clock)
