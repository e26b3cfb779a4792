"""What core needs from outside for its models, beside the ChatProvider of ports.py: small protocols with contracts."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from core.domain.chat import Capabilities, PageImage
from core.domain.corpus import Document, Page, ScoredSpan, SourcedPassage


@runtime_checkable
class LearningProvider(Protocol):
    """A ChatProvider whose capabilities are found out by asking."""

    async def learn(self) -> Capabilities:
        """The capabilities, after whatever small requests are needed; asked once and remembered. Raises ProviderError.

        Until then `capabilities` is what is assumed.
        """


@runtime_checkable
class CheckedProvider(Protocol):
    """A ChatProvider that something outside this process has to work for."""

    async def check(self) -> None:
        """One small request or a few. Raises ProviderError with the next step where it can't be used."""


class CapabilityMemory(Protocol):
    """What was found out about models, kept from one run to the next. The key names a server's model."""

    async def find(self, key: str) -> Capabilities | None:
        """None for what was never kept, or so long ago that it is to be found out anew."""

    async def keep(self, key: str, found: Capabilities) -> None:
        """In place of what was kept before. What can't be kept is only found out again: no error."""


class PagePictures(Protocol):
    """Pages as pictures, for models that see."""

    async def picture_of(self, document: Document, page: Page) -> PageImage:
        """Bounded in pixels and bytes, drawn from the file that the page was read from.

        The caller has read both within its scope. Raises NotFound, with the reason, where there is no picture: other
        kinds than PDF, files that are gone or have changed since.
        """


class SentenceRanker(Protocol):
    async def rank(self, question: str, passages: Sequence[SourcedPassage], limit: int = 10) -> list[ScoredSpan]:
        """Sentences of `passages` that may answer `question`, best first, at most `limit`. Empty in, empty out."""


class AnswerJudge(Protocol):
    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, 0..1, in the order given (a cross-encoder's sigmoid)."""
