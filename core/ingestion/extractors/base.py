"""All extractors: one visible list. A new one is one file beside this and one line here."""

from core.ingestion.extractors.anchors import AnchorsExtractor
from core.ingestion.extractors.api_specs import ApiSpecsExtractor
from core.ingestion.extractors.entities import EntitiesExtractor
from core.ingestion.extractors.financial import FinancialExtractor
from core.ingestion.extractors.llm_apis import ModelApisExtractor
from core.ingestion.extractors.llm_entities import ModelEntitiesExtractor, ModelRelationsExtractor
from core.ingestion.extractors.llm_financial import ModelFinancialExtractor
from core.ingestion.extractors.llm_meetings import ModelMeetingsExtractor
from core.ingestion.extractors.llm_pages import ModelPagesExtractor
from core.ingestion.extractors.meetings import MeetingsExtractor
from core.ingestion.extractors.pages import PagesExtractor
from core.ingestion.extractors.pdf_tables import PdfTableExtractor
from core.ingestion.extractors.relations import RelationsExtractor
from core.ingestion.extractors.tables import TableExtractor
from core.ports.documents import Extractor, ModelExtractor


def build_extractors() -> tuple[Extractor, ...]:
    """In the order in which they are run."""
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


def build_model_extractors() -> tuple[ModelExtractor, ...]:
    """Those that ask a model, in the order in which it is asked; all with one request for each piece of a page."""
    return (
        ModelMeetingsExtractor(),
        ModelApisExtractor(),
        ModelFinancialExtractor(),
        ModelEntitiesExtractor(),
        ModelRelationsExtractor(),
        ModelPagesExtractor(),
    )
