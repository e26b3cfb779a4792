"""How commands reach a running service: a lock and a notice, a unix socket, and calls as JSON."""
