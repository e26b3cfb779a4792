"""One module a group of commands; each parses, calls a use case and prints. `register(app)` adds its commands."""
