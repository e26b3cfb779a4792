"""Exports of chat channels."""
