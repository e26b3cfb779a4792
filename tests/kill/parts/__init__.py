"""Inbox, worker and stores in a small process that is killed again and again."""
