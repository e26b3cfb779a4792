"""Nobody is shown a word of a document that somebody in the place may not read, whatever changes meanwhile.

`python -m tests.integration.readers 100000` looks at so many shown texts, and `python -m tests.integration.readers
mutations` takes out each filter in turn; docs/evaluation.md has the results.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.presentation import answer_actions
from bot.web import audiences
from bot.web.api import auth, chat
from bot.web.audiences import WebAudiences
from bot.web.pages import documents, extracts, library, source
from bot.web.parts import PARTS
from core.access import scopes
from core.access.identity import ApiAudiences
from core.answering import redaction
from core.answering.context import TurnReader
from core.answering.steps import private_answers, question
from core.domain.kept_answers import KeptRule
from core.domain.readers import Audience
from core.features import review
from core.features.review import Reviews
from core.features.staleness import stale_answers, stale_notes
from core.features.statistics import UsageStatistics
from core.knowledge.narrowing import Narrower
from core.service.commands import threads
from core.service.commands.table import Commands
from core.service.commands.threads import ThreadCommands
from storage.database.repositories import corpus, library_reads, replay
from tests.integration.readers.acts import Shown, run_world
from tests.integration.readers.browsers import Browsers

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


def answers_without_a_last_look(patch: pytest.MonkeyPatch) -> None:
    async def nothing(self: Any, question: Any) -> None: ...

    patch.setattr(question.LastCheck, "__call__", nothing)


def files_of_any_thread(patch: pytest.MonkeyPatch) -> None:
    ground = scopes._ground

    def everywhere(source: Any, address: Any, settings: Any) -> scopes.Ground:
        found = ground(source, address, settings)
        return scopes.Ground.ATTACHED_HERE if found is scopes.Ground.ATTACHED_ELSEWHERE else found

    patch.setattr(scopes, "_ground", everywhere)


def kept_answers_for_everyone(patch: pytest.MonkeyPatch) -> None:
    rules = corpus.SqlCorpusRepository.kept_rules

    async def of_all(self: Any, workspace: str) -> Any:
        return [replace(rule, readers=frozenset({"everyone"})) for rule in await rules(self, workspace)]

    patch.setattr(corpus.SqlCorpusRepository, "kept_rules", of_all)


def kept_answers_without_their_documents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KeptRule, "holds", lambda *_: True)


def proposals_for_any_reviewer(patch: pytest.MonkeyPatch) -> None:
    async def always(*_: Any) -> bool:
        return True

    patch.setattr(scopes.Access, "may_review", always)


def questions_for_any_reviewer(patch: pytest.MonkeyPatch) -> None:
    async def always(*_: Any) -> bool:
        return True

    patch.setattr(Reviews, "_reads", always)


def names_of_closed_stale_documents(patch: pytest.MonkeyPatch) -> None:
    async def kept(found: Any, *_: Any) -> list[Any]:
        return list(found)

    for module in (stale_answers, stale_notes, review):
        patch.setattr(module, "without_closed_names", kept)


def shared_answers_unchecked(patch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None: ...

    async def always(*_: Any) -> bool:
        return True

    patch.setattr(private_answers.Sharing, "_check_footnotes", nothing)
    patch.setattr(private_answers, "_is_beyond", lambda *_: False)
    patch.setattr(private_answers, "may_show", always)


def browsers_as_the_owner(patch: pytest.MonkeyPatch) -> None:
    async def operator(*_: Any) -> Audience:
        return Audience(is_operator=True)

    patch.setattr(WebAudiences, "of_person", operator)


def pages_of_the_whole_library(patch: pytest.MonkeyPatch) -> None:
    async def whole(request: Any) -> Any:
        return request.app[PARTS], await request.app[PARTS].scope(None, None)

    for module in (documents, extracts, library, source):
        patch.setattr(module, "visit", whole)


def links_that_ask_nobody(patch: pytest.MonkeyPatch) -> None:
    scope = Browsers._scope

    async def whole(self: Any, thread: Any, reader: Any = None) -> Any:
        return await scope(self, thread if thread is None or thread.platform == "web" else None, reader)

    patch.setattr(Browsers, "_scope", whole)


def statistics_of_all_questions(patch: pytest.MonkeyPatch) -> None:
    of = UsageStatistics.of

    async def every(self: Any, scope: Any, *args: Any, **_: Any) -> Any:
        return await of(self, scope, *args)

    patch.setattr(UsageStatistics, "of", every)


def recordings_of_removed_documents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corpus.redaction, "forget", lambda *_, **__: None)  # it deletes them; without it, they are hidden
    patch.setattr(replay, "_IS_COMPLETE", library_reads.true())


def steps_of_closed_answers(patch: pytest.MonkeyPatch) -> None:
    async def whole(jobs: Any, *_: Any) -> list[Any]:
        return list(jobs)

    for module in (answer_actions, threads):
        patch.setattr(module, "readable_steps", whole)


def one_limit_of_a_document_is_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Audience,
        "may_read_narrowed",
        lambda self, limits: not limits or any(self.may_read(readers) for readers in limits),
    )


def a_sync_that_closes_nothing_before_its_texts(patch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None: ...

    patch.setattr(Narrower, "close", nothing)


def groups_of_everybody_who_signs_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(audiences, "group_readers", lambda names: frozenset({"group:crew"}))


def tokens_that_read_the_whole_workspace(patch: pytest.MonkeyPatch) -> None:
    caller = auth._caller

    async def of_all(*args: Any) -> Any:
        found = await caller(*args)
        return found and replace(found, reads_all=True)

    patch.setattr(auth, "_caller", of_all)


def people_of_tokens_as_the_operator(patch: pytest.MonkeyPatch) -> None:
    async def operator(*_: Any) -> Audience:
        return Audience(is_operator=True)

    patch.setattr(ApiAudiences, "of_person", operator)


def answers_of_the_api_as_they_were(patch: pytest.MonkeyPatch) -> None:
    async def given(_: Any, outcome: Any) -> Any:
        return outcome

    patch.setattr(chat, "_as_readable", given)


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
    answers_without_a_last_look,
    files_of_any_thread,
    kept_answers_for_everyone,
    kept_answers_without_their_documents,
    proposals_for_any_reviewer,
    questions_for_any_reviewer,
    names_of_closed_stale_documents,
    shared_answers_unchecked,
    browsers_as_the_owner,
    pages_of_the_whole_library,
    links_that_ask_nobody,
    statistics_of_all_questions,
    recordings_of_removed_documents,
    steps_of_closed_answers,
    one_limit_of_a_document_is_enough,
    a_sync_that_closes_nothing_before_its_texts,
    groups_of_everybody_who_signs_in,
    tokens_that_read_the_whole_workspace,
    people_of_tokens_as_the_operator,
    answers_of_the_api_as_they_were,
)


@pytest.mark.parametrize("take_out", FILTERS, ids=lambda take_out: take_out.__name__)
async def test_without_any_one_filter_a_word_leaks(
    take_out: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(monkeypatch)

    assert await first_leak(worlds=200) is not None


async def first_leak(worlds: int) -> tuple[int, Shown] | None:
    """Return the first leak, with the number of the world; None without one in so many."""
    for seed in range(worlds):
        if leaks := (await run_world(seed))[1]:
            return seed + 1, leaks[0]
    return None
