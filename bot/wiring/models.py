"""Chat providers by name, each built at its first use."""

from collections.abc import Callable
from contextlib import AsyncExitStack

from bot.config import Config
from bot.config.providers import DEFAULT, ModelConfig, WorkspaceConfig, default_key_variable
from core.answering.providers.fallback import Choice, FallbackProvider, learned
from core.domain.answer import Capabilities
from core.errors import UnsupportedFeature
from core.ports import AnswerJudge, CapabilityMemory, ChatProvider, CheckedProvider, Clock, SentenceRanker

MOST_BUILT = 32  # cached providers: people name models, too
RETRIES_BEFORE_ANOTHER = 1  # of a provider that has a fallback


class Providers:
    """The configured providers; they close with `stack`. `ranker` and `judge` build local models on demand."""

    def __init__(
        self,
        config: Config,
        memory: CapabilityMemory,
        clock: Clock,
        stack: AsyncExitStack,
        ranker: Callable[[], SentenceRanker],
        judge: Callable[[], AnswerJudge],
    ) -> None:
        self._config = config
        self._settings = config.all_providers()
        self._memory = memory
        self._clock = clock
        self._stack = stack
        self._ranker = ranker
        self._judge = judge
        self._built: dict[tuple[str, str | None, bool], ChatProvider] = {}
        self._orders: dict[tuple[str, str | None], ChatProvider] = {}

    def of(self, workspace: str, model: str | None = None) -> ChatProvider:
        """Return a workspace's provider with its fallbacks; `model` asks for another model.

        A model of an OpenAI-compatible server gets its own provider, which detects its abilities; other vendors take
        the model from the request. Raises UnsupportedFeature if the provider has no models.
        """
        own = self._config.workspaces.get(workspace) or WorkspaceConfig()
        name = own.provider or DEFAULT
        what = self._settings[name].what
        if model and what == "extractive":
            raise UnsupportedFeature("--model needs a provider with models: set provider.name in the configuration.")
        key = (name, own.model)
        if model and what == "openai_compatible" and (len(self._orders) < MOST_BUILT or (name, model) in self._orders):
            key = (name, model)
        if key not in self._orders:
            self._orders[key] = self._in_order(*key)
        return self._orders[key]

    def each(self) -> list[tuple[str, ChatProvider]]:
        """Return all providers in use by name: the default, its fallbacks, then those of workspaces."""
        used: dict[str, None] = {}
        for name in (DEFAULT, *(own.provider or DEFAULT for own in self._config.workspaces.values())):
            used.update(dict.fromkeys((name, *self._settings[name].fallback)))
        return [(name, self._one(name, None)) for name in used]

    def describe(self, name: str) -> str:
        """Return `anthropic (claude-opus-5-5)`, with the provider's own name in front if it has one."""
        settings = self._settings[name]
        what = settings.what if settings.what == "extractive" else f"{settings.what} ({settings.model})"
        return what if name in (DEFAULT, settings.what) else f"{name}: {what}"

    def _in_order(self, name: str, model: str | None) -> ChatProvider:
        names = self._settings[name].fallback
        first = self._one(name, model, hurried=bool(names))
        if not names:
            return first
        others = [self._one(other, None, hurried=other != names[-1]) for other in names]
        pairs = zip((name, *names), (first, *others), strict=True)
        choices = [Choice(label=self.describe(each), provider=built) for each, built in pairs]
        return FallbackProvider(choices, self._clock)

    def _one(self, name: str, model: str | None, *, hurried: bool = False) -> ChatProvider:
        key = (name, model, hurried)
        if key not in self._built:
            built = self._build(name, model, hurried=hurried)
            self._stack.push_async_callback(built.close)
            self._built[key] = built
        return self._built[key]

    def _build(self, name: str, model: str | None, *, hurried: bool) -> ChatProvider:
        settings = self._settings[name]
        retries = min(settings.max_retries, RETRIES_BEFORE_ANOTHER) if hurried else settings.max_retries
        if settings.what == "extractive":
            from core.answering.providers.extractive.provider import ExtractiveProvider

            return ExtractiveProvider(ranker=self._ranker(), judge=self._judge())
        if settings.what == "anthropic":
            from storage.models.anthropic.provider import AnthropicProvider

            return AnthropicProvider(
                api_key=self._config.provider_key(name),
                model=model or settings.model,
                max_output_tokens=settings.max_output_tokens,
                timeout_seconds=settings.timeout_seconds,
                stall_seconds=settings.stall_seconds,
                max_retries=retries,
                base_url=settings.base_url,
            )
        return self._openai_compatible(name, settings, model or settings.model, retries)

    def _openai_compatible(self, name: str, settings: ModelConfig, model: str, retries: int) -> ChatProvider:
        from storage.models.openai_compatible.probing import Abilities
        from storage.models.openai_compatible.provider import Endpoint, OpenAICompatibleProvider

        variable = default_key_variable(settings, name)
        where = f"Set {variable} to a valid key" if variable else "Name its variable by api_key_variable"
        section = "[provider]" if name == DEFAULT else f"[providers.{name}]"
        return OpenAICompatibleProvider(
            endpoint=Endpoint(
                model=model,
                base_url=settings.base_url,
                api_key=self._config.provider_key(name),
                key_advice=f"{where}, or put one into the file that api_key_file under {section} names.",
            ),
            memory=self._memory,
            abilities=Abilities(
                tools=settings.tools,
                structured=settings.structured,
                images=settings.images,
                context_tokens=settings.context_tokens,
            ),
            max_output_tokens=settings.max_output_tokens,
            timeout_seconds=settings.timeout_seconds,
            stall_seconds=settings.stall_seconds,
            max_retries=retries,
        )


async def ready(provider: ChatProvider) -> ChatProvider:
    """Return the provider for one question after learning its capabilities. Raises ProviderError."""
    await learned(provider)
    return provider.begin() if isinstance(provider, FallbackProvider) else provider


async def check_provider(provider: ChatProvider) -> Capabilities:
    """Return its capabilities; check a remote one by a few small requests. Raises ProviderError with the next step."""
    if isinstance(provider, CheckedProvider):
        await provider.check()
    return provider.capabilities
