import pytest

from core.answering.strategies.choosing import (
    ALWAYS,
    AUTO,
    NO_MODEL,
    NO_PLANS,
    NO_TOOLS,
    PLANNED,
    TOOL_USE,
    ChosenStrategy,
    choose,
    draft_once,
)
from core.answering.strategies.plans import wording_of
from core.domain.answer import Draft, Evidence
from core.domain.chat import Capabilities
from core.domain.replies import CitedText
from core.errors import UnsupportedFeature
from core.work.progress import SilentProgress
from tests.builders import build_incoming
from tests.scripted import text_of

TOOLS, PLAIN = Capabilities(), Capabilities(tools=False)
QUOTES = Capabilities(citations=True, quotes_only=True)


@pytest.mark.parametrize(
    ("asked", "configured", "capabilities", "name", "note"),
    [
        (None, TOOL_USE, TOOLS, TOOL_USE, ""),
        (None, TOOL_USE, PLAIN, ALWAYS, ""),
        (TOOL_USE, TOOL_USE, PLAIN, ALWAYS, NO_TOOLS),
        (None, ALWAYS, TOOLS, ALWAYS, ""),
        ("deep", TOOL_USE, TOOLS, PLANNED, ""),
        ("Plan-and-synthesise", TOOL_USE, TOOLS, PLANNED, ""),
        ("deep", TOOL_USE, PLAIN, ALWAYS, NO_PLANS),
        ("deep", TOOL_USE, QUOTES, TOOL_USE, NO_MODEL),
        (None, PLANNED, QUOTES, TOOL_USE, NO_MODEL),
        (TOOL_USE, PLANNED, TOOLS, TOOL_USE, ""),
        (AUTO, TOOL_USE, TOOLS, TOOL_USE, ""),
    ],
)
def test_the_asker_goes_before_the_configuration_as_far_as_the_model_can(asked, configured, capabilities, name, note):
    choice = choose(build_incoming(strategy=asked), configured, capabilities)
    assert (choice.name, choice.note) == (name, note)


@pytest.mark.parametrize(
    ("capabilities", "name"), [(TOOLS, PLANNED), (PLAIN, ALWAYS), (QUOTES, TOOL_USE)], ids=["tools", "plain", "quotes"]
)
def test_auto_plans_what_is_worded_as_a_comparison_where_the_model_can(capabilities, name):
    assert choose(build_incoming("Compare ferry and bus"), AUTO, capabilities).name == name
    assert choose(build_incoming("Where is the ferry?"), AUTO, capabilities).name != PLANNED


def test_a_name_that_there_is_not_is_refused_with_those_there_are():
    with pytest.raises(UnsupportedFeature, match=r"no strategy 'guess': use tool_use, always_retrieve, .* or auto"):
        choose(build_incoming(strategy="guess"), TOOL_USE, TOOLS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Compare the ferry with the bus", "comparison"),
        ("What are the differences between A and B?", "comparison"),
        ("Diesel vs. solar for the pier", "comparison"),
        ("How does plan A differ from plan B?", "comparison"),
        ("Give me a timeline of the harbour works", "timeline"),
        ("What happened when, on the night of the storm?", "timeline"),
        ("Brief me for tomorrow's council meeting", "meeting_brief"),
        ("Stat block of the tide drake", "stat_block"),
        ("Show the stats for the drake", "stat_block"),
        ("Summarise the company's revenues of 2024", "financial_summary"),
        ("What does the ferry cost?", None),
        ("When was the pier built?", None),
        ("Who compared notes is unknown, but where is the key?", "comparison"),
        ("What is the status of the ramp?", None),
    ],
)
def test_the_wording_that_asks_for_a_form(question, expected):
    assert wording_of(question) == expected


async def test_a_note_is_carried_into_the_draft():
    class Inner:
        name = "inner"

        async def draft(self, question, history, tools, progress):
            return Draft(segments=(CitedText(text="Yes."),), evidence=Evidence(), notes=("First.",))

    noted = ChosenStrategy(strategy=Inner(), note="Second.")
    written = await draft_once(noted, build_incoming(), (), None, SilentProgress())
    assert (text_of(written), written.notes) == ("Yes.", ("First.", "Second."))
