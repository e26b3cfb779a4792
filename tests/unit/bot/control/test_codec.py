"""Values on the control socket arrive as they were sent, and nothing but values is ever made."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.control.codec import error_from_wire, error_to_wire, from_wire, to_wire
from core.domain.answer import QueryType
from core.domain.conversation import ThreadAddress
from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import Ambiguous, BadInput, FootnoteError, ProviderRateLimited
from core.service.commands import CommandCall, CommandResult, Question, ThreadRow
from tests.builders import build_citation, build_conversation

ADDRESS = ThreadAddress(platform="terminal", workspace="local", channel="cli", thread="t")

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.just("$"), inner)
        | st.frozensets(st.integers() | st.text())
    ),
    max_leaves=12,
)


def there_and_back(value: object) -> object:
    return from_wire(json.loads(json.dumps(to_wire(value), ensure_ascii=True)))


@given(plain)
def test_plain_values_and_containers_arrive_as_they_were(value: object) -> None:
    assert there_and_back(value) == value


@pytest.mark.parametrize(
    "value",
    [
        ADDRESS,
        JobKind.REQUEST,
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        Path("/tmp/a b"),
        Path("/odd/\udcff.md"),
        {("a", 1): [ADDRESS]},
        (ADDRESS, [JobStatus.DONE, None]),
    ],
)
def test_domain_values_arrive_with_their_class(value: object) -> None:
    arrived = there_and_back(value)

    assert arrived == value
    assert type(arrived) is type(value)


def test_commands_and_what_they_give_arrive_whole() -> None:
    row = ThreadRow(
        id="c1",
        title="Keys",
        owner="ada",
        message_count=2,
        last_used_at=datetime(2026, 1, 2, tzinfo=UTC),
        address=ADDRESS,
    )
    values = (
        CommandCall(
            name="ask",
            options={"question": "where?", "private": "true"},
            workspace="local",
            conversation=build_conversation(),
            author="ada",
            address=ADDRESS,
        ),
        CommandResult(text="", ask=Question(text="where?", query_type=QueryType.SUMMARY, private=True)),
        CommandResult(text="1. Keys", rows=(row,), pages=2, renamed=build_conversation(), citation=build_citation()),
    )

    assert there_and_back(values) == values


def test_a_job_with_its_input_arrives_whole() -> None:
    job = Job(
        id="r",
        root_id="r",
        parent_id=None,
        workspace="local",
        kind=JobKind.REQUEST,
        name="answer",
        status=JobStatus.RUNNING,
        input={"question": "why?", "options": ["a", ("b", 2)]},
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )

    assert there_and_back(job) == job
    assert there_and_back(replace(job, status=JobStatus.DONE)) != job


@pytest.mark.parametrize(
    "error",
    [
        BadInput("The question is empty."),
        Ambiguous("Several fit.", candidates=("a", "b")),
        ProviderRateLimited("Slow down.", retry_after_seconds=2.5),
    ],
)
def test_errors_arrive_with_class_sentence_and_details(error: FootnoteError) -> None:
    arrived = error_from_wire(json.loads(json.dumps(error_to_wire(error))))

    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))


def test_an_error_of_a_newer_version_is_still_an_error() -> None:
    arrived = error_from_wire({"class": "FromTheFuture", "message": "No.", "details": {}})

    assert (type(arrived), str(arrived)) == (FootnoteError, "No.")


@pytest.mark.parametrize(
    "plain",
    [
        {"$": "subprocess:Popen", "fields": {"args": "true"}},
        {"$": "bot.cli.session:Session.run", "fields": {}},
        {"$": "bot.control.codec:to_wire", "fields": {}},
        {"$": "core.nowhere:Thing", "fields": {}},
        {"$": "core.domain.conversation:ThreadAddress", "fields": {"platform": "x"}},
        {"$": "core.domain.conversation:ThreadAddress"},
        {"$": "core.domain.jobs:JobKind", "value": "no such kind"},
        {"$": ["tuple"]},
    ],
)
def test_nothing_but_known_values_is_made(plain: object) -> None:
    with pytest.raises(ValueError):
        from_wire(plain)


def test_what_has_no_form_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="a object can't be sent"):
        to_wire(object())
