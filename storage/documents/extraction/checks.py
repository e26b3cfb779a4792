"""What extractors found, checked before it is stored: against its schema, and against the pages it is said to be on."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from core.domain.corpus import NAMESPACE, Page
from core.domain.extracts import SCHEMAS, Extract, Extraction, ExtractorInput, Found, Unproved, Unread, schema_name
from core.ports.documents import Extractor, ModelExtractor

MOST_EXTRACTS = 20_000  # of one extractor in one document: more is a broken document, not data


@dataclass(frozen=True, slots=True)
class Checked:
    """What may be stored; in a sentence each what was refused or went wrong, and what a bound left out."""

    extracts: Sequence[Extract]
    error: str | None = None
    warning: str | None = None


def to_extracts(
    found: Iterable[Found | Unproved | Unread], extractor: Extractor | ModelExtractor, given: ExtractorInput
) -> Checked:
    """All that fits; what is refused of it, or was not read, is counted, and the first of each told."""
    pages = {page.number: page for page in given.pages}
    extracts: dict[str, Extract] = {}
    refused: list[str] = []
    unread: list[str] = []
    total = 0
    for item in found:
        if isinstance(item, Unread):
            unread.append(f"page {item.page_number}: {item.reason}")
            continue
        total += 1
        reason = item.reason if isinstance(item, Unproved) else _why_refused(item, extractor, pages)
        if reason is not None:
            refused.append(reason)
        elif isinstance(item, Found) and len(extracts) < MOST_EXTRACTS:
            extract = _to_extract(item, extractor, given, pages[item.page_number], len(extracts))
            extracts[extract.id] = extract
    if total - len(refused) > MOST_EXTRACTS:
        unread.append(f"{total - len(refused):,} were found, and only {MOST_EXTRACTS:,} are kept")
    error = f"refused {len(refused)} of {total}: {refused[0]}" if refused else None
    return Checked(tuple(extracts.values()), error, in_short(unread))


def to_extraction(
    checked: Checked, extractor: Extractor | ModelExtractor, given: ExtractorInput, at: datetime
) -> Extraction:
    """The run of an extractor over a document, as it is stored with what came of it."""
    return Extraction(
        document_id=given.document.id,
        extractor=extractor.name,
        version=extractor.version,
        revision=given.pages[0].revision,
        extracts=len(checked.extracts),
        extracted_at=at,
        error=checked.error,
        warning=checked.warning,
    )


def in_short(reasons: Sequence[str]) -> str | None:
    """The first of some sentences, and how many more there are."""
    if not reasons:
        return None
    return f"{reasons[0]}; and {len(reasons) - 1} more" if len(reasons) > 1 else reasons[0]


def _why_refused(item: Found, extractor: Extractor | ModelExtractor, pages: dict[int, Page]) -> str | None:
    page = pages.get(item.page_number)
    if item.type not in extractor.types:
        return f"{extractor.name} finds no {item.type.value}"
    if page is None:
        return f"there is no page {item.page_number}"
    if not 0 <= item.span.start < item.span.end <= len(page.text):
        return f"its place {item.span.start}-{item.span.end} is not on page {item.page_number}"
    if not 0 <= item.confidence <= 1:
        return f"its confidence {item.confidence} is not between 0 and 1"
    try:
        SCHEMAS[item.type][1].model_validate(item.data)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


def _to_extract(
    item: Found, extractor: Extractor | ModelExtractor, given: ExtractorInput, page: Page, place: int
) -> Extract:
    document = given.document
    name = f"extract\x1f{document.id}\x1f{page.revision}\x1f{extractor.name}\x1f{place}"
    return Extract(
        id=str(uuid.uuid5(NAMESPACE, name)),
        document_id=document.id,
        document=document.path,
        document_title=document.title,
        source_id=document.source_id,
        page_id=page.id,
        page_number=page.number,
        revision=page.revision,
        extractor=extractor.name,
        type=item.type,
        schema=schema_name(item.type),
        span=item.span,
        confidence=item.confidence,
        data=SCHEMAS[item.type][1].model_validate(item.data).model_dump(mode="json"),
    )
