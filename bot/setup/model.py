"""The step of the model: none, Claude, one on this machine, or any other; a key is tried with one small request."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr, ValidationError

from bot.config import Config
from bot.config.providers import DEFAULT, PRICES, PRICES_OF, ProviderConfig
from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Link, Screen
from bot.runtime.system import SystemClock
from bot.setup.draft import Draft, Model, Secret
from bot.setup.step import is_problem, ok, one, page, problem, secret_note
from bot.setup.writing import ConfigFile
from bot.wiring.providers import Providers
from core.domain.chat import Capabilities
from core.errors import FootnoteError
from core.ports import ChatProvider, CheckedProvider

OLLAMA = "http://127.0.0.1:11434"
OLLAMA_SECONDS = 2.0
CLAUDE = "claude-opus-5-5"
KEYS_PAGE = "https://console.anthropic.com/settings/keys"
LOCAL = "ollama"  # not a kind: an openai_compatible provider on this machine
# Of a first answer: the prompts as measured in docs/performance.md, the reply as an estimate.
TOKENS_READ, TOKENS_WRITTEN = 4_100, 1_000
TOKENS = f"a first answer reads about {TOKENS_READ:,} tokens and writes about {TOKENS_WRITTEN:,}"
_WHO_SEES = {  # without a model, by platform
    **dict.fromkeys(("", "local"), "Nothing leaves this machine."),
    "discord": "Only Discord sees the questions and the answers.",
    "slack": "Only Slack sees the questions and the answers.",
}
_KEY_ADVICE = {
    "anthropic": "Copy the key once more from Anthropic's page of keys, all of it, and paste it here.",
    "openai_compatible": "Copy the key once more from its service, all of it, and paste it here.",
}
CHECK_SECONDS = 30.0
CHECK_RETRIES = 1
MODEL_KEY = {  # the key of [provider] is read from the variable of its kind
    kind: Secret(name="model_api_key", key=("provider", "api_key_file"), variable=variable, read=Config.provider_key)
    for kind, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("openai_compatible", "OPENAI_API_KEY"))
}


class ModelStep:
    key, title = "model", "Model"

    def applies(self, draft: Draft) -> bool:
        return True

    def is_set_up(self, draft: Draft) -> bool:
        return draft.answers.model is not None

    async def screen(self, draft: Draft) -> Screen:
        models = await find_local_models()
        model = draft.answers.model
        is_local = model is not None and model.base_url == f"{OLLAMA}/v1"
        chosen = LOCAL if is_local and models else model.name if model else "extractive"
        return page(
            title="Who writes the answers?",
            links=(Link(label="Get a key for Claude", address=KEYS_PAGE),),
            fields=(
                Field(name="provider", label="Model", kind=FieldKind.CHOICE, choices=_choices(models), value=chosen),
                Field(
                    name="claude_model",
                    label="Claude's model",
                    kind=FieldKind.TEXT,
                    value=(model.model if model and model.name == "anthropic" else "") or CLAUDE,
                    only_if=("provider", "anthropic"),
                ),
                _key_field(draft, "anthropic", "claude_key", "Anthropic's API key (sk-ant-…)"),
                Field(
                    name="local_model",
                    label="Which one",
                    kind=FieldKind.CHOICE,
                    choices=tuple(Choice(value=name, label=name) for name in models),
                    value=model.model if model and model.model in models else next(iter(models), ""),
                    only_if=("provider", LOCAL),
                ),
                Field(
                    name="base_url",
                    label="Address, with /v1 at the end; empty for OpenAI",
                    kind=FieldKind.TEXT,
                    value=model.base_url if model and model.name == "openai_compatible" else "",
                    only_if=("provider", "openai_compatible"),
                ),
                Field(
                    name="model",
                    label="Name of the model there",
                    kind=FieldKind.TEXT,
                    value=model.model if model and model.name == "openai_compatible" else "",
                    only_if=("provider", "openai_compatible"),
                ),
                _key_field(draft, "openai_compatible", "key", "API key, if it needs one"),
            ),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        match one(answers, "provider"):
            case "extractive":
                model, typed = Model(), ""
            case "anthropic":
                model = Model(name="anthropic", model=one(answers, "claude_model") or CLAUDE)
                typed = one(answers, "claude_key")
            case "ollama":
                model = Model(name="openai_compatible", model=one(answers, "local_model"), base_url=f"{OLLAMA}/v1")
                typed = ""
            case "openai_compatible":
                model = Model(name="openai_compatible", model=one(answers, "model"), base_url=one(answers, "base_url"))
                typed = one(answers, "key")
            case _:
                return [problem(sentence="Choose who writes the answers; “No model” needs nothing.")]
        findings = await check_model(draft, model, typed)
        if not is_problem(findings):
            draft.answers.model = model
            if typed:
                draft.keep_secret(MODEL_KEY[model.name], typed)
        return findings

    def write(self, draft: Draft, file: ConfigFile) -> None:
        model = draft.answers.model
        if model is None:
            return
        file.set("provider", "name", value=model.name)
        for key, value in (("model", model.model), ("base_url", model.base_url)):
            if value:
                file.set("provider", key, value=value)
            else:
                file.remove("provider", key)
        if model.name in MODEL_KEY and (path := draft.entered_file(MODEL_KEY[model.name])):
            file.set("provider", "api_key_file", value=str(path))

    def summary(self, draft: Draft) -> Sequence[str]:
        model = draft.answers.model or Model()
        return ["Answers are quotes." if model.name == "extractive" else f"{model.model} writes the answers."]


@dataclass(frozen=True)
class _Forgetful:
    """A CapabilityMemory without memory: the service tests a model's abilities when it starts."""

    async def find(self, key: str) -> Capabilities | None:
        return None

    async def keep(self, key: str, found: Capabilities) -> None:
        pass


async def check_model(draft: Draft, model: Model, typed_key: str) -> Sequence[Finding]:
    """Try a model with its key, by the provider that answers; a typed key goes before the stored one."""
    if model.name == "extractive":
        return [ok(sentence=f"Answers are quotes. {_WHO_SEES[draft.answers.platform]}")]
    if not model.model:
        return [problem(sentence="Enter the model's name, as its service lists it.")]
    key = typed_key or draft.secret(MODEL_KEY[model.name])
    if model.name == "anthropic" and not key:
        return [problem(sentence="Paste Anthropic's API key, or choose another model.", link=KEYS_PAGE)]
    try:
        settings = ProviderConfig(
            name=model.name,
            model=model.model,
            base_url=model.base_url or None,
            timeout_seconds=CHECK_SECONDS,
            max_retries=CHECK_RETRIES,
        )
    except ValidationError:
        return [problem(sentence=f"{model.base_url!r} is no address. It must be like {OLLAMA}/v1.")]
    config = _WithKey(provider=settings, data_dir=draft.config.data_path, key=SecretStr(key) if key else None)
    async with AsyncExitStack() as stack:
        advice = _KEY_ADVICE[model.name]
        provider = Providers(config, _Forgetful(), SystemClock(), stack, _no_model, advice=advice).of(config.workspace)
        try:
            if isinstance(provider, CheckedProvider):
                await provider.check()
        except FootnoteError as error:
            return [problem(sentence=str(error))]
    return [ok(sentence=f"{model.model} answers."), ok(sentence=describe_price(model))]


def describe_price(model: Model) -> str:
    """Return a model's price, and that of an answer, in a sentence."""
    if urlsplit(model.base_url).hostname in ("127.0.0.1", "localhost", "::1"):
        return "It runs on this machine, so an answer costs nothing."
    if model.base_url or model.model not in PRICES:
        return f"The price of {model.model} isn't known here. Look it up at its service: {TOKENS}."
    read, written = PRICES[model.model].input, PRICES[model.model].output
    cents = 100 * (read * TOKENS_READ + written * TOKENS_WRITTEN) / 1_000_000
    amount = f"about {cents:.0f} {'cent' if round(cents) == 1 else 'cents'}" if cents >= 1 else "less than 1 cent"
    return (
        f"It costs ${read:g} for a million tokens read, and ${written:g} written ({PRICES_OF}): {amount} for a first "
        "answer. Follow-ups cost more."
    )


class _WithKey(Config):
    """A configuration whose key isn't in a file yet."""

    key: SecretStr | None = None

    def provider_key(self, name: str = DEFAULT) -> SecretStr | None:
        return self.key


async def find_local_models() -> list[str]:
    """Return the models of an Ollama server on this machine, by name; none if it doesn't run."""
    timeout = aiohttp.ClientTimeout(total=OLLAMA_SECONDS)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{OLLAMA}/api/tags") as reply:
            listed = (await reply.json())["models"]
            return sorted(str(one["name"]) for one in listed)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, KeyError, TypeError):  # no server, or another one
        return []


def _choices(models: Sequence[str]) -> tuple[Choice, ...]:
    local = Choice(value=LOCAL, label="On this machine: Ollama", note=f"Running. Found: {', '.join(models)}")
    return (
        Choice(value="extractive", label="No model", note="Answers are quotes. Free, and nothing is sent to a model."),
        Choice(
            value="anthropic",
            label="Claude, by Anthropic",
            note="Needs a key. Questions, their conversations and the passages found are sent.",
        ),
        *([local] if models else []),
        Choice(value="openai_compatible", label="Another service", note="OpenAI, Gemini, or any compatible address."),
    )


def _key_field(draft: Draft, kind: str, name: str, label: str) -> Field:
    secret = MODEL_KEY[kind]
    is_this = draft.answers.model is not None and draft.answers.model.name == kind
    return Field(
        name=name,
        label=label,
        kind=FieldKind.SECRET,
        is_stored=is_this and bool(draft.secret(secret)),
        only_if=("provider", kind),
        note=secret_note(draft, secret),
    )


def _no_model() -> ChatProvider:
    raise AssertionError("only writing models are checked")
