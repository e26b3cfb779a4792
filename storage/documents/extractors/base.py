"""The list of all extractors. A new one is one file in this folder and one line here."""

from collections.abc import Container

from core.ports.documents import Extractor, ModelExtractor
from storage.documents.extractors.anchors import AnchorsExtractor
from storage.documents.extractors.api_specs import ApiSpecsExtractor
from storage.documents.extractors.entities import EntitiesExtractor
from storage.documents.extractors.financial import FinancialExtractor
from storage.documents.extractors.llm_facts import (
    ModelApisExtractor,
    ModelEntitiesExtractor,
    ModelFinancialExtractor,
    ModelPagesExtractor,
    ModelRelationsExtractor,
)
from storage.documents.extractors.llm_meetings import ModelMeetingsExtractor
from storage.documents.extractors.meetings import MeetingsExtractor
from storage.documents.extractors.pages import PagesExtractor
from storage.documents.extractors.relations import RelationsExtractor
from storage.documents.extractors.tables import PdfTableExtractor, TableExtractor


def build_extractors() -> tuple[Extractor, ...]:
    """Return the extractors in the order in which they run."""
    return (
        TableExtractor(),
        PdfTableExtractor(),
        MeetingsExtractor(),
        ApiSpecsExtractor(),
        FinancialExtractor(),
        EntitiesExtractor(),
        RelationsExtractor(),
        AnchorsExtractor(),
        PagesExtractor(),
    )


def build_model_extractors(names: Container[str] | None = None) -> tuple[ModelExtractor, ...]:
    """Return the extractors that ask a model, all or some by name, in the order of its questions.

    One request serves all for a piece.
    """
    extractors: tuple[ModelExtractor, ...] = (
        ModelMeetingsExtractor(),
        ModelApisExtractor(),
        ModelFinancialExtractor(),
        ModelEntitiesExtractor(),
        ModelRelationsExtractor(),
        ModelPagesExtractor(),
    )
    return tuple(item for item in extractors if names is None or item.name in names)
