"""The parts of a tool: its arguments, the context of one question, their findings.

To add a tool, copy `get_page.py`, add it to the list in the composition root and to the contract test's parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from core.answering.tools.section_notes import SectionReader
from core.domain.answer import PicturedPage
from core.domain.chat import PageImage
from core.domain.conversation import Focus
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.errors import BadInput, NotFound, ToolRetry
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import CorpusRepository, PagePictures
from core.work.steps import NO_STEPS, Step


class Arguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused; null and blank text stand for "not given"."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    with_pictures: ClassVar["type[Arguments] | None"] = None  # the arguments for models that see, if they differ


@dataclass(slots=True, kw_only=True)
class Pictures:
    """Images of pages for one question; never mentioned to a model that doesn't see."""

    of: PagePictures
    sees: Callable[[], bool]  # the model's ability at this moment
    drawn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The context of tools: bound to one question, never shown to the model."""

    scope: SearchScope
    library: Library
    corpus: CorpusRepository
    facts: Facts
    focus: Focus | None = None  # the conversation's subject: searched first
    linked: frozenset[str] = frozenset()  # ids of documents the question names by [[wikilinks]]: searched first, too
    document_ids: frozenset[str] = frozenset()  # the question is only about these; empty: no such limit
    rerank: bool = False  # see SearchQuery.rerank
    pictures: Pictures | None = None
    sections: SectionReader | None = None  # reads texts that are too long for one prompt; None: they are cut
    window_tokens: int = 0  # of the model that reads the results; 0: a small one
    call: Step = NO_STEPS  # the step of a running call: the tool's own steps go below it


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a tool: `passages` is the text to quote, in reading order, `text` the rest."""

    text: str
    passages: tuple[SourcedPassage, ...] = ()
    searches: tuple[str, ...] = ()  # the queries, for an answer without results
    choices: tuple[str, ...] = ()  # the reader has to choose one; the text asks which
    images: tuple[PageImage, ...] = ()  # for models that see; never evidence for a footnote
    pictures: tuple[PicturedPage, ...] = ()  # the pages that the images show


A = TypeVar("A", bound=Arguments, contravariant=True)


class Tool(Protocol[A]):
    """Reads, never writes: safe to repeat and to run concurrently.

    `run` raises ToolRetry if other arguments could help, ToolFailed if none can; anything else is a bug.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """For the model: the tool's results, and when to use it."""
        ...

    @property
    def arguments(self) -> type[Arguments]: ...

    async def run(self, arguments: A, context: ToolContext) -> Finding: ...


async def document_named(name: str, context: ToolContext) -> Document:
    """Return the document that a model names. Raises ToolRetry if it is unknown or not the question's."""
    try:
        document = await context.library.find_document(name, context.scope)
    except (NotFound, BadInput) as error:
        raise ToolRetry(f"{error} Search without a document to see which there are.") from error
    if context.document_ids and document.id not in context.document_ids:
        raise ToolRetry(f"This question is limited to another document than {document.title!r}: leave `document` out.")
    return document


def within(passages: Sequence[SourcedPassage], characters: int) -> tuple[SourcedPassage, ...]:
    """As many as fit, from the first on; at least one."""
    used = count = 0
    for item in passages:
        used += len(item.passage.text)
        if count and used > characters:
            break
        count += 1
    return tuple(passages[:count])
