"""The wizard's step for the model: a key is tried by the provider that answers, and the price is told."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.presentation.setup_screens import Tone
from bot.setup.draft import Model
from bot.setup.model import describe_price
from bot.setup.wizard import Wizard
from tests.anthropic_server import AnthropicServer
from tests.anthropic_server.server import KEY as ANTHROPIC_KEY
from tests.openai_server import KEY, MODEL, OpenAIServer


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


async def told(wizard: Wizard, **answers: str) -> list[tuple[Tone, str]]:
    return [(one.tone, one.sentence) for one in await wizard.submit("model", answers)]


async def test_a_refused_key_is_not_kept_and_a_good_one_is(
    wizard: Wizard, server: OpenAIServer, config_file: Path, tmp_path: Path
) -> None:
    await wizard.submit("platform", {"platform": "local"})
    given = {"provider": "openai_compatible", "base_url": server.url, "model": MODEL}
    secret = tmp_path / "data" / "secrets" / "model_api_key"

    [(tone, sentence)] = await told(wizard, **given, key="sk-wrong")
    assert (tone, secret.exists()) == (Tone.PROBLEM, False)
    assert sentence.endswith("Copy the key once more from its service, all of it, and paste it here.")
    assert "OPENAI_API_KEY" not in sentence and "api_key_file" not in sentence
    assert await told(wizard, **given, key=KEY) == [
        (Tone.OK, f"{MODEL} answers."),
        (Tone.OK, "It runs on this machine, so an answer costs nothing."),
    ]
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    await wizard.finish()
    written = config_file.read_text(encoding="utf-8")  # noqa: ASYNC240 - a small local file
    assert f'api_key_file = "{secret}"' in written and KEY not in written


async def test_another_model_than_the_server_s_is_a_problem(wizard: Wizard, server: OpenAIServer) -> None:
    given = {"provider": "openai_compatible", "base_url": server.url, "key": KEY}
    assert await told(wizard, **given, model="") == [(Tone.PROBLEM, "Enter the model's name, as its service lists it.")]
    assert [tone for tone, _ in await told(wizard, **given, model="unknown")] == [Tone.PROBLEM]
    assert await told(wizard, provider="anthropic") == [
        (Tone.PROBLEM, "Paste Anthropic's API key, or choose another model.")
    ]


async def test_a_refused_key_of_anthropic_is_told_to_the_person_who_pasted_it(
    wizard: Wizard, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        [(tone, sentence)] = await told(wizard, provider="anthropic", claude_key="sk-ant-wrong")
        assert (tone, sentence) == (
            Tone.PROBLEM,
            "Anthropic refused the API key: invalid bearer token. Copy the key once more from Anthropic's page of "
            "keys, all of it, and paste it here.",
        )
        assert (await told(wizard, provider="anthropic", claude_key=ANTHROPIC_KEY))[0] == (
            Tone.OK,
            "claude-opus-5-5 answers.",
        )


@pytest.mark.parametrize(
    ("platform", "sentence"),
    [
        ("local", "Answers are quotes. Nothing leaves this machine."),
        ("discord", "Answers are quotes. Only Discord sees the questions and the answers."),
        ("slack", "Answers are quotes. Only Slack sees the questions and the answers."),
    ],
)
async def test_without_a_model_it_says_who_sees_the_questions(wizard: Wizard, platform: str, sentence: str) -> None:
    await wizard.submit("platform", {"platform": platform})

    assert await told(wizard, provider="extractive") == [(Tone.OK, sentence)]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            Model(name="anthropic", model="claude-opus-5-5"),
            "It costs $4 for a million tokens read, and $20 written (November 2026): about 4 cents for a first answer.",
        ),
        (
            Model(name="anthropic", model="claude-haiku-4-5"),
            "It costs $1 for a million tokens read, and $5 written (November 2026): less than 1 cent for a first",
        ),
        (
            Model(name="openai_compatible", model="gpt-5.4-nano"),
            "It costs $0.2 for a million tokens read, and $1.25 written (November 2026): less than 1 cent for a first",
        ),
        (Model(name="openai_compatible", model="gpt-x"), "The price of gpt-x isn't known here."),
        (
            Model(name="anthropic", model="claude-opus-5-5", base_url="https://gateway.example"),
            "The price of claude-opus-5-5 isn't known here.",
        ),
    ],
)
def test_the_price_is_told_where_it_is_known(model: Model, words: str) -> None:
    assert describe_price(model).startswith(words)
