"""Paths as they are typed."""

from pathlib import Path

import typer


def to_path(text: str) -> Path:
    """An empty path would be the folder that one happens to be in: mostly it is a script's variable that is not set."""
    if not text:
        raise typer.BadParameter("an empty path names nothing: write . for this folder")
    return Path(text)
