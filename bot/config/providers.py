"""Sections about models: the providers, and the workspaces that use them."""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from bot.config.sections import Count, Seconds, Section
from core.domain.spending import Price

Dollars = Annotated[float, Field(ge=0)]
Kind = Literal["extractive", "anthropic", "openai_compatible"]

DEFAULT = "default"  # the name of [provider] among fallbacks
EXTRACTIVE = "extractive"  # always available
# Default variables of API keys; a custom address never gets another vendor's key.
KEY_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai_compatible": "OPENAI_API_KEY"}


def _names(value: object) -> object:
    """Split a list from the environment at commas."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _different(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("it names a provider twice")
    return names


class ModelConfig(Section):
    """Keys of all providers. The API key comes from the environment or a secret file."""

    model: str = "claude-opus-5-5"
    max_output_tokens: Count = 4096
    timeout_seconds: Seconds = 120
    stall_seconds: Seconds = 30
    max_retries: Annotated[int, Field(ge=0, le=10)] = 4
    base_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    api_key_file: Path | None = None
    api_key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    tools: bool | None = None
    structured: bool | None = None
    images: bool | None = None
    context_tokens: Count | None = None
    fallback: Annotated[tuple[str, ...], BeforeValidator(_names), AfterValidator(_different)] = ()

    @property
    @abstractmethod
    def what(self) -> Kind:
        """The kind of provider."""

    @model_validator(mode="after")
    def _names_a_model(self) -> "ModelConfig":
        if self.what == "openai_compatible" and "model" not in self.model_fields_set:
            raise ValueError('an openai_compatible provider needs a model; add model = "..." with its name there')
        return self


class ProviderConfig(ModelConfig):
    """The model that answers."""

    name: Kind = "extractive"

    @property
    def what(self) -> Kind:
        return self.name


class NamedProviderConfig(ModelConfig):
    """A further provider, for fallbacks and for workspaces."""

    kind: Kind

    @property
    def what(self) -> Kind:
        return self.kind


class WorkspaceConfig(Section):
    """Settings of one workspace. None: the default."""

    provider: str | None = None
    model: Annotated[str, Field(min_length=1)] | None = None
    keep_days: Annotated[float, Field(gt=0)] | None = None


class PriceConfig(Section):
    """Dollars for a million tokens. None: as input."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None

    def to_price(self) -> Price:
        read, write = (self.input if given is None else given for given in (self.cache_read, self.cache_write))
        return Price(input=self.input, output=self.output, cache_read=read, cache_write=write)


# As platform.claude.com/docs and developers.openai.com/api/docs list them: for tokens read, written, and read from the
# cache. OpenAI's hold for prompts up to 272,000 tokens, which `context_tokens` allows only if it is set so high. Claude
# Haiku 5.5 is left out: its prices change at 100,000.
PRICES_OF = "November 2026"
_CLAUDE = (
    ("claude-fable-5-1", 10.0, 50.0, 0.25),
    ("claude-fable-5", 10.0, 50.0, 1.0),
    ("claude-opus-5-5", 4.0, 20.0, 0.2),
    *((f"claude-opus-{version}", 5.0, 25.0, 0.5) for version in ("5", "4-8", "4-7", "4-6", "4-5")),
    ("claude-sonnet-5-5", 2.0, 10.0, 0.1),
    ("claude-sonnet-5", 2.0, 10.0, 0.2),
    *((f"claude-sonnet-{version}", 3.0, 15.0, 0.3) for version in ("4-6", "4-5")),
    ("claude-haiku-4-5", 1.0, 5.0, 0.1),
)
_OPENAI = (
    ("gpt-5.5", 5.0, 30.0, 0.5),
    ("gpt-5.4", 2.5, 15.0, 0.25),
    ("gpt-5.4-mini", 0.75, 4.5, 0.075),
    ("gpt-5.4-nano", 0.2, 1.25, 0.02),
    ("gpt-5-mini", 0.25, 2.0, 0.025),
)
PRICES = {
    name: PriceConfig(input=read, output=written, cache_read=cached, cache_write=read * write_share)
    for models, write_share in ((_CLAUDE, 1.25), (_OPENAI, 1.0))
    for name, read, written, cached in models
}


def default_key_variable(settings: ModelConfig, name: str) -> str | None:
    """Return the default variable of a provider's key, or None."""
    elsewhere = settings.what == "openai_compatible" and settings.base_url is not None
    if settings.api_key_variable or (elsewhere and name != DEFAULT):
        return settings.api_key_variable
    return KEY_VARIABLES.get(settings.what)


def key_advice(settings: ModelConfig, name: str) -> str:
    variable = default_key_variable(settings, name)
    where = f"Set {variable} to a valid key" if variable else "Name its variable by api_key_variable"
    section = "[provider]" if name == DEFAULT else f"[providers.{name}]"
    return f"{where}, or put one into the file that api_key_file under {section} names."


def describe(settings: ModelConfig, name: str) -> str:
    """Return `anthropic (claude-opus-5-5)`, with the provider's own name in front if it has one."""
    what = settings.what if settings.what == "extractive" else f"{settings.what} ({settings.model})"
    return what if name in (DEFAULT, settings.what) else f"{name}: {what}"


def unknown_names(providers: dict[str, ModelConfig], workspaces: dict[str, WorkspaceConfig]) -> list[str]:
    """Return the problems with names of providers and workspaces, one phrase each."""
    problems = []
    for name, settings in providers.items():
        where = "provider.fallback" if name == DEFAULT else f"providers.{name}.fallback"
        problems += [f"{where} names {other!r}" for other in settings.fallback if other not in providers]
        if name in settings.fallback:
            problems.append(f"{where} names itself")
    for name, workspace in workspaces.items():
        if workspace.provider is not None and workspace.provider not in providers:
            problems.append(f"workspaces.{name}.provider names {workspace.provider!r}")
    return problems
