"""Kinds of entities and relations in the library, and the other names of a thing. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.domain.corpus import Document
from core.domain.extracts import Entity, Extract, ExtractType, Relation

EXAMPLES = 5  # names of a kind, the most frequent first


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """A kind of entities or of relations, with the number of finds."""

    kind: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ontology:
    """Kinds, the most frequent first; aliases by name."""

    entities: tuple[KindCount, ...]
    relations: tuple[KindCount, ...]
    aliases: Mapping[str, tuple[str, ...]]  # name -> its other names
    extracts: Mapping[ExtractType, int]

    def names(self) -> dict[str, frozenset[str]]:
        """Return every name, casefolded, with all names of the same thing."""
        groups: defaultdict[str, set[str]] = defaultdict(set)
        for name, others in self.aliases.items():
            same = {each.casefold() for each in (name, *others)}
            for each in same:
                groups[each] |= same
        return {name: frozenset(same) for name, same in groups.items()}


def build_ontology(
    entities: Sequence[Extract],
    relations: Sequence[Extract],
    documents: Iterable[Document],
    counts: Mapping[ExtractType, int],
) -> Ontology:
    """Build it from entities and relations; the aliases of a document are other names of its title."""
    things = [Entity.model_validate(extract.data) for extract in entities]
    links = [Relation.model_validate(extract.data) for extract in relations]
    aliases: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for thing in things:
        aliases[thing.name].update(dict.fromkeys(thing.aliases))
    for document in documents:
        aliases[document.title].update(dict.fromkeys(document.aliases))
    return Ontology(
        entities=_kinds((thing.kind, thing.name) for thing in things),
        relations=_kinds((link.kind, f"{link.source} → {link.target}") for link in links),
        aliases={
            name: tuple(other for other in others if other.casefold() != name.casefold())
            for name, others in sorted(aliases.items())
            if any(other.casefold() != name.casefold() for other in others)
        },
        extracts=dict(counts),
    )


def _kinds(found: Iterable[tuple[str, str]]) -> tuple[KindCount, ...]:
    named: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, name in found:
        named[kind][name] += 1
    kinds = (
        KindCount(kind=kind, count=names.total(), examples=tuple(name for name, _ in names.most_common(EXAMPLES)))
        for kind, names in named.items()
    )
    return tuple(sorted(kinds, key=lambda item: (-item.count, item.kind)))
