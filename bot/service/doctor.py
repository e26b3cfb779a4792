"""`footnote doctor`: tries every part that an answer needs; what fails says what to do next."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from bot.config import Config
from bot.wiring.parts import Parts, build_parts
from core.domain.answer import Capabilities
from core.errors import FootnoteError, InvalidState
from core.features.maintenance import REINDEX, lacking
from core.ports import LearningProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One part, whether it works, and in one sentence how, or what to do."""

    name: str
    ok: bool
    detail: str


async def examine_config(config: Config) -> list[Check]:
    """Open the parts and run all checks."""
    async with AsyncExitStack() as stack:
        try:
            parts = await build_parts(config, stack)
        except FootnoteError as error:
            return [Check(name="database", ok=False, detail=str(error))]
        return await examine(parts)


async def examine(parts: Parts) -> list[Check]:
    """Run all checks in the order an answer needs the parts."""
    works = {
        "database": _database,
        "embedding model": _embedding,
        "index": _index,
        "library": _library,
        "scans": _scans,
        "provider": _provider,
        "discord": _discord,
        "slack": _slack,
    }
    return [await _check(name, work, parts) for name, work in works.items()]


async def require_filled_index(app: Parts) -> int:
    """How many passages the index holds. Raises InvalidState when documents of a shared database are not in it.

    That is how a process looks whose index is its own while the database is not: it would find nothing, and say so.
    """
    count = await app.index.count()
    if count == 0 and app.is_shared and any((await app.corpus.live_revisions()).values()):
        where = "the one under [index] url" if app.config.index.url else "the data directory's own"
        raise InvalidState(
            f"The database has documents, but the search index ({where}) is empty: set [index] url to the Qdrant "
            f"server that holds them, for every process, or build the index from the database with {REINDEX}."
        )
    return count


async def count_lacking(app: Parts) -> tuple[int, int]:
    """How many passages the index lacks, and how many it should hold; a look that costs milliseconds.

    Passages that it holds too much, of an ingest that was interrupted or is under way, may hide some.
    """
    expected = sum((await app.corpus.live_revisions()).values())
    return max(expected - await app.index.count(), 0), expected


async def _check(name: str, work: Callable[[Parts], Awaitable[str]], app: Parts) -> Check:
    try:
        return Check(name=name, ok=True, detail=await work(app))
    except FootnoteError as error:
        return Check(name=name, ok=False, detail=str(error))


async def _database(app: Parts) -> str:
    kind = "PostgreSQL, for several processes: " if app.is_shared else ""
    return f"{kind}{app.database.name} is open and up to date"


async def _embedding(app: Parts) -> str:
    return await app.describe_embedder()


async def _index(app: Parts) -> str:
    count = await require_filled_index(app)
    missing, expected = await count_lacking(app)
    if missing:
        raise InvalidState(lacking(missing, expected))
    if app.is_shared and not app.config.index.url:
        return (
            f"{count} passages, embedded: for this process alone; `footnote worker` needs a Qdrant server ([index] url)"
        )
    return f"{count} passages"


async def _library(app: Parts) -> str:
    documents = await app.corpus.list_documents(app.workspace)
    if not documents:
        return "empty: add documents with `footnote ingest PATH`"
    failed = [document for document in documents if document.failed_reason]
    return f"{len(documents) - len(failed)} documents, {len(failed)} could not be read (`footnote documents`)"


async def _scans(app: Parts) -> str:
    """Reading scans is nobody's duty: what is off is told, not failed."""
    from bot.wiring.parts import can_recognise

    if not app.config.ingest.ocr:
        return "scanned PDFs are refused: [ingest] ocr is false"
    if not can_recognise():
        return "scanned PDFs are refused: to have their text recognised, pip install 'footnote[ocr]'"
    return "the text of scanned PDF pages is recognised (OCR)"


async def _provider(app: Parts) -> str:
    """Every provider that may be asked: a fallback that does not work is better found now than when it is needed."""
    from bot.wiring.models import check_provider

    said, failed = [], []
    for name, provider in app.providers.each():
        try:
            capabilities = await check_provider(provider)
            skills = _skills(capabilities) if isinstance(provider, LearningProvider) else ""
            said.append(f"{app.providers.describe(name)} is ready{skills}")
        except FootnoteError as error:
            failed.append(f"{app.providers.describe(name)}: {error}")
    if failed:
        raise InvalidState(" ".join([*failed, *(f"{line}." for line in said)]))
    return "; ".join(said)


def _skills(capabilities: Capabilities) -> str:
    """What a model was found to do."""
    can = {
        "tools": capabilities.tools,
        "replies by a schema": capabilities.structured,
        "pictures": capabilities.images,
    }
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


async def _slack(app: Parts) -> str:
    from bot.service.doctor_slack import describe_slack

    return await describe_slack(app)
