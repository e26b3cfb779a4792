"""What comes in from Discord: messages, edits, deletions, and what was missed while offline."""
