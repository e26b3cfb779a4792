"""The configured providers: each workspace's own with its fallbacks, built when first asked for.

Below them: questions of set-up of folders and sources before they are configured.
"""

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from bot.config import Config
from bot.config.providers import DEFAULT, EXTRACTIVE, ModelConfig, WorkspaceConfig, describe, key_advice
from core.answering.providers.fallback import Choice, FallbackProvider
from core.domain.sources import Reached, SourceSpec
from core.errors import BadInput, ProviderBadRequest, ProviderError, UnsupportedFeature
from core.ports import CapabilityMemory, ChatProvider, Clock, LearningProvider, ModelCatalogue
from core.work.spending import MeteredLearningProvider, MeteredProvider, Spending
from storage.models.anthropic.provider import AnthropicProvider
from storage.models.openai_compatible.probing import Abilities
from storage.models.openai_compatible.provider import Endpoint, OpenAICompatibleProvider
from storage.models.vendor import Limits

logger = logging.getLogger(__name__)

PAUSES_SECONDS = 120.0  # between the retries of a call, at most
MOST_BUILT = 32  # cached providers: people name models, too
RETRIES_BEFORE_ANOTHER = 1  # of a provider that has a fallback


class Providers:
    """The configured providers; they close with `stack`. `extractive` builds the one without a model."""

    def __init__(
        self,
        config: Config,
        memory: CapabilityMemory,
        clock: Clock,
        stack: AsyncExitStack,
        extractive: Callable[[], ChatProvider],
        spending: Spending | None = None,
        advice: str = "",
    ) -> None:
        """`spending` counts the calls; None: they aren't counted.

        `advice`: the next step for a refused key, instead of changing the configuration.
        """
        self._spending = spending
        self._config = config
        self._advice = advice
        self._settings = config.all_providers()
        self._vendors = {name: settings.what for name, settings in self._settings.items()}
        self._memory = memory
        self._clock = clock
        self._stack = stack
        self._extractive = extractive
        self._built: dict[tuple[str, str | None, bool], ChatProvider] = {}
        self._orders: dict[tuple[str, str | None], ChatProvider] = {}

    def of(self, workspace: str, model: str | None = None) -> ChatProvider:
        """Return a workspace's provider with its fallbacks; `model` asks for another model.

        A model of an OpenAI-compatible server gets its own provider, which detects its abilities; other vendors take
        the model from the request. Raises UnsupportedFeature if the provider has no models.
        """
        key = self._key(workspace, model)
        if key not in self._orders:
            self._orders[key] = self._in_order(*key)
        return self._orders[key]

    def _key(self, workspace: str, model: str | None) -> tuple[str, str | None]:
        """Return the name and the model of a workspace's first provider. Raises as `of`."""
        own = self._config.workspaces.get(workspace) or WorkspaceConfig()
        name = own.provider or DEFAULT
        vendor = self._vendors[name]
        if model and vendor == "extractive":
            raise UnsupportedFeature("--model needs a provider with models. Set provider.name in the configuration.")
        has_room = len(self._orders) < MOST_BUILT or (name, model) in self._orders
        return (name, model if model and vendor == "openai_compatible" and has_room else own.model)

    async def check_model(self, workspace: str, model: str) -> None:
        """Raise BadInput if the workspace's provider has no such model; also UnsupportedFeature, as `of`.

        If the server can't say, the question itself will fail.
        """
        name, own_model = self._key(workspace, model)
        provider = self._one(name, own_model, hurried=bool(self._settings[name].fallback))
        try:
            if isinstance(provider, ModelCatalogue):
                await provider.check_model(model)
        except ProviderBadRequest as error:
            raise BadInput(str(error)) from error
        except ProviderError as error:
            logger.info("no answer to whether model %r exists: %s", model, error)

    async def ready(self, workspace: str, model: str | None) -> ChatProvider:
        """Return a provider for one question after learning its capabilities. Raises as `of`, and ProviderError."""
        provider = self.of(workspace, model)
        if isinstance(provider, LearningProvider):
            await provider.learn()
        return provider.begin() if isinstance(provider, FallbackProvider) else provider

    @property
    def extractive(self) -> ChatProvider:
        """The provider without a model."""
        return self._one(EXTRACTIVE, None)

    def each(self) -> list[tuple[str, ChatProvider]]:
        """Return all providers in use, each with its description: the default, its fallbacks, those of workspaces."""
        used: dict[str, None] = {}
        for name in (DEFAULT, *(own.provider or DEFAULT for own in self._config.workspaces.values())):
            used.update(dict.fromkeys((name, *self._settings[name].fallback)))
        return [(describe(self._settings[name], name), self._one(name, None)) for name in used]

    def _in_order(self, name: str, model: str | None) -> ChatProvider:
        names = self._settings[name].fallback
        first = self._one(name, model, hurried=bool(names))
        if not names:
            return first
        others = [self._one(other, None, hurried=other != names[-1]) for other in names]
        choices = [
            Choice(label=describe(self._settings[each], each), provider=built)
            for each, built in zip((name, *names), (first, *others), strict=True)
        ]
        return FallbackProvider(choices, self._clock)

    def _one(self, name: str, model: str | None, *, hurried: bool = False) -> ChatProvider:
        key = (name, model, hurried)
        if key not in self._built:
            self._built[key] = built = self._build(name, model, hurried=hurried)
            self._stack.push_async_callback(built.close)
        return self._built[key]

    def _build(self, name: str, model: str | None, *, hurried: bool) -> ChatProvider:
        settings = self._settings[name]
        if self._vendors[name] == "extractive":
            return self._extractive()
        provider, seconds = self._build_vendor(name, model, settings, hurried=hurried), settings.timeout_seconds
        if self._spending is None:
            return provider
        metered = MeteredLearningProvider if isinstance(provider, LearningProvider) else MeteredProvider
        return metered(
            provider,
            self._spending,
            model=model or settings.model,
            max_output_tokens=settings.max_output_tokens,
            seconds=seconds * (settings.max_retries + 1) + PAUSES_SECONDS,
        )

    def _build_vendor(self, name: str, model: str | None, settings: ModelConfig, *, hurried: bool) -> ChatProvider:
        retries = min(settings.max_retries, RETRIES_BEFORE_ANOTHER) if hurried else settings.max_retries
        limits = Limits(
            max_output_tokens=settings.max_output_tokens,
            timeout_seconds=settings.timeout_seconds,
            stall_seconds=settings.stall_seconds,
            max_retries=retries,
        )
        key, model = self._config.provider_key(name), model or settings.model
        advice = self._advice or key_advice(settings, name)
        if self._vendors[name] == "anthropic":
            return AnthropicProvider(
                api_key=key, model=model, limits=limits, base_url=settings.base_url, key_advice=advice
            )
        endpoint = Endpoint(model=model, base_url=settings.base_url, api_key=key, key_advice=advice)
        tools, structured, images = settings.tools, settings.structured, settings.images
        abilities = Abilities(tools=tools, structured=structured, images=images, context_tokens=settings.context_tokens)
        return OpenAICompatibleProvider(endpoint=endpoint, memory=self._memory, abilities=abilities, limits=limits)


def count_readable(folder: Path) -> dict[str, tuple[int, int]]:
    """Count the files that readers have a suffix for: kind -> (files, bytes). Blocks. Raises NotFound, StorageError."""
    from storage.documents.pipeline import count_readable

    return count_readable(folder)


async def reach_source(spec: SourceSpec, token: str | None) -> Reached:
    from storage.sources.building import reach_source

    return await reach_source(spec, token)
