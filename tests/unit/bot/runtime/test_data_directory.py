import logging
from pathlib import Path

import pytest

from bot.runtime.data_directory import open_data_directory
from core.errors import StorageError


def test_a_directory_that_others_own_is_used_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)  # tests may run as root, to whom nothing is refused
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)

    with caplog.at_level(logging.WARNING):
        open_data_directory(folder)

    assert caplog.messages == [
        "Other users of this machine may read the data directory (Operation not permitted). Let its owner run: "
        f"chmod -R go= {folder}"
    ]


def test_a_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="choose another data directory"):
        open_data_directory(tmp_path / "file" / "data")
