"""Checks of every part that an answer needs, for `footnote doctor`."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from bot.config import Config
from bot.config.slack import APP_PAGE, SlackSettings, read_settings
from bot.service.calls import OperationContext, operation, workspaces_of
from bot.slackbot.events.manifest import missing_scopes
from bot.slackbot.events.teams import PLATFORM, check_token
from bot.slackbot.events.transport import open_address
from bot.slackbot.web_api import build_client
from bot.wiring.parts import Parts, build_parts
from core.access.availability import NO_MODEL
from core.domain.chat import Capabilities
from core.domain.readers import readers_label
from core.domain.turns import Turn, Where
from core.errors import ConfigError, FootnoteError, InvalidState
from core.features.maintenance import REINDEX, lacking
from core.features.syncing import lacks_readers, unsaid_readers
from core.features.workspaces import find_unread
from core.ports import CheckedProvider, LearningProvider
from core.text.notation import join_names

MOST_FOUND = 5  # sentences about workspaces; a bot may be in hundreds of servers


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A part's state, or its problem and the fix, in one sentence."""

    name: str
    ok: bool
    detail: str


@operation
async def check_parts(context: OperationContext, request: None) -> list[Check]:
    return await examine(context.parts)


async def examine_config(config: Config, default_workspace: str | None = None) -> list[Check]:
    """Open the parts and run all checks; `default_workspace` is that of the configuration, if `config` has another."""
    async with AsyncExitStack() as stack:
        try:
            parts = await build_parts(config, stack, default_workspace)
        except FootnoteError as error:
            return [Check(name="database", ok=False, detail=str(error))]
        return await examine(parts)


async def examine(parts: Parts) -> list[Check]:
    """Run all checks in the order an answer needs the parts."""
    works = {
        "database": _database,
        "embedding model": describe_embedder,
        "other models": run_other_models,
        "index": _index,
        "library": _library,
        "readers": _readers,
        "source readers": _source_readers,
        "scans": _scans,
        "jail": _jail,
        "provider": _provider,
        "discord": _discord,
        "slack": describe_slack,
        "sign-in": _sign_in,
    }
    return [await _check(name, work, parts) for name, work in works.items()]


async def require_filled_index(app: Parts) -> int:
    """Return how many passages the index holds. InvalidState if the documents of a shared database aren't in it.

    That happens if a process has its own index but shares the database: it would find nothing.
    """
    count = await app.index.count()
    if count == 0 and app.config.is_shared and any((await app.stores.corpus.live_revisions()).values()):
        where = "the one under [index] url" if app.config.index.url else "the data directory's own"
        raise InvalidState(
            f"The database has documents, but the search index ({where}) is empty. Set [index] url to the Qdrant "
            f"server that holds them, for every process, or build the index from the database with {REINDEX}."
        )
    return count


async def count_lacking(app: Parts) -> tuple[int, int]:
    """Return how many passages the index lacks, and how many it should hold. Takes milliseconds.

    Surplus passages, of an ingest that was interrupted or is under way, may hide missing ones.
    """
    expected = sum((await app.stores.corpus.live_revisions()).values())
    return max(expected - await app.index.count(), 0), expected


async def _check(name: str, work: Callable[[Parts], Awaitable[str]], app: Parts) -> Check:
    try:
        return Check(name=name, ok=True, detail=await work(app))
    except FootnoteError as error:
        return Check(name=name, ok=False, detail=str(error))


async def _database(app: Parts) -> str:
    kind = "PostgreSQL, for several processes: " if app.config.is_shared else ""
    return f"{kind}{app.stores.database.name} is open and up to date"


async def describe_embedder(app: Parts) -> str:
    """Embed a word and return the model's name. Raises ModelMissing."""
    await asyncio.to_thread(app.embedder.embed_query, "footnote")
    return f"{app.embedder.name} ({app.embedder.dimensions} dimensions)"


async def run_other_models(app: Parts) -> str:
    """Run each once. Raises ModelMissing."""
    await app.judge.relevance("footnote", ["footnote"])
    await app.support.model.support("footnote", "footnote")
    await app.turn_model.read(Turn(author="doctor", text="footnote", where=Where.PRIVATE, is_named=True))
    return "those that judge answers, check claims and read chat messages run"


async def _index(app: Parts) -> str:
    count = await require_filled_index(app)
    missing, expected = await count_lacking(app)
    if missing:
        raise InvalidState(lacking(missing, expected))
    if app.config.is_shared and not app.config.index.url:
        return (
            f"{count} passages, embedded: only for this process; `footnote worker` needs a Qdrant server ([index] url)"
        )
    return f"{count} passages"


async def _readers(app: Parts) -> str:
    """Return the readers of each workspace. InvalidState if documents have none, or a server or team no documents."""
    states = await workspaces_of(app).list_states()
    if found := find_unread(states):
        more = len(found) - MOST_FOUND
        raise InvalidState(
            " ".join([*found[:MOST_FOUND], *([f"And {more} more: `footnote workspaces`."] * (more > 0))])
        )
    read = [f"{state.name}: {', '.join(state.readers)}" for state in states if state.readers]
    return "; ".join(read)


async def _source_readers(app: Parts) -> str:
    """Return who may read the configured sources, and which API tokens read all.

    InvalidState for a source whose readers were never chosen. Older ones keep theirs, and are named.
    """
    unsaid = [spec for spec in app.syncs.specs if spec.readers is None]
    found = [(spec, await app.stores.corpus.find_source(spec.workspace, spec.name)) for spec in unsaid]
    if lacking := [unsaid_readers(spec) for spec, source in found if lacks_readers(spec, source)]:
        more = len(lacking) - MOST_FOUND
        raise InvalidState(" ".join([*lacking[:MOST_FOUND], *([f"And {more} more: `footnote sources`."] * (more > 0))]))
    told = [f"{spec.name!r} is for {readers_label(source.readers)}" for spec, source in found if source]
    tokens = [token.person for token in await app.stores.identity.list_tokens() if token.readers is None]
    if tokens:
        told.append(f"the API tokens of {join_names(dict.fromkeys(tokens))} read every source")
    return f"not in the configuration, as before: {'; '.join(told)}" if told else "each source says who may read it"


async def _library(app: Parts) -> str:
    documents = await app.stores.corpus.list_documents(app.workspace)
    if not documents:
        filled = [state for state in await workspaces_of(app).list_states() if state.documents]
        if not filled and (reason := await app.availability.explain(await app.access.scope(app.workspace))):
            raise InvalidState(reason)
        elsewhere = ", ".join(f"{state.documents} in {state.name!r}" for state in filled)
        return f"no documents in {app.workspace!r}; {elsewhere}"
    failed = [document for document in documents if document.failed_reason]
    return f"{len(documents) - len(failed)} documents, {len(failed)} could not be read (`footnote documents`)"


async def _scans(app: Parts) -> str:
    """Reading scans is optional, so this check never fails."""
    if not app.config.ingest.ocr:
        return "scanned PDFs are refused: [ingest] ocr is false"
    if not app.has_ocr:
        return "scanned PDFs are refused: to recognise their text, pip install 'footnote[ocr]'"
    return "the text of scanned PDF pages is recognised (OCR)"


async def _jail(app: Parts) -> str:
    """Return the protection against a subverted reader. Not every system has all of it, so this check never fails."""
    missing = await app.missing_protections()
    if not missing:
        return "files are parsed by a process without network, that can't start programs or change your files"
    return (
        f"this system does not enforce: {', '.join(missing)}; the process that parses files is limited in time and "
        "memory. Use Linux 5.13 or later to confine it, or don't add files from strangers"
    )


async def _provider(app: Parts) -> str:
    """Check every provider, fallbacks too."""
    said, failed = [], []
    for name, provider in app.providers.each():
        try:
            if isinstance(provider, CheckedProvider):
                await provider.check()
            skills = _skills(provider.capabilities) if isinstance(provider, LearningProvider) else ""
            said.append(f"{name} is ready{skills}")
        except FootnoteError as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise InvalidState(" ".join([*failed, *(f"{line}." for line in said)]))
    if app.providers.of(app.workspace).capabilities.quotes_only:
        said.append(NO_MODEL)
    return "; ".join(said)


def _skills(capabilities: Capabilities) -> str:
    """Return the abilities that were found in a model."""
    can = {"tools": capabilities.tools, "replies by a schema": capabilities.structured, "pictures": capabilities.images}
    has, lacks = ([name for name, ok in can.items() if ok is wanted] for wanted in (True, False))
    parts = [f"with {', '.join(has)}"] if has else []
    parts += [f"without {', '.join(lacks)}"] if lacks else []
    parts.append(f"a window of {capabilities.context_tokens:,} tokens")
    return f" ({'; '.join(parts)})"


async def _discord(app: Parts) -> str:
    from bot.discordbot.connection import describe

    token = app.config.discord_token()
    if token is None:
        return "off: no token in DISCORD_TOKEN or the file of [discord] token_file"
    return await describe(token.get_secret_value())


OFF = "off: no token in SLACK_BOT_TOKEN or the file of [slack] token_file, and no [slack] client_id"


async def _sign_in(app: Parts) -> str:
    if not app.config.web.oidc.issuer:
        return "off: no [web.oidc] issuer, so the web app opens by links of `footnote link`"
    from bot.web.oidc import build_oidc

    return await build_oidc(app.config, app.clock).check()


async def describe_slack(app: Parts) -> str:
    """Return the working parts in one line. ConfigError lists all problems."""
    settings = read_settings(app.config)
    if settings is None:
        return OFF
    found, problems = [], []
    for check in (_check_token, _check_teams, _check_transport):
        try:
            found += await check(app, settings)
        except FootnoteError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(" ".join(problems))
    return "; ".join(found)


async def _check_token(app: Parts, settings: SlackSettings) -> list[str]:
    if settings.token is None:
        return []
    tested = await check_token(settings.token)
    team = str(tested.get("team") or tested["team_id"])
    _require_scopes(str(tested["scopes"]), team)
    return [f"{tested.get('user') or tested['user_id']} is ready in {team} ({tested['team_id']})"]


async def _check_teams(app: Parts, settings: SlackSettings) -> list[str]:
    if not settings.has_keys:
        return []
    teams = await app.installations.list_installations(PLATFORM)
    for team in teams:
        try:
            tested = await check_token(team.token)
        except ConfigError as error:
            raise ConfigError(
                f"The token of {team.team_name} ({team.team_id}) was refused. Install the app there again."
            ) from error
        _require_scopes(str(tested["scopes"]), team.team_name)
    where = f" at {settings.client.public_url}/slack/install" if settings.client else ""
    return [f"installed by {len(teams)} {'team' if len(teams) == 1 else 'teams'}{where}"]


async def _check_transport(app: Parts, settings: SlackSettings) -> list[str]:
    if not settings.by_socket:
        return ["HTTP requests, signed"]
    await open_address(build_client(None), settings.app_token or "")
    return ["Socket Mode"]


def _require_scopes(granted: str, team: str) -> None:
    if missing := missing_scopes(granted):
        raise ConfigError(
            f"In {team} the bot lacks the scopes {', '.join(missing)}. Update the app at {APP_PAGE} (your app, App "
            "Manifest) with the output of `footnote manifest slack`, and install it there again."
        )
