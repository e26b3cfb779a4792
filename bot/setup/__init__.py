"""The set-up wizard: its steps, their live checks, and the configuration it writes."""
