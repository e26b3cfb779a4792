"""The command line: app.py parses it, one module for each command or group runs it, session.py has its options.

Each module parses arguments, calls operations (bot/service) and prints. `register(app)` adds its commands.
"""
