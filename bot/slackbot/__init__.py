"""Slack: what happens there translated in, answers rendered out."""
