"""Whatever goes into SQLite comes back: properties over arbitrary texts, spans and nested arguments."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.answer import Citation, Reference, ReferenceType
from core.domain.chat import ToolInvocation
from core.domain.conversation import Role, ToolCallRecord
from core.domain.corpus import Heading, Page, passage_id
from core.domain.passages import Passage, Span
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.text import to_storable_value
from tests.builders import build_conversation, build_document, build_message, build_scope, build_source

SOURCE = build_source()
TEXT = st.text(st.characters() | st.sampled_from("\x00\ud800\udfff\U0001f600\U00010000"), max_size=60)
TEXTS = st.lists(TEXT, max_size=4).map(tuple)
SPANS = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 2**31), st.integers(0, 99))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)
REFERENCES = st.builds(
    Reference,
    type=st.sampled_from(ReferenceType),
    label=TEXT,
    document=st.none() | TEXT,
    snippet=TEXT,
    near=st.lists(TEXT, max_size=2).map(tuple),
)
CITATIONS = st.builds(
    Citation,
    number=st.integers(1, 99),
    source=TEXT,
    document=TEXT,
    document_id=TEXT,
    document_title=TEXT,
    page_id=TEXT,
    page_number=st.integers(1, 9999),
    heading_path=TEXTS,
    quote=TEXT,
    span=SPANS,
    revision=TEXT,
    url=st.none() | TEXT,
    proved=st.booleans(),
)
TOOL_CALLS = st.builds(
    ToolCallRecord,
    invocation=st.builds(ToolInvocation, id=TEXT, name=TEXT, arguments=st.dictionaries(TEXT, JSON)),
    text=TEXT,
    passage_ids=TEXTS,
    is_error=st.booleans(),
)
MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
async def database(tmp_path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "footnote.db")
    yield opened
    await opened.close()


_ids = itertools.count()


@st.composite
def revisions(draw) -> tuple[Page, list[Passage]]:
    """A page of any text, cut into passages at any places."""
    text = draw(TEXT.filter(bool))
    document = build_document()
    page = Page(
        id="page",
        document_id=document.id,
        revision="r1",
        number=draw(st.integers(1, 2**31 - 1)),
        title=draw(TEXT),
        text=text,
        heading_path=draw(TEXTS),
        headings=tuple(
            draw(st.lists(st.builds(Heading, level=st.integers(1, 6), title=TEXT, start=st.integers(0, 2**31))))
        ),
        anchors=tuple(draw(st.lists(st.tuples(TEXT, st.integers(0, 2**31)), max_size=3))),
        deep_link=draw(st.none() | TEXT),
    )
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
    passages = [
        Passage(
            id=passage_id("local", document.id, "r1", ordinal),
            document_id=document.id,
            page_id=page.id,
            page_number=page.number,
            revision="r1",
            ordinal=ordinal,
            span=Span(start, end),
            text=text[start:end],
            heading_path=draw(TEXTS),
            sentences=tuple(draw(st.lists(SPANS, max_size=3))),
        )
        for ordinal, (start, end) in enumerate(itertools.pairwise(cuts))
    ]
    return page, passages


@MANY
@given(revision=revisions())
async def test_any_page_and_its_passages_come_back(database, revision):
    page, passages = revision
    corpus, scope = SqlCorpusRepository(database), build_scope(SOURCE)
    await corpus.save_source(SOURCE)
    await corpus.switch_revision(build_document(source=SOURCE), [page], passages)
    stored_page, stored = await asyncio.gather(
        corpus.get_page(page.id, scope), corpus.list_passages([passage.id for passage in passages], scope)
    )
    assert stored_page == to_storable_value(page)
    assert [item.passage for item in stored] == to_storable_value(passages)
    assert all(item.passage.span.of(stored_page.text) == item.passage.text for item in stored)


@MANY
@given(
    content=TEXT,
    role=st.sampled_from(Role),
    references=st.lists(REFERENCES, max_size=2).map(tuple),
    citations=st.lists(CITATIONS, max_size=2).map(tuple),
    tool_calls=st.lists(TOOL_CALLS, max_size=2).map(tuple),
)
async def test_any_message_comes_back(database, content, role, references, citations, tool_calls):
    id = f"c{next(_ids)}"
    message = build_message(
        id,
        content,
        conversation_id=id,
        role=role,
        references=references,
        citations=citations,
        tool_calls=tool_calls,
    )
    conversations = SqlConversationRepository(database)
    await conversations.add(build_conversation(id))
    await conversations.append(id, [message])
    assert await conversations.list_messages(id) == [to_storable_value(message)]
