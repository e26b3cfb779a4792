"""The terminal adapter: `footnote chat`, and what the other commands print for people."""
