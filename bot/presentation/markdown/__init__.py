"""Markdown as chat platforms take it: kept harmless, cut at safe places. Used through `bot.presentation.rendering`."""
