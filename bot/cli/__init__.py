"""One module a group of commands; each parses, calls a use case and prints. `register(app)` adds its commands.

`session.py` is what each is given: one run of the command line. `evaluating.py` is the work of
`eval`, `channel_names.py` reads the channels that `access` is asked about.
"""
