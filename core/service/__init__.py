"""Message intake, the worker, jobs and chat commands."""
