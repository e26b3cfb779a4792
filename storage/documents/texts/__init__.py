"""Plain text, as readers and extractors share it."""
