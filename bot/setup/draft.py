"""The wizard's answers: stored at once in the data directory, and written to config.toml at the end.

Each secret has a file of its own, which config.toml names. An unfinished run continues with `setup.json`; without one,
a run begins with the configuration.
"""

import os
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from bot.config import Config
from bot.config.configuration import DEFAULT_FILE, load_config, read_config
from bot.runtime.data_directory import open_data_directory, write_private_file
from core.errors import ConfigError

DRAFT_FILE = "setup.json"
SECRETS_FOLDER = "secrets"

Platform = Literal["", "discord", "slack", "local"]
Progress = Literal["finished", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret of the configuration: its file, the key that names the file, and the variable that replaces it."""

    name: str
    key: tuple[str, str]
    variable: str
    read: Callable[[Config], SecretStr | None]


DISCORD_TOKEN = Secret(
    name="discord_token", key=("discord", "token_file"), variable="DISCORD_TOKEN", read=Config.discord_token
)
SLACK_TOKEN = Secret(
    name="slack_bot_token", key=("slack", "token_file"), variable="SLACK_BOT_TOKEN", read=Config.slack_token
)
SLACK_APP_TOKEN = Secret(
    name="slack_app_token", key=("slack", "app_token_file"), variable="SLACK_APP_TOKEN", read=Config.slack_app_token
)
SLACK_SIGNING_SECRET = Secret(
    name="slack_signing_secret",
    key=("slack", "signing_secret_file"),
    variable="SLACK_SIGNING_SECRET",
    read=Config.slack_signing_secret,
)


class Model(BaseModel):
    """The chosen model, with the keys of [provider]."""

    model_config = ConfigDict(extra="forbid")

    name: Literal["extractive", "anthropic", "openai_compatible"] = "extractive"
    model: str = ""
    base_url: str = ""  # "": the vendor's own


class Askers(BaseModel):
    """Who may ask; `who` is a choice of the step, ids are mapped to names."""

    model_config = ConfigDict(extra="forbid")

    who: str = "everyone"
    channels: dict[str, str] = Field(default_factory=dict)
    roles: dict[str, str] = Field(default_factory=dict)


class Answers(BaseModel):
    """Everything but the secrets. None, and an empty platform: not asked so far."""

    model_config = ConfigDict(extra="forbid")

    platform: Platform = ""
    bot: str = ""  # its name on the platform
    servers: dict[str, str] | None = None  # those chosen: id -> name
    slack_transport: Literal["socket", "http"] = "socket"
    public_url: str = ""  # where Slack's requests arrive
    known_teams: dict[str, str] = Field(default_factory=dict)  # of the bot's token on Slack: id -> name
    teams: dict[str, str] = Field(default_factory=dict)  # those chosen
    sources: list[dict[str, Any]] = Field(default_factory=list)  # new [[sources]]
    removed_sources: list[str] = Field(default_factory=list)  # names of configured ones
    model: Model | None = None
    askers: Askers | None = None
    secrets: list[str] = Field(default_factory=list)  # names of those entered in this run
    steps: dict[str, Progress] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A source that a check has found fault with; entered once more, it is used anyway. Not stored."""

    place: str
    token: str
    asks_again: bool  # it is checked once more, with addresses of the own network allowed
    allow_private: bool


class Draft:
    """The answers, the configuration they change, and the secrets."""

    def __init__(self, file: Path | None, data_dir: Path | None = None, workspace: str | None = None) -> None:
        """`file` None: config.toml of the current folder; it may not exist yet. Raises ConfigError, StorageError."""
        self.file = file or DEFAULT_FILE
        self.doubt: Doubt | None = None
        self._overrides = {"data_dir": data_dir, "workspace": workspace}
        self.load()

    def load(self) -> None:
        """Read the configuration, and the answers of an unfinished run. Raises ConfigError, StorageError."""
        self.config = load_config(self.file, **self._overrides) if self.file.exists() else self.read("")
        open_data_directory(self.config.data_path)
        self.answers = self._read_answers() or _answers_of(self.config)

    def read(self, toml: str) -> Config:
        """Return the configuration that a text would be. Raises ConfigError."""
        return read_config(toml, self.file, **self._overrides)

    @property
    def is_unfinished(self) -> bool:
        """Whether an earlier run was left before its end."""
        return self._path.exists()

    @property
    def has_own_data_dir(self) -> bool:
        """Whether the data directory is that of the command line."""
        return self._overrides["data_dir"] is not None

    @property
    def workspace(self) -> str:
        """The workspace that the chosen servers and teams read: that of terminal and web app."""
        return self.config.workspace

    def save(self) -> None:
        """Store the answers. Raises StorageError."""
        write_private_file(self._path, self.answers.model_dump_json(indent=1) + "\n")

    def clear(self) -> None:
        """Forget the answers, which are in the configuration now."""
        self._path.unlink(missing_ok=True)
        self.load()

    def secret_file(self, secret: Secret) -> Path:
        return self.config.data_path / SECRETS_FOLDER / secret.name

    def keep_secret(self, secret: Secret, value: str) -> None:
        """Store a secret in its file. Raises StorageError."""
        write_private_file(self.secret_file(secret), value + "\n")
        if secret.name not in self.answers.secrets:
            self.answers.secrets.append(secret.name)
        self.save()

    def keep_source_token(self, source: str, value: str) -> Path:
        """Store a source's token, and return its file. Raises StorageError."""
        file = self.config.data_path / SECRETS_FOLDER / f"source_{_file_name(source)}"
        write_private_file(file, value + "\n")
        return file

    def entered_file(self, secret: Secret) -> Path | None:
        """Return the file of a secret that was entered in this run."""
        return self.secret_file(secret) if secret.name in self.answers.secrets else None

    def secret(self, secret: Secret) -> str:
        """Return a secret: entered in this run, else configured; "" without one, or if its file can't be read."""
        try:
            if file := self.entered_file(secret):
                return file.read_text(encoding="utf-8").strip()
            found = secret.read(self.config)
        except (OSError, ConfigError):  # its file was deleted: the wizard asks for it again
            return ""
        return found.get_secret_value() if found else ""

    def is_from_environment(self, secret: Secret) -> bool:
        """Return whether a secret comes from its variable, because no file is configured."""
        section, key = secret.key
        is_configured = getattr(getattr(self.config, section), key) is not None
        return not (is_configured or self.entered_file(secret)) and bool(os.environ.get(secret.variable))

    @property
    def _path(self) -> Path:
        return self.config.data_path / DRAFT_FILE

    def _read_answers(self) -> Answers | None:
        try:
            return Answers.model_validate_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise ConfigError(
                f"The answers of the last set-up in {str(self._path)!r} can't be read. Delete that file, and "
                "start again."
            ) from error


def _file_name(text: str) -> str:
    """Return a name that is safe in any file system, and different for different texts."""
    readable = re.sub(r"[^a-z0-9]+", "_", text.lower())[:40].strip("_")
    return f"{readable}_{zlib.crc32(text.encode()):08x}"


def _answers_of(config: Config) -> Answers:
    """Return the answers that a configuration has already."""
    provider = config.provider
    return Answers(
        platform=_platform_of(config),
        servers=_bound(config.discord.workspaces, config.workspace) or None,
        slack_transport=config.slack.transport,
        public_url=config.web.public_url or "",
        teams=_bound(config.slack.workspaces, config.workspace),
        model=Model(
            name=provider.what,
            model=provider.model if "model" in provider.model_fields_set else "",
            base_url=provider.base_url or "",
        )
        if "name" in provider.model_fields_set
        else None,
        askers=_askers_of(config),
    )


def _askers_of(config: Config) -> Askers | None:
    discord, slack = config.discord, config.slack
    match _platform_of(config):
        case "discord" if discord.ask_channels:
            return Askers(who="channels", channels={id: id for id in discord.ask_channels})
        case "discord" if discord.ask_roles:
            return Askers(who="roles", roles={id: id for id in discord.ask_roles})
        case "slack" if slack.ask_full_members:
            return Askers(who="members")
        case "" if config.web.open_to_network:
            return Askers(who="network")
    return None


def _platform_of(config: Config) -> Platform:
    if config.discord.token_file or os.environ.get(DISCORD_TOKEN.variable):
        return "discord"
    if config.slack.token_file or config.slack.client_id or os.environ.get(SLACK_TOKEN.variable):
        return "slack"
    return ""


def _bound(workspaces: Mapping[str, str], workspace: str) -> dict[str, str]:
    """Return the servers or teams that read a workspace; their names are looked up later."""
    return {id: id for id, name in workspaces.items() if name == workspace}
