"""Where posts go: a thread, a person's direct messages, or the private reply to an interaction. One form for all."""
