"""Nobody is shown a word of a document that somebody in the place may not read, whatever changes meanwhile.

`python -m tests.integration.readers 100000` looks at so many shown texts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core.access import scopes
from core.answering import redaction
from core.answering.context import TurnReader
from core.domain.readers import Audience
from core.service.commands.table import Commands
from core.service.commands.threads import ThreadCommands
from storage.database.repositories import corpus, library_reads
from tests.integration.readers.world import Shown, run_world

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_place_shows_a_word_that_somebody_there_may_not_read(seed: int) -> None:
    shown, leaks = await run_world(seed)

    assert shown > 20
    assert leaks == []


def nothing_withheld(patch: pytest.MonkeyPatch) -> None:
    async def kept(messages: Any, *_: Any, **__: Any) -> list[Any]:
        return list(messages)

    async def nothing(*_: Any) -> set[str]:
        return set()

    patch.setattr(redaction, "_readable", kept)
    patch.setattr(TurnReader, "withdrawn", nothing)


def only_footnotes_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(redaction, "trace", lambda question: None)
    patch.setattr("core.answering.steps.question.trace", lambda question: None)


def no_hidden_documents(patch: pytest.MonkeyPatch) -> None:
    whole = scopes.Grounds.scope
    patch.setattr(
        scopes.Grounds, "scope", lambda self, positions=None: replace(whole(self, positions), hidden=frozenset())
    )


def any_part_is_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Audience, "may_read", lambda self, readers: any(part & readers for part in self.parts))


def the_asker_counts_everywhere(patch: pytest.MonkeyPatch) -> None:
    decide = scopes.Access.decide

    async def alone(self: Any, workspace: str, address: Any = None, reader: Any = None, **_: Any) -> Any:
        return await decide(self, workspace, address, reader, alone=True)

    patch.setattr(scopes.Access, "decide", alone)


def pages_of_any_source(patch: pytest.MonkeyPatch) -> None:
    def every(scope: Any) -> tuple[Any, ...]:
        return (library_reads.SOURCE.c.workspace == scope.workspace, library_reads.true())

    for module in (library_reads, corpus):
        patch.setattr(module, "readable", every)


def lists_and_exports_of_what_one_began(patch: pytest.MonkeyPatch) -> None:
    async def everything(self: Any, call: Any, found: Any) -> Any:
        return found

    patch.setattr(ThreadCommands, "_readable", everything)
    patch.setattr(ThreadCommands, "_in_open_channels", everything)


def exports_of_whole_answers(patch: pytest.MonkeyPatch) -> None:
    async def kept(self: Any, conversation_id: str, workspace: str, scope: Any) -> Any:
        return await self._conversations.show(conversation_id, workspace)

    patch.setattr(redaction.Histories, "show", kept)


def completions_of_every_document(patch: pytest.MonkeyPatch) -> None:
    async def every(self: Any, call: Any) -> Any:
        return await self._library.documents((await self._access.decide(call.workspace))[0].everything())

    patch.setattr(Commands, "_documents", every)


FILTERS: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    nothing_withheld,
    only_footnotes_count,
    no_hidden_documents,
    any_part_is_enough,
    the_asker_counts_everywhere,
    pages_of_any_source,
    lists_and_exports_of_what_one_began,
    exports_of_whole_answers,
    completions_of_every_document,
)


@pytest.mark.parametrize("take_out", FILTERS, ids=lambda take_out: take_out.__name__)
async def test_without_any_one_filter_a_word_leaks(
    take_out: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(monkeypatch)

    assert await first_leak(worlds=60) is not None


async def first_leak(worlds: int) -> Shown | None:
    for seed in range(worlds):
        if leaks := (await run_world(seed))[1]:
            return leaks[0]
    return None
