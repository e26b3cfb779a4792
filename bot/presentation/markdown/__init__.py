"""Markdown for chat platforms: made harmless, and split at safe places. Pure.

`flavour` describes a platform's Markdown, `inline` and `blocks` parse, `splitting` packs blocks into messages.
"""

from bot.presentation.markdown.flavour import Flavour, clean, clip, link_target, safe_cut, units, weight
from bot.presentation.markdown.splitting import Part, pack, read_markdown, split_markdown

__all__ = [
    "Flavour",
    "Part",
    "clean",
    "clip",
    "link_target",
    "pack",
    "read_markdown",
    "safe_cut",
    "split_markdown",
    "units",
    "weight",
]
