"""The made-up handbook that pictures of chat platforms show, and what the scripted model says of it."""

from core.domain.chat import ToolInvocation
from core.domain.replies import ChatResponse
from tests.scripted import calls

PAGES = (
    "# Storm warning\n\nHoist the black cone as soon as the barometer falls below 985 hPa.\n\n"
    "Telephone the harbour office within ten minutes, and note the time of the call in the log.",
    "# Fog signal\n\nSound the horn every ninety seconds while the north buoy can't be seen.\n\n"
    "Two keepers share the night: one sleeps, one listens.",
    "# The log\n\nIt lies on the shelf beside the barometer. The keeper on duty writes it.",
)
FIRST = "On the shelf beside the barometer; the keeper on duty writes it [6]."
QUESTION = "What do we do when a storm is coming?"
ANSWER = (
    "When the barometer falls below 985 hPa:\n\n"
    "1. Hoist the black cone as soon as it does [2].\n"
    "2. Telephone the harbour office within ten minutes, and note the time of the call in the log [1].\n\n"
    "If fog comes with it, sound the horn every ninety seconds while the north buoy can't be seen [4]."
)
DRAFT = (
    "When the barometer falls below 985 hPa, hoist the black cone at once. Then telephone the harbour office within "
    "ten minutes, and note the time of the call in the log. If fog comes with it, "
)


def look_up() -> ChatResponse:
    query = {"query": "storm barometer cone telephone harbour office fog horn buoy"}
    return calls(ToolInvocation(id="t1", name="search", arguments=query))
