"""Features around an answer, one module or package each: its service, its chat command and its messages.

The SQL of a feature is `storage/database/repositories/<feature>.py`, its command `bot/cli/<feature>.py`.
"""
