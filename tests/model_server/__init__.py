"""A small Messages API on loopback: validates like the real one, replies from a script, fails on demand."""

from tests.model_server.script import Call, Cite, Fault, Reply, Say, Think
from tests.model_server.server import ModelServer

__all__ = ["Call", "Cite", "Fault", "ModelServer", "Reply", "Say", "Think"]
