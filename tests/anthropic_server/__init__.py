"""A small Messages API on loopback: validates like the real one, replies from a script, fails on demand."""

from tests.anthropic_server.script import Call, Cite, Fault, Reply, Say, Think
from tests.anthropic_server.server import AnthropicServer

__all__ = ["AnthropicServer", "Call", "Cite", "Fault", "Reply", "Say", "Think"]
