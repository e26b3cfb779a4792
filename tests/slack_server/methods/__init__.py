"""The methods of the Web API, a family a file; each file's METHODS says which."""

from tests.slack_server.methods import agents, assistant, chat, conversations, files, people, streams, views
from tests.slack_server.methods.asked import Method

METHODS: dict[str, Method] = {
    **agents.METHODS,
    **assistant.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **people.METHODS,
    **streams.METHODS,
    **views.METHODS,
}

__all__ = ["METHODS", "Method"]
