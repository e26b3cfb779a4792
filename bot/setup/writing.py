"""Changes of config.toml that keep a person's own keys, comments and order."""

from collections.abc import Collection, Iterable, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from bot.runtime.data_directory import write_private_file
from core.errors import ConfigError

HEADER = "Footnote's configuration. `footnote config example` prints every key, `footnote init` changes this file."


class ConfigFile:
    """The text of a configuration that is being changed."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError if the file can't be read. A file that doesn't exist is created by `replace`."""
        self._path = path.resolve()  # a link stays a link
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = f"# {HEADER}\n"
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"Can't read the configuration {str(path)!r}: {error}.") from error
        try:
            self._document = tomlkit.parse(text)
        except TOMLKitError as error:
            raise ConfigError(f"The configuration {str(path)!r} isn't valid TOML: {error}.") from error

    @property
    def text(self) -> str:
        return tomlkit.dumps(self._document)

    def has(self, key: str) -> bool:
        return key in self._document

    def set(self, *path: str, value: object) -> None:
        """Change the key at a path, such as ("discord", "token_file"); unchanged values keep their form."""
        *parents, key = path
        table: MutableMapping[str, Any] = self._document
        for parent in parents:
            if parent not in table:
                table[parent] = tomlkit.table()
            table = table[parent]
        if key not in table or table[key] != value:
            table[key] = value

    def set_or_remove(self, *path: str, value: object) -> None:
        """Set a key, or remove it for an empty value."""
        if value:
            self.set(*path, value=value)
        else:
            self.remove(*path)

    def remove(self, *path: str) -> None:
        """Remove a key; one that isn't there is ignored."""
        *parents, key = path
        table: Any = self._document
        for parent in parents:
            table = table.get(parent, {})
        if key in table:
            del table[key]

    def remove_sources(self, names: Collection[str]) -> None:
        """Remove the sources with these names."""
        given = self._document.get("sources", [])
        for place in reversed(range(len(given))):
            if given[place].get("name") in names:
                del given[place]

    def add_sources(self, sources: Iterable[MutableMapping[str, Any]]) -> None:
        """Append sources to the person's own."""
        for source in sources:
            if not isinstance(self._document.get("sources"), AoT):
                given = self._document.pop("sources", [])  # an array of inline tables, which may be empty
                self._document["sources"] = tomlkit.aot()
                self.add_sources([dict(one) for one in given])
            table = tomlkit.table()
            table.update(source)
            self._document["sources"].append(table)

    def replace(self) -> None:
        """Write the file. Raises StorageError."""
        mode = self._path.stat().st_mode & 0o777 if self._path.exists() else 0o600
        write_private_file(self._path, self.text, mode=mode)
