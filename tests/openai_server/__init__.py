"""A small chat completions server on loopback: refuses what real ones refuse, replies from a script, fails on demand.

What kind of server it is (with or without tools, schemas, pictures, token counts) is said when it is made. Probes,
which are not streamed, are answered by that and use up no step of the script.
"""

from tests.openai_server.script import Break, Call, Fault, Numbering, Reply, Say, Think
from tests.openai_server.server import KEY, MODEL, Kind, OpenAIServer

__all__ = ["KEY", "MODEL", "Break", "Call", "Fault", "Kind", "Numbering", "OpenAIServer", "Reply", "Say", "Think"]
