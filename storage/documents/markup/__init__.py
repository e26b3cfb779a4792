"""Markdown, outlines and reStructuredText, read and written."""
