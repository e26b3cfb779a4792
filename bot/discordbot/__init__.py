"""The Discord adapter.

- `events`: input. `events/client.py` receives messages, `events/translate.py` makes an `IncomingMessage` of each.
- `actions`: slash commands, buttons, context menus and forms.
- `delivery`: output. `delivery/platform.py` posts answers to the places in `delivery/destinations.py`.
- `rendering`: answers, notices and buttons as values. Pure.
- `connection.py`: login, connection and `footnote doctor`.

A message runs through `to_incoming` (events/translate.py), `Inbox.receive` (called in events/client.py) and, once it
is answered, `render_answer` (rendering/answers.py).
"""
