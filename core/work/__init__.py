"""The parts of a run that answering, features and commands share: conversations, attempts, steps as jobs, retries."""
