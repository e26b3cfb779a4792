"""In-memory twins of the ports: the same contracts, tested by the same tests, holding their state in plain objects."""
