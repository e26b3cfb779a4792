"""The terminal adapter: `footnote chat`, and the output of other commands for people."""
