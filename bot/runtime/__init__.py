"""What a process has of the machine it runs on: the clock, the person, signals, the log."""
