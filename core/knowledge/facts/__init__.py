"""Questions answered from extracts: no search, no model, a proved footnote for each row."""

from core.knowledge.facts.lookup import CitedFact, Facts, FoundFacts, Trouble
from core.knowledge.facts.ontology import KindCount, Ontology
from core.knowledge.facts.query import Comparison, Condition, FactQuery, of_extracts, read_query, read_types
from core.knowledge.facts.rows import EXTRACT_TYPES, Fact, FactType, Value, to_facts

__all__ = [
    "EXTRACT_TYPES",
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
    "Value",
    "of_extracts",
    "read_query",
    "read_types",
    "to_facts",
]
