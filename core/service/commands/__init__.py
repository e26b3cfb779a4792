"""The table of chat commands, bound by every adapter; their types are in core/work/commands.py."""
