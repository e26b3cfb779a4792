"""All extractors: one visible list. A new one is one file beside this and one line here."""

from core.extract_ports import Extractor
from core.ingestion.extractors.anchors import AnchorsExtractor
from core.ingestion.extractors.api_specs import ApiSpecsExtractor
from core.ingestion.extractors.entities import EntitiesExtractor
from core.ingestion.extractors.financial import FinancialExtractor
from core.ingestion.extractors.meetings import MeetingsExtractor
from core.ingestion.extractors.pages import PagesExtractor
from core.ingestion.extractors.pdf_tables import PdfTableExtractor
from core.ingestion.extractors.relations import RelationsExtractor
from core.ingestion.extractors.tables import TableExtractor


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
