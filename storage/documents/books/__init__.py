"""Chapters: of EPUBs, and of plain texts."""
