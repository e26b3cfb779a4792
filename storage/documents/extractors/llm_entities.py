"""Entities, relations and page summaries of prose, found by a model."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from core.domain.extracts import (
    Entity,
    Extract,
    ExtractorInput,
    ExtractType,
    Found,
    PageSummary,
    Relation,
    SaidOfPiece,
    Unproved,
)
from core.text.words import collapse
from storage.documents.extractors.llm import ModelFinding, ProseExtractor, prove, split
from storage.documents.texts.quotes import is_within

MAX_NAME = 120  # characters


class EntityFinding(ModelFinding):
    name: str = Field(description="As the text writes it in full.", max_length=MAX_NAME)
    kind: Literal["person", "organisation", "place", "product", "project", "event", "term", "creature", "thing"]
    aliases: list[str] = Field(default_factory=list, description="Other names of the same, from this text.")
    definition: str = Field(default="", description="What it is, in words of the quote; empty where it is not said.")


class ModelEntitiesExtractor(ProseExtractor):
    """Each entity once a document, where rules did not find it."""

    name = "model_entities"
    version = 1
    types = frozenset({ExtractType.ENTITY})
    item = EntityFinding
    asks = "Each person, organisation, place, product, project, event and special term that matters in the text."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, EntityFinding))
        yield from unproved
        entities = [Entity.model_validate(item.data) for item in known if item.type is ExtractType.ENTITY]
        seen = {name.casefold() for entity in entities for name in (entity.name, *entity.aliases)}
        for item in proved:
            if not is_within(item.said.name, item.quote):
                yield item.unproved(f"the name {item.said.name!r} is not in the quote")
            elif item.said.name.casefold() not in seen:
                seen.add(item.said.name.casefold())
                aliases = [alias for alias in item.said.aliases if item.is_shown(alias) and len(alias) <= MAX_NAME]
                entity = Entity(
                    name=item.said.name,
                    kind=item.said.kind,
                    aliases=tuple(dict.fromkeys(alias for alias in aliases if alias != item.said.name)),
                    definition=item.said.definition if is_within(item.said.definition, item.quote) else "",
                )
                yield item.found(ExtractType.ENTITY, entity)


class RelationFinding(ModelFinding):
    source: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)
    kind: Literal[
        "part of", "member of", "works for", "leads", "owns", "made by", "uses", "located in", "related to",
        "ally of", "enemy of", "depends on", "replaces", "causes", "short for",
    ]  # fmt: skip
    target: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)


class ModelRelationsExtractor(ProseExtractor):
    """Each relation once a document, where rules did not find it."""

    name = "model_relations"
    version = 1
    types = frozenset({ExtractType.RELATION})
    item = RelationFinding
    asks = "How the entities of the text stand to each other, where one sentence names both: source, kind, target."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, RelationFinding))
        yield from unproved
        relations = [Relation.model_validate(item.data) for item in known if item.type is ExtractType.RELATION]
        seen = {_key(item.source, item.kind, item.target) for item in relations}
        for item in proved:
            names = item.said.source, item.said.target
            missing = next((name for name in names if not is_within(name, item.quote)), None)
            key = _key(item.said.source, item.said.kind, item.said.target)
            if missing is not None:
                yield item.unproved(f"the name {missing!r} is not in the quote")
            elif names[0] != names[1] and key not in seen:
                seen.add(key)
                relation = Relation(source=names[0], kind=item.said.kind, target=names[1])
                yield item.found(ExtractType.RELATION, relation)


def _key(source: str, kind: str, target: str) -> tuple[str, str, str]:
    return source.casefold(), kind, target.casefold()


MAX_SUMMARY = 300
MAX_TOPICS = 8
MAX_TOPIC = 80
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")
_NAME = re.compile(r"(?<=[^\W\d_][\s,;:(])[^\W\d_a-z][\w’'-]+")  # a capital letter in the middle of a sentence


class PageFinding(ModelFinding):
    quote: str = Field(description="The sentence of the text that says most of it, copied letter by letter.")
    summary: str = Field(description="What the text says, in one or two sentences of at most 300 characters.")
    topics: list[str] = Field(default_factory=list, description="What it is about, in up to 8 phrases of the text.")


class ModelPagesExtractor(ProseExtractor):
    """One summary a page, of its first piece that gave a good one."""

    name = "model_pages"
    version = 1
    types = frozenset({ExtractType.PAGE})
    item = PageFinding
    asks = "Exactly one summary of the text, with its topics. No names and no numbers but those of the text."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, PageFinding))
        yield from unproved
        seen = {
            (item.page_number, collapse(PageSummary.model_validate(item.data).summary))
            for item in known
            if item.type is ExtractType.PAGE
        }
        done: set[int] = set()
        for item in proved:
            # a number or a name that the model added
            told = [*_NUMBER.findall(item.said.summary), *_NAME.findall(item.said.summary)]
            strange = next((word for word in told if not item.is_shown(word)), None)
            if strange:
                yield item.unproved(f"the summary names {strange!r}, which is not on the page")
            elif len(item.said.summary) > MAX_SUMMARY or not item.said.summary:
                yield item.unproved(f"the summary has {len(item.said.summary)} characters, not 1 to {MAX_SUMMARY}")
            elif item.page_number not in done and (item.page_number, collapse(item.said.summary)) not in seen:
                done.add(item.page_number)
                topics = [
                    topic for topic in item.said.topics if topic and len(topic) <= MAX_TOPIC and item.is_shown(topic)
                ]
                summary = PageSummary(summary=item.said.summary, topics=tuple(dict.fromkeys(topics[:MAX_TOPICS])))
                yield item.found(ExtractType.PAGE, summary)
