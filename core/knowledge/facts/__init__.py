"""Questions that are answered from extracts alone: no search, no model, each row with its proved footnote."""

from core.knowledge.facts.asking import CitedFact, Facts, FoundFacts, Trouble
from core.knowledge.facts.ontology import KindCount, Ontology
from core.knowledge.facts.query import Comparison, Condition, FactQuery, of_extracts
from core.knowledge.facts.reading import read_query
from core.knowledge.facts.rows import Fact, FactType, to_facts

__all__ = [
    "CitedFact",
    "Comparison",
    "Condition",
    "Fact",
    "FactQuery",
    "FactType",
    "Facts",
    "FoundFacts",
    "KindCount",
    "Ontology",
    "Trouble",
    "of_extracts",
    "read_query",
    "to_facts",
]
