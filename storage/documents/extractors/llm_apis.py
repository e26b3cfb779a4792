"""API endpoints that prose names, as a model finds them."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from pydantic import Field

from core.domain.corpus import Document
from core.domain.extracts import Api, Endpoint, Extract, ExtractorInput, ExtractType, Found, SaidOfPiece, Unproved
from storage.documents.extractors.llm import CONFIDENCE, ModelFinding, ProvedFinding, is_prose, prove, split
from storage.documents.texts.quotes import is_within

_MAY_HOLD = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|get|post|endpoints?|API|request)\b")
_PATH = re.compile(r"(?:https?:/)?/\S+")


class ApiFinding(ModelFinding):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
    path: str = Field(description="As written, such as /piers/{id}.")
    summary: str = Field(default="", description="What it does, in words of the text.")
    base_url: str = Field(default="", description="The address before the path, where the text gives one.")


class ModelApisExtractor:
    """One extract a page, of endpoints that rules did not find in the document."""

    name = "model_api"
    version = 1
    types = frozenset({ExtractType.API})
    item = ApiFinding
    asks = "Each endpoint of an API that the text names with its method (which it may put in words) and its path."

    def reads(self, document: Document) -> bool:
        return is_prose(document) and document.kind not in ("epub", "foundry", "channel")

    def wants(self, text: str) -> bool:
        return "/" in text and _MAY_HOLD.search(text) is not None

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, ApiFinding))
        yield from unproved
        seen = {
            (item.method, item.path)
            for extract in known
            if extract.type is ExtractType.API
            for item in Api.model_validate(extract.data).endpoints
        }
        fresh = []
        for item in proved:
            if not is_within(item.said.path, item.quote) or not _PATH.fullmatch(item.said.path):
                yield item.unproved(f"the path {item.said.path!r} is not in the quote")
            elif (item.said.method, item.said.path) not in seen:
                seen.add((item.said.method, item.said.path))
                fresh.append(item)
        for page_number, on_page in groupby(fresh, key=lambda item: item.page_number):
            yield _to_found(page_number, list(on_page), given.document)


def _to_found(page_number: int, items: Sequence[ProvedFinding[ApiFinding]], document: Document) -> Found:
    bases = {item.said.base_url for item in items if item.said.base_url and item.is_shown(item.said.base_url)}
    api = Api(
        service_name=document.title[:2_000],
        base_url=bases.pop() if len(bases) == 1 else None,
        endpoints=tuple(
            Endpoint(
                page_number=page_number,
                span=(item.span.start, item.span.end),
                method=item.said.method,
                path=item.said.path,
                summary=item.said.summary if item.is_shown(item.said.summary) else "",
            )
            for item in items
        ),
    )
    return Found(
        type=ExtractType.API, page_number=page_number, span=items[0].span, data=api.model_dump(), confidence=CONFIDENCE
    )
