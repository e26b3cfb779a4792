"""Job trees as people see them, and what waits in the inbox."""
