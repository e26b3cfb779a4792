"""Presentation shared by all adapters: texts and buttons of an answer, harmless Markdown, progress, button actions."""
