"""What a page is about, in a model's words: the one thing that is not in the document's own."""

import re
from collections.abc import Iterator, Sequence

from pydantic import Field

from core.domain.extracts import Extract, ExtractorInput, ExtractType, Found, PageSummary, SaidOfPiece, Unproved
from core.text.words import collapse
from storage.documents.extractors.llm import OfProse, Proved, Said, prove, split

MAX_SUMMARY = 300
MAX_TOPICS = 8
MAX_TOPIC = 80
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")
_NAME = re.compile(r"(?<=[^\W\d_][\s,;:(])[^\W\d_a-z][\w’'-]+")  # a capital letter in the middle of a sentence


class SaidOfPage(Said):
    quote: str = Field(description="The sentence of the text that says most of it, copied letter by letter.")
    summary: str = Field(description="What the text says, in one or two sentences of at most 300 characters.")
    topics: list[str] = Field(default_factory=list, description="What it is about, in up to 8 phrases of the text.")


class ModelPagesExtractor(OfProse):
    """One summary a page, of its first piece that gave a good one."""

    name = "model_pages"
    version = 1
    types = frozenset({ExtractType.PAGE})
    item = SaidOfPage
    asks = "Exactly one summary of the text, with its topics. No names and no numbers but those of the text."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, SaidOfPage))
        yield from unproved
        seen = {
            (item.page_number, collapse(PageSummary.model_validate(item.data).summary))
            for item in known
            if item.type is ExtractType.PAGE
        }
        done: set[int] = set()
        for item in proved:
            strange = _not_shown(item)
            if strange:
                yield item.unproved(f"the summary names {strange!r}, which is not on the page")
            elif len(item.said.summary) > MAX_SUMMARY or not item.said.summary:
                yield item.unproved(f"the summary has {len(item.said.summary)} characters, not 1 to {MAX_SUMMARY}")
            elif item.page_number not in done and (item.page_number, collapse(item.said.summary)) not in seen:
                done.add(item.page_number)
                yield _to_found(item)


def _not_shown(item: Proved[SaidOfPage]) -> str | None:
    """A number or a name that the model added."""
    told = [*_NUMBER.findall(item.said.summary), *_NAME.findall(item.said.summary)]
    return next((word for word in told if not item.is_shown(word)), None)


def _to_found(item: Proved[SaidOfPage]) -> Found:
    topics = [topic for topic in item.said.topics if topic and len(topic) <= MAX_TOPIC and item.is_shown(topic)]
    summary = PageSummary(summary=item.said.summary, topics=tuple(dict.fromkeys(topics[:MAX_TOPICS])))
    return item.found(ExtractType.PAGE, summary)
