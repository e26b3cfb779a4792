"""A question is put anew, by what the provider can do, when another one has to answer it."""

from collections.abc import Sequence

import pytest

from core.answering.run import NO_OBSERVER, RunObserver
from core.answering.strategies.choosing import MOST_CHANGES, ChosenStrategy, draft
from core.domain.answer import Draft
from core.domain.chat import Capabilities, ChatMessage
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.replies import CitedText
from core.errors import ProviderChanged
from core.ports import ChatProvider, ProgressSink, Tools
from tests.fakes import RecordingProgress
from tests.scripted import ScriptedProvider, text_of
from tests.unit.core.library_builder import Shelf

ADDRESS = ThreadAddress(platform="terminal", workspace="local", channel="chat", thread="t")
QUESTION = IncomingMessage(address=ADDRESS, author="ada", text="When?", event_key="e")


class Fickle:
    """Drafts by what its provider can do, after so many changes (implements ports.RetrievalStrategy)."""

    name = "fickle"

    def __init__(self, provider: ChatProvider, world: "World") -> None:
        self._provider = provider
        self._world = world

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        progress.text("I look. ")
        if self._world.changes:
            self._world.changes -= 1
            self._world.tools = False
            raise ProviderChanged("Another one answers.")
        way = "with tools" if self._provider.capabilities.tools else "searched first"
        return Draft(segments=(CitedText(text=way),), evidence=tools.evidence)


class World:
    def __init__(self, changes: int) -> None:
        self.changes = changes
        self.tools = True

    async def choose(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        provider = ScriptedProvider([], capabilities=Capabilities(tools=self.tools))
        return ChosenStrategy(strategy=Fickle(provider, self))

    async def ask(self) -> tuple[str, RecordingProgress]:
        progress = RecordingProgress()
        written = await draft(self.choose, QUESTION, (), Shelf().toolbox(), progress, NO_OBSERVER)
        return text_of(written), progress


@pytest.mark.parametrize(
    ("changes", "way"), [(0, "with tools"), (1, "searched first"), (MOST_CHANGES, "searched first")]
)
async def test_a_question_is_drafted_anew_by_what_can_be_done_now(changes: int, way: str) -> None:
    text, progress = await World(changes).ask()
    assert text == way
    assert progress.shown == "I look. "  # of the last try alone


async def test_changes_without_an_end_are_an_error() -> None:
    with pytest.raises(ProviderChanged):
        await World(MOST_CHANGES + 1).ask()
