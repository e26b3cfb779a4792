"""The running service: all of it (service.py), or only a worker (worker.py), and the operations of commands."""
