"""The service around answers: the inbox, the worker, jobs and commands."""
