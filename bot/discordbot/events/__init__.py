"""Input from Discord: messages, edits, deletions, and messages missed while offline."""
