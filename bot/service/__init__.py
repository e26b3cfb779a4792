"""The running service: service.py starts it whole, worker.py a worker alone; the others are its parts."""
