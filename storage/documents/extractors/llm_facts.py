"""Endpoints, figures, entities, relations and page summaries that a model finds in prose, where rules did not."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from pydantic import Field

from core.domain.corpus import Document
from core.domain.extracts import (
    Api,
    Endpoint,
    Entity,
    ExtractType,
    Figure,
    Financial,
    Found,
    PageSummary,
    Relation,
    Unproved,
)
from core.domain.passages import Span
from core.text.words import collapse
from storage.documents.extractors.llm import NO_PROSE, ModelFinding, ProseExtractor, ProvedFinding
from storage.documents.tables.accounts import read_amount
from storage.documents.texts.quotes import is_within, plain_quote

_MAY_HOLD_API = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|get|post|endpoints?|API|request)\b")
_PATH = re.compile(r"(?:https?:/)?/\S+")


class ApiFinding(ModelFinding):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
    path: str = Field(description="As written, such as /piers/{id}.")
    summary: str = Field(default="", description="What it does, in words of the text.")
    base_url: str = Field(default="", description="The address before the path, where the text gives one.")


class ModelApisExtractor(ProseExtractor[ApiFinding, Api]):
    """One extract a page, of new endpoints of the document."""

    name = "model_api"
    finds = ExtractType.API
    schema = Api
    item = ApiFinding
    asks = "Each endpoint of an API that the text names with its method (which it may put in words) and its path."
    left_out = NO_PROSE | {"epub", "foundry", "channel"}

    def wants(self, text: str) -> bool:
        return "/" in text and _MAY_HOLD_API.search(text) is not None

    def choose(
        self, proved: Sequence[ProvedFinding[ApiFinding]], known: Sequence[tuple[int, Api]], document: Document
    ) -> Iterator[Found | Unproved]:
        seen = {(item.method, item.path) for _, api in known for item in api.endpoints}
        fresh = []
        for item in proved:
            if not is_within(item.said.path, item.quote) or not _PATH.fullmatch(item.said.path):
                yield item.unproved(f"the path {item.said.path!r} is not in the quote")
            elif (item.said.method, item.said.path) not in seen:
                seen.add((item.said.method, item.said.path))
                fresh.append(item)
        for page_number, on_page in groupby(fresh, key=lambda item: item.page_number):
            items = list(on_page)
            yield self.found(page_number, items[0].span, _to_api(items, document))


def _to_api(items: Sequence[ProvedFinding[ApiFinding]], document: Document) -> Api:
    bases = {item.said.base_url for item in items if item.said.base_url and item.is_shown(item.said.base_url)}
    endpoints = (
        Endpoint(
            **item.place,
            method=item.said.method,
            path=item.said.path,
            summary=item.said.summary if item.is_shown(item.said.summary) else "",
        )
        for item in items
    )
    base_url = bases.pop() if len(bases) == 1 else None
    return Api(service_name=document.title[:2_000], base_url=base_url, endpoints=tuple(endpoints))


_MAY_HOLD_FIGURE = re.compile(
    r"[$€£¥₹%]|\b(?:USD|EUR|GBP|JPY|CHF|million|billion|revenue|income|profit|cost|budget)\b", re.I
)


class FigureFinding(ModelFinding):
    metric: str = Field(description="What is measured, as the text names it: revenue, net income ...")
    amount: str = Field(description="The number as written, with its currency, its sign and words such as million.")
    period: str = Field(default="", description="When, as written: 2024, Q1 2024 ...; empty where it is not said.")


class ModelFinancialExtractor(ProseExtractor[FigureFinding, Financial]):
    """One extract a page, of new figures on it."""

    name = "model_financial"
    finds = ExtractType.FINANCIAL
    schema = Financial
    item = FigureFinding
    asks = "Each financial figure of an organisation that a sentence gives: what is measured, how much, when."
    left_out = NO_PROSE | {"epub", "foundry"}

    def wants(self, text: str) -> bool:
        return any(map(str.isdigit, text)) and _MAY_HOLD_FIGURE.search(text) is not None

    def choose(
        self, proved: Sequence[ProvedFinding[FigureFinding]], known: Sequence[tuple[int, Financial]], document: Document
    ) -> Iterator[Found | Unproved]:
        taken = [row for _, financial in known for row in financial.rows]
        figures = []
        for item in proved:
            figure = _to_figure(item)
            if isinstance(figure, Unproved):
                yield figure
            elif not any(_is_same(figure, other) for other in taken):
                taken.append(figure)
                figures.append(figure)
        for page_number, on_page in groupby(figures, key=lambda figure: figure.page_number):
            rows = tuple(on_page)
            span = Span(min(row.span[0] for row in rows), max(row.span[1] for row in rows))
            yield self.found(page_number, span, Financial(rows=rows))


def _to_figure(item: ProvedFinding[FigureFinding]) -> Figure | Unproved:
    said = item.said
    if not is_within(said.amount, item.quote):
        return item.unproved(f"the amount {said.amount!r} is not in the quote")
    if not item.is_shown(said.metric):
        return item.unproved(f"the metric {said.metric!r} is not on the page")
    amount = read_amount(plain_quote(said.amount))
    if amount is None:
        return item.unproved(f"{said.amount!r} is not one number")
    return Figure(
        **item.place,
        period=said.period if item.is_shown(said.period) else None,
        metric=said.metric[:2_000],
        value=amount.value,
        unit=amount.unit,
        text=said.amount,
    )


def _is_same(one: Figure, other: Figure) -> bool:
    """Return whether a number is the same one, at an overlapping place."""
    near = one.page_number == other.page_number and one.span[0] < other.span[1] and other.span[0] < one.span[1]
    return near and one.value == other.value


MAX_NAME = 120  # characters


class EntityFinding(ModelFinding):
    name: str = Field(description="As the text writes it in full.", max_length=MAX_NAME)
    kind: Literal["person", "organisation", "place", "product", "project", "event", "term", "creature", "thing"]
    aliases: list[str] = Field(default_factory=list, description="Other names of the same, from this text.")
    definition: str = Field(default="", description="What it is, in words of the quote; empty where it is not said.")


class ModelEntitiesExtractor(ProseExtractor[EntityFinding, Entity]):
    """Each new entity once a document."""

    name = "model_entities"
    finds = ExtractType.ENTITY
    schema = Entity
    item = EntityFinding
    asks = "Each person, organisation, place, product, project, event and special term that matters in the text."

    def choose(
        self, proved: Sequence[ProvedFinding[EntityFinding]], known: Sequence[tuple[int, Entity]], document: Document
    ) -> Iterator[Found | Unproved]:
        seen = {name.casefold() for _, entity in known for name in (entity.name, *entity.aliases)}
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
                yield self.found(item.page_number, item.span, entity)


class RelationFinding(ModelFinding):
    source: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)
    kind: Literal[
        "part of", "member of", "works for", "leads", "owns", "made by", "uses", "located in", "related to",
        "ally of", "enemy of", "depends on", "replaces", "causes", "short for",
    ]  # fmt: skip
    target: str = Field(description="A name, as the quote writes it.", max_length=MAX_NAME)


class ModelRelationsExtractor(ProseExtractor[RelationFinding, Relation]):
    """Each new relation once a document."""

    name = "model_relations"
    finds = ExtractType.RELATION
    schema = Relation
    item = RelationFinding
    asks = "How the entities of the text stand to each other, where one sentence names both: source, kind, target."

    def choose(
        self,
        proved: Sequence[ProvedFinding[RelationFinding]],
        known: Sequence[tuple[int, Relation]],
        document: Document,
    ) -> Iterator[Found | Unproved]:
        seen = {_key(item.source, item.kind, item.target) for _, item in known}
        for item in proved:
            names = item.said.source, item.said.target
            missing = next((name for name in names if not is_within(name, item.quote)), None)
            key = _key(item.said.source, item.said.kind, item.said.target)
            if missing is not None:
                yield item.unproved(f"the name {missing!r} is not in the quote")
            elif names[0] != names[1] and key not in seen:
                seen.add(key)
                relation = Relation(source=names[0], kind=item.said.kind, target=names[1])
                yield self.found(item.page_number, item.span, relation)


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


class ModelPagesExtractor(ProseExtractor[PageFinding, PageSummary]):
    """One summary a page, of its first piece that gave a good one."""

    name = "model_pages"
    finds = ExtractType.PAGE
    schema = PageSummary
    item = PageFinding
    asks = "Exactly one summary of the text, with its topics. No names and no numbers but those of the text."

    def choose(
        self, proved: Sequence[ProvedFinding[PageFinding]], known: Sequence[tuple[int, PageSummary]], document: Document
    ) -> Iterator[Found | Unproved]:
        seen = {(page_number, collapse(page.summary)) for page_number, page in known}
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
                yield self.found(item.page_number, item.span, summary)
