"""Terms that a text defines, and names that it uses."""
