"""Changes of config.toml: a person's keys, comments and order stay."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.setup.writing import ConfigFile
from core.errors import ConfigError

COMMENTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30).map(lambda text: f"# {text}")
KEYS = {
    "": ['workspace = "crew"', "data_dir = '/srv/footnote'"],
    "discord": ['token_file = "/run/token"', "shards = 2", 'workspaces = { "123456789012345678" = "crew" }'],
    "provider": ['name = "anthropic"', "max_retries = 2  # few", 'fallback = [\n  "extractive", # last\n]'],
    "web": ["port = 9000", 'public_url = "https://notes.example"'],
}


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A configuration with comments between its keys, its sections in any order."""
    lines = []
    for section in ["", *draw(st.permutations([name for name in KEYS if name]))]:
        keys = draw(st.lists(st.sampled_from(KEYS[section]), unique=True))
        if section and (keys or draw(st.booleans())):
            lines.append(f"[{section}]")
        for key in keys:
            lines += [*draw(st.lists(COMMENTS, max_size=2)), key]
    sources = draw(st.integers(0, 2))
    for number in range(sources):
        lines += ["[[sources]]  # mine", 'kind = "folder"', f'name = "notes {number}"', "path = '/srv/notes'"]
    return "\n".join([*draw(st.lists(COMMENTS, max_size=2)), *lines, ""])


def changed(path: Path, text: str) -> tuple[str, dict[str, Any]]:
    path.write_text(text, encoding="utf-8")
    file = ConfigFile(path)
    file.set("discord", "token_file", value="/data/secrets/discord_token")
    file.set("discord", "workspaces", "223456789012345678", value="local")
    file.set("provider", "name", value="extractive")
    file.remove("provider", "base_url")
    file.add_sources([{"kind": "folder", "name": "new", "path": "/srv/new", "watch": True}])
    file.replace()
    written = path.read_text(encoding="utf-8")
    return written, tomllib.loads(written)


@given(text=configurations())
def test_other_keys_and_all_comments_survive(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    written, now = changed(tmp_path_factory.mktemp("config") / "config.toml", text)
    before = tomllib.loads(text)

    discord, provider = before.setdefault("discord", {}), before.setdefault("provider", {})
    discord["token_file"] = "/data/secrets/discord_token"
    discord.setdefault("workspaces", {})["223456789012345678"] = "local"
    provider["name"] = "extractive"
    before.setdefault("sources", []).append({"kind": "folder", "name": "new", "path": "/srv/new", "watch": True})
    assert now == before
    for line in text.splitlines():
        if line.startswith("#"):
            assert line.strip() in written


def test_sources_of_an_inline_array_stay(tmp_path: Path) -> None:
    _, now = changed(tmp_path / "config.toml", 'sources = [{ kind = "folder", name = "a", path = "/a" }]\n')
    assert [source["name"] for source in now["sources"]] == ["a", "new"]


def test_a_link_and_its_mode_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    link.symlink_to(real)
    changed(link, "# mine\n")
    assert link.is_symlink() and real.read_text().startswith("# mine\n")
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_broken_file_is_an_error_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[web\n")
    with pytest.raises(ConfigError, match="isn't valid TOML"):
        ConfigFile(path)
    assert path.read_text() == "[web\n"
