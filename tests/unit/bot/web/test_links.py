"""Signed links: they name what was signed and nothing else, and end on their day."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.config import Config
from bot.config.sections import WebConfig
from bot.web.links import ExpiredLink, ForgedLink, Links, link_maker, own_address
from core.domain.answer import Citation
from core.domain.conversation import Role
from core.domain.incoming import ThreadAddress
from core.domain.passages import Span
from core.errors import NotFound
from core.work.conversations import Conversations
from tests.builders import build_citation, build_conversation, build_message
from tests.fakes import ManualClock
from tests.stores import Stores

THREAD = ThreadAddress(platform="slack", workspace="T1", channel="C1", thread="1.2")
DAY = 24 * 60 * 60


def links(clock: ManualClock | None = None, **changes: object) -> Links:
    values = {"secret_key": "a key", "days": 180, "public_url": None, **changes}
    return Links(clock=clock or ManualClock(), **values)


def test_a_link_names_passage_page_revision_span_and_thread() -> None:
    citation = build_citation("6b4543b9-2ad0-5cbb-8a27-52f0ff50a02a", revision="391111b761385f4b", passage_id="p 1")
    link = links().read(links().token(citation, THREAD))

    assert link.document_id == "6b4543b9-2ad0-5cbb-8a27-52f0ff50a02a"
    assert (link.passage_id, link.page_number, link.span, link.thread) == ("p 1", 1, Span(3, 16), THREAD)
    assert link.is_of("391111b761385f4b")
    assert not link.is_of("391111b761385aaa"[::-1])
    assert not link.is_of(None)


def test_a_link_says_how_far_its_asker_had_read_and_older_links_do_not() -> None:
    cited = build_citation()
    read = [links().read(links().token(replace(cited, last_page=last), THREAD)).last_page for last in (None, 0, 7)]
    assert read == [None, 0, 7]


def test_a_link_opens_for_its_days_and_then_says_when_it_ended() -> None:
    clock = ManualClock()
    token = links(clock, days=2).token(build_citation(), THREAD)
    clock.advance(2 * DAY)
    links(clock).read(token)
    clock.advance(DAY)

    with pytest.raises(ExpiredLink, match="expired on 04 March 2026"):
        links(clock).read(token)


def test_a_link_of_another_key_is_forged() -> None:
    token = links(secret_key="another").token(build_citation(), THREAD)

    with pytest.raises(ForgedLink):
        links().read(token)


@given(st.data())
def test_a_changed_link_never_opens(data: st.DataObject) -> None:
    token = links().token(build_citation(), THREAD)
    place = data.draw(st.integers(0, len(token) - 2))  # the last character holds bits that say nothing
    changed = (
        token[:place]
        + data.draw(st.sampled_from("Aa0-_.").filter(lambda sign: sign != token[place]))
        + token[place + 1 :]
    )

    with pytest.raises(ForgedLink):
        links().read(changed)


@given(st.text(max_size=50))
def test_nonsense_is_a_forged_link(text: str) -> None:
    with pytest.raises(ForgedLink):
        links().read(text)


def test_with_a_public_address_there_is_a_url_and_without_one_there_is_none() -> None:
    url = links(public_url="https://foot.example").url(build_citation(), THREAD)

    assert url is not None and url.startswith("https://foot.example/s/") and url.endswith("#cited")
    assert links().url(build_citation(), THREAD) is None


def test_a_link_fits_into_a_chat_message_several_times() -> None:
    citation = build_citation("6b4543b9-2ad0-5cbb-8a27-52f0ff50a02a", passage_id="5cc2b891-91ad-54e4-a8dd-8616640d4905")

    assert len(links().path(citation, THREAD)) < 300


# ---------------------------------------------------------------------------------------------------- short links

ANSWER = "0f" * 16


async def stored(citation: Citation, thread: ThreadAddress = THREAD) -> Conversations:
    stores = Stores()
    message = build_message(ANSWER, role=Role.ASSISTANT, citations=(citation,))
    await stores.conversations.add(build_conversation("c1", address=thread), [message])
    return Conversations(stores.conversations, ManualClock())


async def test_a_link_to_a_stored_answer_is_short_and_names_its_footnote() -> None:
    citation = replace(build_citation(), last_page=4)
    token = links().token(citation, THREAD, ANSWER)
    found = await links().open(token, await stored(citation))

    assert len(links().path(citation, THREAD, ANSWER)) < 50
    assert ANSWER not in token
    assert (found.document_id, found.page_number, found.span) == (citation.document_id, 1, citation.span)
    assert (found.thread, found.last_page) == (THREAD, 4)
    assert found.is_of(citation.revision)


async def test_long_links_of_before_still_open() -> None:
    token = links().token(build_citation(), THREAD)

    assert (await links().open(token, await stored(build_citation()))).thread == THREAD


@given(place=st.integers(0, 37), sign=st.sampled_from("Aa0-_."))
async def test_a_changed_short_link_never_opens(place: int, sign: str) -> None:
    token = links().token(build_citation(), THREAD, ANSWER)
    changed = token[:place] + sign + token[place + 1 :]
    assume(changed != token)

    with pytest.raises((ForgedLink, NotFound)):
        await links().open(changed, await stored(build_citation()))


@pytest.mark.parametrize("other", [{"secret_key": "another"}, {}])
async def test_a_short_link_opens_with_its_key_for_its_thread_alone(other: dict[str, object]) -> None:
    thread = THREAD if other else replace(THREAD, thread="9.9")
    token = links(**other).token(build_citation(), THREAD, ANSWER)

    with pytest.raises(ForgedLink):
        await links().open(token, await stored(build_citation(), thread))


async def test_a_short_link_ends_with_its_days_its_answer_and_its_footnote() -> None:
    clock, citation = ManualClock(), build_citation()
    token, history = links().token(citation, THREAD, ANSWER), await stored(citation)
    with pytest.raises(NotFound, match="deleted"):
        await links().open(token, Conversations(Stores().conversations, clock))
    with pytest.raises(NotFound, match="no footnote 7"):
        await links().open(links().token(replace(citation, number=7), THREAD, ANSWER), history)
    clock.advance(400 * DAY)
    with pytest.raises(ExpiredLink):
        await links(clock).open(token, history)


# Where a footnote leads when it is read on a platform elsewhere.
ELSEWHERE = ThreadAddress(platform="discord", workspace="team", channel="1", thread="2")


@pytest.mark.parametrize("url", ["https://example.org/a", "http://example.org/a"])
def test_a_document_on_the_web_has_its_own_address(url: str) -> None:
    assert own_address(build_citation(url=url), ELSEWHERE) == url


@pytest.mark.parametrize("url", [None, "", "obsidian://open?vault=v", "file:///notes/a.md", "javascript:alert(1)"])
def test_what_no_browser_should_open_is_no_address(url: str | None) -> None:
    assert own_address(build_citation(url=url), ELSEWHERE) is None


def test_without_a_public_address_a_footnote_never_leads_to_this_machine(tmp_path: Path) -> None:
    link = link_maker(Config(data_dir=tmp_path), ManualClock())
    assert link(build_citation(url=None), ELSEWHERE, ANSWER) is None
    assert link(build_citation(url="https://example.org/a"), ELSEWHERE, ANSWER) == "https://example.org/a"


def test_with_a_public_address_a_footnote_leads_to_the_source_viewer(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path, web=WebConfig(public_url="https://notes.example"))
    found = link_maker(config, ManualClock())(build_citation(url="https://example.org/a"), ELSEWHERE, ANSWER)
    assert found is not None
    assert found.startswith("https://notes.example/s/")
