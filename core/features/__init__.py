"""Features around an answer, one module or package each: its service, its messages, and its chat command if it has one.

Its SQL is in `storage/database/repositories`, its command for the terminal in `bot/cli`.
"""
