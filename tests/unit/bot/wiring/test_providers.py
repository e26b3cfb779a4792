"""Providers by name: whom a workspace asks, in which order, and with which key."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_context
from bot.wiring.providers import Providers
from core.answering.providers.fallback import FallbackProvider
from core.errors import UnsupportedFeature
from core.work.steps import NO_STEPS
from storage.models.openai_compatible.provider import OpenAICompatibleProvider
from tests.fakes import ManualClock, MemoryCapabilities

LOCAL = {"kind": "openai_compatible", "model": "mill-7b", "base_url": "http://127.0.0.1:9/v1"}


def providers(**sections: Any) -> Providers:
    def unused() -> Any:
        raise AssertionError("no local model is needed")

    config = Config.model_validate(sections)
    return Providers(config, MemoryCapabilities(), ManualClock(), AsyncExitStack(), unused)


def test_a_workspace_without_settings_asks_the_default_one() -> None:
    built = providers(provider={"name": "anthropic"})
    assert built.of("local").name == "anthropic"
    assert built.of("local") is built.of("elsewhere") is built.of("local", "claude-haiku-5-5")
    assert [name for name, _ in built.each()] == ["anthropic (claude-opus-5-5)"]


def test_a_workspace_may_have_a_provider_and_a_model_of_its_own() -> None:
    built = providers(
        provider={"name": "anthropic"},
        providers={"mill": LOCAL},
        workspaces={"guild": {"provider": "mill"}, "club": {"provider": "mill", "model": "mill-70b"}, "den": {}},
    )
    assert (built.of("local").name, built.of("guild").name) == ("anthropic", "openai_compatible")
    assert built.of("den") is built.of("local")
    assert built.of("club") is not built.of("guild") is built.of("guild")
    assert [name for name, _ in built.each()] == ["anthropic (claude-opus-5-5)", "mill: openai_compatible (mill-7b)"]


def test_each_model_of_a_server_is_a_provider_up_to_a_bound() -> None:
    built = providers(provider={"name": "openai_compatible", "model": "a", "base_url": "http://127.0.0.1:9"})
    assert built.of("local", "b") is built.of("local", "b") is not built.of("local")
    many = {id(built.of("local", f"m{number}")) for number in range(100)}
    assert len(many) < 40


def test_a_model_can_be_asked_for_only_where_there_are_models() -> None:
    built = providers(providers={"mill": LOCAL}, workspaces={"guild": {"provider": "mill"}})
    with pytest.raises(UnsupportedFeature, match="--model needs a provider"):
        built.of("local", "claude-opus-5-5")
    assert isinstance(built.of("guild", "mill-70b"), OpenAICompatibleProvider)


def test_fallbacks_stand_in_their_order_and_are_tried_without_much_patience_before_them() -> None:
    built = providers(
        provider={"name": "anthropic", "fallback": ["mill", "spare"]},
        providers={"mill": LOCAL, "spare": {"kind": "anthropic", "model": "claude-haiku-5-5", "max_retries": 3}},
    )
    order = built.of("local")
    assert isinstance(order, FallbackProvider)
    assert [choice.label for choice in order.choices] == [
        "anthropic (claude-opus-5-5)",
        "mill: openai_compatible (mill-7b)",
        "spare: anthropic (claude-haiku-5-5)",
    ]
    assert [choice.provider._client.limits.max_retries for choice in order.choices] == [1, 1, 3]
    assert [name for name, _ in built.each()] == [choice.label for choice in order.choices]


@pytest.mark.parametrize(
    ("settings", "name", "key"),
    [
        ({"provider": {"name": "anthropic"}}, "default", "of anthropic"),
        ({"provider": {"name": "openai_compatible", "model": "m"}}, "default", "of openai"),
        ({"provider": {"name": "openai_compatible", "model": "m", "base_url": "http://a"}}, "default", "of openai"),
        ({"providers": {"mill": LOCAL}}, "mill", None),  # another vendor's key goes to no address of one's own
        ({"providers": {"mill": {**LOCAL, "api_key_variable": "MILL_KEY"}}}, "mill", "of the mill"),
        ({"providers": {"o": {"kind": "openai_compatible", "model": "m"}}}, "o", "of openai"),
    ],
)
def test_a_key_is_read_from_where_its_provider_says(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], name: str, key: str | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "of openai")
    monkeypatch.setenv("MILL_KEY", "of the mill")
    found = Config.model_validate(settings).provider_key(name)
    assert (found.get_secret_value() if found else None) == key


async def test_what_a_workspace_said_is_summed_up_by_its_own_model(tmp_path: Path) -> None:
    """Recaps, lines of documents and summaries of history go to nobody else's server."""
    sections = {
        "data_dir": tmp_path,
        "provider": {"name": "anthropic"},
        "providers": {"mill": LOCAL},
        "workspaces": {"guild": {"provider": "mill"}, "club": {"provider": "extractive"}},
        "agent": {"context": "summary"},
    }
    async with open_parts(Config.model_validate(sections)) as app:
        writer = build_context(app, NO_STEPS)._summariser
        for workspace in ("guild", "local"):
            provider = app.providers.of(workspace)
            assert writer(workspace, NO_STEPS)._provider is provider is app.recaps._provider(workspace)
        assert not hasattr(writer("club", NO_STEPS), "_provider")  # by rule
        assert app.recaps._provider("club").capabilities.quotes_only
        assert app.providers.of("guild", None).name == "openai_compatible"
