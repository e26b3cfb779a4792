"""The Discord adapter.

- `events`: what comes in. `events/client.py` receives it, `events/translate.py` makes an `IncomingMessage` of it.
- `actions`: slash commands, buttons, context menus and forms.
- `delivery`: what goes out. `delivery/platform.py` posts answers, `delivery/destinations.py` knows where to.
- `rendering`: answers, notices and buttons as values. Pure.
- `connection.py`: login, connection and `footnote doctor`.

A message runs through `to_incoming` (events/translate.py), `Inbox.receive` (called in events/client.py) and, once it
is answered, `render_answer` (rendering/answers.py).
"""
