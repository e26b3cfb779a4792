"""Operations about the quality of answers: evaluation, replay, the check of claims and of exported answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.service.calls import OperationContext, operation
from bot.service.worker import warm
from core.answering.support.check import Claim
from core.domain.corpus import SearchQuery
from core.domain.features import Replayed, StoredCassette
from core.domain.support import Judgement
from core.features.evaluation import FoundPage, GoldQuestion, holds_quote
from core.features.verification import Verification, Verifier
from core.text.markup import is_row

SHEETS = frozenset({"csv", "spreadsheet"})  # kinds of documents that are nothing but tables


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    message_id: str
    is_case: bool


@operation
async def load_models(context: OperationContext, request: None) -> None:
    """Load the models of questions, as a service does when it starts: the first one takes no longer than others."""
    await warm(context.parts)


@operation
async def search_for_evaluation(context: OperationContext, request: SearchQuery) -> list[FoundPage]:
    """Search pages, with their whole text."""
    scope = await context.scope()
    hits = await context.parts.library.search(request, scope)
    pages = [(hit, await context.parts.stores.corpus.get_page(hit.page_id, scope)) for hit in hits]
    return [FoundPage(document=hit.document.path, text=page.text) for hit, page in pages]


@operation
async def read_page_text(context: OperationContext, request: str) -> str:
    return (await context.parts.stores.corpus.get_page(request, await context.scope())).text


@operation
async def is_in_table(context: OperationContext, request: GoldQuestion) -> bool:
    """Return whether the gold quote is in a row of a table of its document."""
    if request.document is None or request.quote is None:
        return False
    scope, corpus = await context.scope(), context.parts.stores.corpus
    documents = [item for item in await corpus.list_readable(scope) if item.path == request.document]
    for document in documents:
        if document.kind in SHEETS:
            return True
        for page in await corpus.list_pages(document.id, scope):
            if any(is_row(line) and holds_quote(line, request.quote) for line in page.text.splitlines()):
                return True
    return False


@operation
async def play_cases(context: OperationContext, request: None) -> list[tuple[StoredCassette, Replayed]]:
    return [*await context.parts.cassettes.play_cases(context.workspace)]


@operation
async def list_recordings(context: OperationContext, request: None) -> list[StoredCassette]:
    return await context.parts.cassettes.list_runs(context.workspace)


@operation
async def replay(context: OperationContext, request: str) -> Replayed:
    return await context.parts.cassettes.replay(request, context.workspace)


@operation
async def set_case(context: OperationContext, request: CaseChange) -> StoredCassette:
    return await context.parts.cassettes.set_case(request.message_id, context.workspace, is_case=request.is_case)


@operation
async def judge_claims(context: OperationContext, request: Sequence[Claim]) -> list[Judgement]:
    """Judge sentences against their quotes, without the library."""
    return await context.parts.support.judge(request)


@operation
async def verify_answer(context: OperationContext, request: Mapping[str, Any]) -> Verification:
    """Check an exported answer against the library."""
    stores = context.parts.stores
    verifier = Verifier(corpus=stores.corpus, conversations=stores.conversations, check=context.parts.support)
    return await verifier.verify(request, await context.scope())
