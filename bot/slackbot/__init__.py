"""The Slack adapter.

Three functions show the way of a question: `events.translate.to_incoming` translates it, `listeners.Listeners.handle`
hands it to the inbox, and `rendering.answers.render_answer` turns the answer into Block Kit.

- `events`: connections, installed teams, people and channels, and the translation of events.
- `rendering`: Block Kit of answers, drafts, lists and forms. Pure.
- `delivery`: posts, streamed drafts and files.
- `actions`: commands, buttons, forms, shortcuts, the home tab and the assistant pane.
- `web_api` calls Slack; `start` builds the adapter.
"""
