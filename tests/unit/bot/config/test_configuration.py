"""The configuration: every key documented, unknown ones refused by name, all problems in one message."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.config import SECRETS, Config, load_config
from bot.config.providers import PriceConfig, WorkspaceConfig
from bot.config.sections import IngestConfig
from bot.config.sources import _SourceConfig, _WebSource, to_schedule
from core.domain.read_limits import MEBIBYTE
from core.domain.sources import Cron, Every
from core.domain.spending import Price
from core.errors import ConfigError

EXAMPLE = Path(__file__).parents[4] / "bot/config/config.example.toml"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FOOTNOTE_DATA_DIR", "XDG_DATA_HOME", "ANTHROPIC_API_KEY", "QDRANT_API_KEY", *SECRETS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def keys_of(model: type[BaseModel], prefix: str = "") -> set[str]:
    found = set()
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= keys_of(inner, f"{prefix}{name}.")
        else:
            found.add(prefix + name)
    return found


def keys_in(values: dict[str, object], known: set[str], prefix: str = "") -> set[str]:
    """The names of a file's keys; of a table whose names people choose, its own."""
    found = set()
    for name, value in values.items():
        is_section = isinstance(value, dict) and prefix + name not in known
        found |= keys_in(value, known, f"{prefix}{name}.") if is_section else {prefix + name}
    return found


def with_comments_taken_out(text: str) -> str:
    """The example with its commented-out keys switched on."""
    return re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)


def test_the_example_loads_and_equals_the_defaults() -> None:
    assert load_config(EXAMPLE) == Config()


def test_the_example_names_every_key_and_no_other(tmp_path: Path) -> None:
    full = tmp_path / "full.toml"
    full.write_text(with_comments_taken_out(EXAMPLE.read_text(encoding="utf-8")), encoding="utf-8")
    values = tomllib.loads(full.read_text(encoding="utf-8"))

    known = keys_of(Config)
    assert keys_in(values, known) == known - {"sources", "providers", "workspaces", "prices"}  # in tests of their own
    assert load_config(full).index.url == "http://qdrant.internal:6333"


def test_the_example_begins_with_ten_keys_that_load_and_are_described_below(tmp_path: Path) -> None:
    start, _, rest = EXAMPLE.read_text(encoding="utf-8").partition("# ======== Every key")
    file = tmp_path / "config.toml"
    file.write_text("\n".join(line.removeprefix("#   ") for line in start.splitlines() if line.startswith("#   ")))
    keys = re.findall(r"^#   (\w+) = ", start, flags=re.MULTILINE)

    assert len(keys) == 10
    assert [key for key in keys if f"\n{key} = " not in rest and f"\n# {key} = " not in rest] == []
    assert load_config(file).provider.model == "qwen3:32b"


def test_the_example_shows_a_further_provider_and_a_workspace_that_asks_it(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").partition("# [providers.NAME]")[2].partition("\n[agent]")[0]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")))
    config = load_config(file)
    assert [config.providers[own.provider or ""].what for own in config.workspaces.values()] == ["openai_compatible"]
    assert set(WorkspaceConfig.model_fields) == config.workspaces.popitem()[1].model_fields_set


def test_the_example_shows_a_price(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").partition("# [prices.MODEL]")[2].partition("\n[")[0]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")))
    [price] = load_config(file).prices.values()
    assert price.model_fields_set == set(PriceConfig.model_fields)
    assert price.to_price() == Price(input=0.2, output=0.6, cache_read=0.02, cache_write=0.25)


def test_a_budget_in_dollars_needs_the_price_of_each_model_in_use(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    base = """
        provider = {name = "openai_compatible", model = "mill", base_url = "http://127.0.0.1:9", fallback = ["claude"]}
        providers = {claude = {kind = "anthropic"}, unused = {kind = "openai_compatible", model = "other"}}
        limits = {channel = {dollars_per_day = 2.5}}
    """
    file.write_text(base)
    with pytest.raises(
        ConfigError, match=r'needs the price of each model; add \[prices\."mill"\] with input and output'
    ):
        load_config(file)
    file.write_text(f"{base}\nprices = {{mill = {{input = 0, output = 0}}}}")
    assert load_config(file).prices["mill"].to_price().most(10, 10) == 0
    file.write_text(base.replace("dollars_per_day = 2.5", "tokens_per_day = 9"))
    load_config(file)


def example_sources() -> str:
    """The example's sources, switched on."""
    lines = EXAMPLE.read_text(encoding="utf-8").partition("# [[sources]]: a source")[2].splitlines()
    return "\n".join(line.removeprefix("#   ") for line in lines if line.startswith("#   "))


def test_the_example_shows_a_source_of_each_kind_with_every_key(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(example_sources(), encoding="utf-8")
    config = load_config(file)
    written = tomllib.loads(example_sources())["sources"]
    common, web = set(_SourceConfig.model_fields), set(_WebSource.model_fields)
    token = {"token_file", "token_variable"}

    assert [source.kind for source in config.sources] == [
        "folder", "files", "git", "url_list", "sitemap", "github", "confluence", "foundry_world",
    ]  # fmt: skip
    assert common <= set(written[0]) and web <= set(written[3]) | common and token <= set(written[2])
    for plain, source in zip(written, config.sources, strict=True):
        assert set(type(source).model_fields) - set(plain) <= common | web | token
    assert [spec.kind for spec in config.source_specs()] == [source.kind for source in config.sources]


def test_problems_of_all_sources_are_told_at_once_by_their_names_and_without_passwords(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        """
        [[sources]]
        name = "wiki"
        kind = "git"
        url = "https://ann:hunter2@git.example.org/wiki.git"
        schedule = "often"
        [[sources]]
        name = "notes"
        kind = "folder"
        include = ["/etc/*"]
        colour = "red"
        [[sources]]
        name = "x"
        kind = "oracle"
        [[sources]]
        kind = "url_list"
        """
    )
    with pytest.raises(ConfigError) as caught:
        load_config(file)

    said = str(caught.value)
    for part in (
        "sources[wiki].url: it must not contain a user name or a password",
        "sources[wiki].schedule: it must be like 'every 6h'",
        "sources[notes].path: field required",
        "sources[notes].colour: unknown key",
        "sources[notes].include.0: '/etc/*' is no glob",
        "sources[x]: ",
        "sources[3].name: field required",
    ):
        assert part in said
    assert "hunter2" not in said


def test_two_sources_of_a_workspace_cannot_share_a_name() -> None:
    one = {"name": "notes", "kind": "folder", "path": "/a"}
    with pytest.raises(ConfigError, match=r"two .* have the name 'notes'"):
        load_config(None, sources=[one, {**one, "path": "/b"}])
    assert len(load_config(None, sources=[one, {**one, "workspace": "other"}]).sources) == 2


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every 6h", Every(seconds=21_600)),
        ("every 30 seconds", Every(seconds=30)),
        ("every 2 days", Every(seconds=172_800)),
        ("30 4 * * 1-5", Cron(line="30 4 * * 1-5")),
    ],
)
def test_a_schedule_is_a_distance_or_a_crontab_line(text: str, schedule: Every | Cron) -> None:
    assert to_schedule(text) == schedule


@pytest.mark.parametrize("text", ["", "often", "every", "every 5s", "every -1h", "99 * * * *", "* * *"])
def test_other_schedules_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it must be"):
        to_schedule(text)


@pytest.mark.parametrize("url", ["ext::sh -c x", "--upload-pack=x", "https://t0ken@git.example.org/a.git", "data:x::y"])
def test_addresses_with_which_git_would_run_or_tell_something_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"sources\[a\]\.url"):
        load_config(None, sources=[{"name": "a", "kind": "git", "url": url}])


def test_a_token_of_a_source_comes_from_its_file_or_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("from-file\n")
    monkeypatch.setenv("GITHUB_TOKEN", "of-the-kind")
    monkeypatch.setenv("OWN_TOKEN", "of-its-own")
    repository = {"kind": "github", "repository": "example/project"}
    config = load_config(
        None,
        sources=[
            {**repository, "name": "a"},
            {**repository, "name": "b", "token_variable": "OWN_TOKEN"},
            {**repository, "name": "c", "token_file": tmp_path / "token"},
            {"kind": "git", "name": "d", "url": "https://git.example.org/a.git"},
        ],
    )
    found = [config.source_token("local", name) for name in "abcde"]

    assert [token.get_secret_value() if token else None for token in found] == [
        "of-the-kind", "of-its-own", "from-file", None, None,
    ]  # fmt: skip


def test_unknown_keys_and_bad_values_are_all_named_in_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('colour = "red"\n[agent]\nmax_steps = 0\n[provider]\nname = "oracle"\n')
    monkeypatch.setenv("FOOTNOTE_INDEX__PORT", "1")
    with pytest.raises(ConfigError) as caught:
        load_config(file)

    for part in (
        "colour: unknown key",
        "agent.max_steps",
        "provider.name",
        "index.port",
        "footnote config example",
    ):
        assert part in str(caught.value)


def test_a_secret_that_stands_where_the_client_id_belongs_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('[slack]\nclient_id = "xoxb-secret"\nworkspaces = { acme = "local" }\n')
    with pytest.raises(ConfigError) as caught:
        load_config(file)

    assert "slack.client_id" in str(caught.value)
    assert "slack.workspaces.acme" in str(caught.value)
    assert "xoxb" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "part"), [("a = [", "isn't valid TOML"), (None, "Can't read"), ("\udcff", "isn't valid TOML")]
)
def test_a_file_that_cannot_be_used_is_one_clear_sentence(tmp_path: Path, text: str | None, part: str) -> None:
    file = tmp_path / "c.toml"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=part):
        load_config(file)


def test_the_environment_goes_before_the_file_and_the_command_line_before_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('workspace = "file"\ndata_dir = "/file"\n[agent]\nmax_steps = 2\n')
    monkeypatch.setenv("FOOTNOTE_WORKSPACE", "environment")
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", "/environment")
    monkeypatch.setenv("FOOTNOTE_AGENT__MAX_STEPS", "3")
    config = load_config(None, data_dir=Path("/line"), workspace=None)

    assert (config.workspace, config.data_dir, config.agent.max_steps) == ("environment", Path("/line"), 3)


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", "")
    monkeypatch.setenv("FOOTNOTE_AGENT__MAX_STEPS", "")
    config = load_config()

    assert (config.data_dir, config.agent.max_steps) == (None, Config().agent.max_steps)


def test_variables_of_the_tests_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_TEST_POSTGRES_URL", "x")

    assert load_config() == Config()


def test_data_lives_in_the_users_data_folder_unless_said_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert load_config().data_path == tmp_path / "footnote"
    assert load_config(None, data_dir=Path("here")).data_path == tmp_path / "here"


def test_a_key_comes_from_its_file_or_the_environment_and_never_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "key"
    secret.write_text("from-file\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-environment")
    name = {"name": "anthropic"}
    plain, filed = load_config(None, provider=name), load_config(None, provider={**name, "api_key_file": secret})
    from_environment, from_file = plain.provider_key(), filed.provider_key()

    assert from_environment is not None and from_environment.get_secret_value() == "from-environment"
    assert from_file is not None and from_file.get_secret_value() == "from-file"
    assert "from-file" not in repr(from_file)
    assert plain.index_key() is None


def test_the_key_of_the_web_is_a_secret_and_no_key_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_config().web_key() is None
    monkeypatch.setenv("FOOTNOTE_WEB_KEY", "from-environment")
    key = load_config().web_key()

    assert key is not None and key.get_secret_value() == "from-environment"


def test_the_database_is_a_file_unless_a_url_says_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = "postgresql://footnote@db.internal/footnote"
    secret = tmp_path / "url"
    secret.write_text("postgresql://a:from-file@db/x\n")
    assert load_config().database_url() is None
    found = [load_config(None, database={"url": plain}).database_url()]
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql://a:from-environment@db/x")
    found.append(load_config(None, database={"url": plain}).database_url())
    found.append(load_config(None, database={"url_file": secret}).database_url())

    values = [item.get_secret_value() for item in found if item]
    assert values == [plain, "postgresql://a:from-environment@db/x", "postgresql://a:from-file@db/x"]
    assert "from-" not in repr(found)


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("postgresql://a:hunter2@db/x", "FOOTNOTE_DATABASE_URL"),
        ("postgresql://a@db/x?password=hunter2", "FOOTNOTE_DATABASE_URL"),
        ("mysql://a:hunter2@db/x", "postgresql://"),
    ],
)
def test_a_password_in_the_file_is_refused_and_not_repeated(url: str, part: str) -> None:
    with pytest.raises(ConfigError, match=rf"database\.url: .*{part}") as caught:
        load_config(None, database={"url": url})

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "footnote.example.org",
        "ftp://a.example",
        "https://",
        "https://a.example/wiki",
        "https://a.example?x=1",
        "https://ada@a.example",
    ],
)
def test_the_public_address_must_be_one(address: str) -> None:
    with pytest.raises(ConfigError, match=r"web\.public_url.*without a path"):
        load_config(None, web={"public_url": address})


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("https://a.example:8443/", "https://a.example:8443"),
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("HTTPS://Foot.Example", "https://foot.example"),
        ("https://[2001:db8::1]:443/", "https://[2001:db8::1]"),
    ],
)
def test_the_public_address_is_what_browsers_name(address: str, named: str) -> None:
    assert load_config(None, web={"public_url": address}).web.public_url == named


def test_a_missing_secret_file_is_named() -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_config(None, provider={"api_key_file": "/nowhere"}).provider_key()


def test_the_token_of_the_api_is_a_secret_and_no_key_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTNOTE_API_TOKEN", raising=False)
    assert load_config().api_token() is None
    monkeypatch.setenv("FOOTNOTE_API_TOKEN", "from-environment")
    secret = tmp_path / "token"
    secret.write_text("from-file\n")
    found = [load_config().api_token(), load_config(None, api={"token_file": secret}).api_token()]

    assert [token and token.get_secret_value() for token in found] == ["from-environment", "from-file"]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"provider": {"name": "openai_compatible"}}, "provider: an openai_compatible provider needs a model"),
        ({"providers": {"mill": {"model": "m"}}}, "providers.mill.kind: field required"),
        ({"providers": {"mill": {"kind": "oracle"}}}, "providers.mill.kind"),
        ({"providers": {"default": {"kind": "anthropic"}}}, r"\[providers.default\]: this name is reserved"),
        (
            {"provider": {"fallback": ["mill"]}},
            "provider.fallback names 'mill', but the providers are default, extractive",
        ),
        ({"provider": {"fallback": ["default"]}}, "provider.fallback names itself"),
        ({"provider": {"fallback": ["extractive", "extractive"]}}, "provider.fallback: it names a provider twice"),
        ({"workspaces": {"guild": {"provider": "mill"}}}, "workspaces.guild.provider names 'mill'"),
        ({"provider": {"base_url": "localhost:11434"}}, "provider.base_url"),
    ],
)
def test_what_can_be_no_provider_is_said(sections: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(None, **sections)


def test_providers_can_be_set_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_PROVIDERS__MILL__KIND", "openai_compatible")
    monkeypatch.setenv("FOOTNOTE_PROVIDERS__MILL__MODEL", "mill-7b")
    monkeypatch.setenv("FOOTNOTE_PROVIDERS__MILL__TOOLS", "false")
    monkeypatch.setenv("FOOTNOTE_PROVIDER__FALLBACK", "mill, extractive")
    config = load_config()
    assert config.provider.fallback == ("mill", "extractive")
    assert (config.providers["mill"].tools, config.providers["mill"].images) == (False, None)


def test_limits_of_reading_are_those_of_the_configuration() -> None:
    limits = IngestConfig(parse_seconds=7, parse_memory_mb=900, max_file_mb=3, max_pages=40, max_ocr_pages=5).limits
    assert (limits.seconds, limits.memory_bytes, limits.file_bytes) == (7, 900 * MEBIBYTE, 3 * MEBIBYTE)
    assert limits.wall_seconds == 70
    assert (limits.pages, limits.recognised_pages) == (40, 5)


@pytest.mark.parametrize(
    ("web", "is_limited"),
    [
        ({}, False),
        ({"open_to_network": True}, True),
        ({"oidc": {"issuer": "https://sso.example.org", "client_id": "x", "members": ["*"]}}, True),
        ({"proxy": {"person_header": "X-Forwarded-User"}}, True),
    ],
)
def test_people_of_the_web_app_are_limited_wherever_others_than_its_owner_can_ask(
    web: dict[str, object], is_limited: bool
) -> None:
    config = Config.model_validate({"web": {"public_url": "https://footnote.example.org", **web}})

    assert {"discord", "slack"} <= config.limited_platforms
    assert ({"web", "api"} <= config.limited_platforms) is is_limited
