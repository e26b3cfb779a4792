"""What a question may read. Made here and nowhere else; applied inside every index and page read."""

from collections.abc import Mapping

from core.domain.corpus import SearchScope
from core.ports import CorpusRepository


async def scope_for(
    workspace: str, corpus: CorpusRepository, positions: Mapping[str, int] | None = None
) -> SearchScope:
    """The scope of a local question: every source of the workspace, up to the reading positions.

    Grants per channel and person join here, when sources can be given readers.
    """
    sources = await corpus.list_sources(workspace)
    return SearchScope(
        workspace=workspace, sources=frozenset(source.id for source in sources), positions=dict(positions or {})
    )
