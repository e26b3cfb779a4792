"""Answers, notices, lists and buttons as Discord components. Pure."""
