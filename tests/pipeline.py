"""The product's own pipeline over a test's library: the parts that a test names, and the real build function."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from bot.config import Config
from bot.config.sections import AgentConfig, ReferencesConfig
from bot.presentation.direct_threads import is_direct_thread
from bot.wiring.parts import Parts
from bot.wiring.pipeline import build_pipeline
from bot.wiring.providers import Providers
from core.answering.pipeline import Pipeline
from core.answering.run import RunObserver
from core.answering.strategies.choosing import Choose, ChosenStrategy
from core.answering.support.check import SupportCheck
from core.domain.incoming import IncomingMessage
from core.ports import ChatProvider, Clock, RetrievalStrategy
from storage.database import Database
from storage.database.stores import Stores
from tests.turn_model import TURN_MODEL
from tests.unit.core.answering.providers.extractive.small_library import NearModel
from tests.unit.core.library_builder import Shelf

AGENT = AgentConfig(max_steps=2, context="full")


def always(make: Callable[[RunObserver], RetrievalStrategy]) -> Choose:
    """A choice of one strategy for every question."""

    async def choose(message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        return ChosenStrategy(strategy=make(observer))

    return choose


class OneProvider(Providers):
    """The same provider for every workspace."""

    def __init__(self, provider: ChatProvider) -> None:
        self._provider = provider

    def of(self, workspace: str, model: str | None = None) -> ChatProvider:
        return self._provider


def build_parts_over(
    shelf: Shelf,
    *,
    clock: Clock | None = None,
    provider: ChatProvider | None = None,
    database: Database | None = None,
    agent: AgentConfig = AGENT,
    has_references: bool = True,
    **own: Any,
) -> Parts:
    """Parts over a shelf; `own` replaces further parts by name."""
    stores = Stores(database or shelf.stores.database, is_direct_thread)
    vars(stores).update(corpus=shelf.corpus, extracts=shelf.extracts, settings=own.pop("settings", shelf.settings))
    parts = Parts(
        config=Config(agent=agent, references=ReferencesConfig(enabled=has_references)),
        clock=clock or shelf.clock,
        stack=AsyncExitStack(),
        stores=stores,
        default_workspace="local",
    )
    library = {name: getattr(shelf, name) for name in ("index", "library", "access", "facts")}
    if provider is not None:
        library["providers"] = OneProvider(provider)
    models = {"support": SupportCheck(NearModel()), "turn_model": TURN_MODEL}
    vars(parts).update({**library, "attachments": None, **models, **own})
    return parts


def build_answers(shelf: Shelf, *, pipeline: dict[str, Any] | None = None, **parts: Any) -> Pipeline:
    """The pipeline over a shelf; `pipeline` holds further arguments of `build_pipeline`."""
    return build_pipeline(build_parts_over(shelf, **parts), **(pipeline or {}))
