"""The process's machine: clock, local user, signals, log and metrics."""
