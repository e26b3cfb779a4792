"""Foundry's journals: their exports, links and text."""
