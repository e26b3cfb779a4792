"""Entities and relations that prose tells of, as a model finds them."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from core.domain.extracts import Entity, Extract, ExtractorInput, ExtractType, Found, Relation, SaidOfPiece, Unproved
from storage.documents.extractors.llm import OfProse, Said, prove, split
from storage.documents.texts.quotes import is_within

MAX_NAME = 120  # characters


class SaidOfEntity(Said):
    name: str = Field(description="As the text writes it in full.", max_length=MAX_NAME)
    kind: Literal["person", "organisation", "place", "product", "project", "event", "term", "creature", "thing"]
    aliases: list[str] = Field(default_factory=list, description="Other names of the same, from this text.")
    definition: str = Field(default="", description="What it is, in words of the quote; empty where it is not said.")


class ModelEntitiesExtractor(OfProse):
    """Each entity once a document, where rules did not find it."""

    name = "model_entities"
    version = 1
    types = frozenset({ExtractType.ENTITY})
    item = SaidOfEntity
    asks = "Each person, organisation, place, product, project, event and special term that matters in the text."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, SaidOfEntity))
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


class SaidOfRelation(Said):
    source: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)
    kind: Literal[
        "part of", "member of", "works for", "leads", "owns", "made by", "uses", "located in", "related to",
        "ally of", "enemy of", "depends on", "replaces", "causes", "short for",
    ]  # fmt: skip
    target: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)


class ModelRelationsExtractor(OfProse):
    """Each relation once a document, where rules did not find it."""

    name = "model_relations"
    version = 1
    types = frozenset({ExtractType.RELATION})
    item = SaidOfRelation
    asks = "How the entities of the text stand to each other, where one sentence names both: source, kind, target."

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, SaidOfRelation))
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
