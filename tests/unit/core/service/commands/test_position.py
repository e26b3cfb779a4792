"""How far a person and a channel have read: shown, set, taken away, and kept to by what else the table reads."""

import time

import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import TO_THE_END, PersonAddress
from core.errors import AccessDenied, BadInput, NotFound
from core.service.commands.settings import parse_position
from tests.unit.core.service.commands.counter import HERE, Counter, stocked

ADA = PersonAddress(workspace="local", person="ada")
CHANNEL = ChannelAddress.of(HERE)
TOWER = "local/handbook/tower.md"


@pytest.fixture
async def run() -> Counter:
    counter = await stocked()
    pages = ("# Chapter 1: Salt\n\nA lamp burns.", "# Chapter 2: Storm\n\nThe lamp breaks.", "# Chapter 3\n\nMorning.")
    await counter.shelf.add("tower.md", *pages, title="The Tower")
    return counter


@pytest.mark.parametrize(
    ("argument", "last"),
    [
        ("tower.md 2", 2),
        ("The Tower chapter 2", 2),
        ('"The Tower" Chapter 2: Storm', 2),
        ("tower.md=chapter two", 2),
        ("The Tower the end", TO_THE_END),
        ("The Tower in the middle of chapter 2", 1),
        ("The Tower not started", 0),
    ],
)
async def test_somebody_sets_their_own_position_by_page_or_chapter(run: Counter, argument: str, last: int) -> None:
    result = await run("position", argument)

    assert await run.shelf.settings.positions(ADA) == {TOWER: last}
    assert await run.shelf.settings.positions(CHANNEL) == {}
    assert "“The Tower”" in result.text and not result.is_public


async def test_an_admin_sets_the_position_of_the_channel_for_everybody_to_see(run: Counter) -> None:
    result = await run("position", "tower.md chapter 1 --channel", is_admin=True)

    assert await run.shelf.settings.positions(CHANNEL) == {TOWER: 1}
    assert await run.shelf.settings.positions(ADA) == {}
    assert result.text == "From now on this channel will see nothing of “The Tower” beyond page 1 (Chapter 1: Salt)."
    assert result.is_public


async def test_a_form_gives_the_same(run: Counter) -> None:
    options = {"book": "tower.md", "place": "chapter 2", "channel": "true"}
    await run("position", options=options, is_admin=True)

    assert await run.shelf.settings.positions(CHANNEL) == {TOWER: 2}


async def test_off_takes_a_position_away(run: Counter) -> None:
    await run("position", "tower.md 1")
    await run("position", "tower.md off")

    assert await run.shelf.settings.positions(ADA) == {}


async def test_both_positions_are_shown_and_a_terminal_has_only_one(run: Counter) -> None:
    assert "no reading positions are set" in (await run("position")).text
    await run("position", "tower.md 2")
    await run("position", "tower.md end --channel", is_admin=True)

    assert (await run("position")).text.split("\n\n") == [
        "You have read:",
        "- **The Tower**: up to page 2",
        "This channel has read:",
        "- **The Tower**: to the end",
    ]
    assert "channel" not in (await run("position", address=None)).text


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        ("tower.md chapter 9", BadInput, "has no chapter or page 'chapter 9'"),
        ("tower.md 99", BadInput, "has no chapter or page '99'"),
        ("nowhere.md 2", NotFound, "nowhere.md"),
        ("tower.md", BadInput, "Write the book and how far"),
        ("tower.md 1 --channel", AccessDenied, "Only an admin"),
    ],
)
async def test_what_can_not_be_set_is_refused_with_what_to_do(
    run: Counter, argument: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        await run("position", argument)
    assert await run.shelf.settings.positions(ADA) == await run.shelf.settings.positions(CHANNEL) == {}


async def test_a_terminal_has_no_channel_to_set(run: Counter) -> None:
    with pytest.raises(BadInput, match="isn't a channel"):
        await run("position", "tower.md 1 --channel", address=None, is_admin=True)


async def test_a_position_is_lifted_where_nobody_else_reads_and_holds_elsewhere(run: Counter) -> None:
    await run("position", "tower.md 1")
    result = await run("position", "tower.md lifted", direct=True)

    assert "all of “The Tower”" in result.text and not result.is_public
    assert await run.shelf.settings.positions(ADA) == {TOWER: 1}
    assert "breaks" in (await run("search", "lamp", direct=True)).text
    assert "breaks" not in (await run("search", "lamp")).text
    assert "lifted" in (await run("position", direct=True)).text
    assert "lifted" not in (await run("position")).text


@pytest.mark.parametrize(("argument", "options"), [("tower.md kept", {}), ("tower.md chapter 2", {})])
async def test_a_lifted_position_holds_again_when_it_is_kept_or_set(
    run: Counter, argument: str, options: dict[str, object]
) -> None:
    await run("position", "tower.md 1")
    await run("position", "tower.md lifted", direct=True)
    await run("position", argument, direct=True, **options)

    assert "Morning" not in (await run("search", "morning", direct=True)).text


@pytest.mark.parametrize("place", [{}, {"argument": "tower.md lifted --channel", "is_admin": True, "direct": True}])
async def test_what_others_read_is_never_lifted(run: Counter, place: dict[str, object]) -> None:
    await run("position", "tower.md 1")
    with pytest.raises(BadInput, match="where nobody else reads"):
        await run("position", **{"argument": "tower.md lifted", **place})

    assert "breaks" not in (await run("search", "lamp", direct=True)).text


async def test_a_title_that_is_not_known_yet_is_not_proposed(run: Counter) -> None:
    await run("position", "tower.md 1")
    with pytest.raises(BadInput) as refused:
        await run("position", "tower.md=Stormy weather")

    assert "Chapter 2" not in str(refused.value)


async def test_a_chapter_beyond_the_present_position_can_be_set(run: Counter) -> None:
    for place in ("chapter 1", "chapter 3"):
        await run("position", f"tower.md {place}")

    assert await run.shelf.settings.positions(ADA) == {TOWER: 3}


async def test_search_and_page_show_nothing_beyond_the_position_of_who_asks(run: Counter) -> None:
    await run("position", "tower.md 1")

    assert "breaks" not in (await run("search", "lamp")).text
    with pytest.raises(NotFound):
        await run("page", "tower.md 2")
    assert "breaks" in (await run("search", "lamp", author="ben")).text


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("", {}),
        ("--channel", {"channel": "true"}),
        ("House", {"book": "House"}),
        ("--channel The House 7", {"book": "The House", "place": "7", "channel": "true"}),
        ("“The House” a b c", {"book": "The House", "place": "a b c"}),
        ("The House act IV", {"book": "The House", "place": "act IV"}),
    ],
)
def test_what_is_typed_is_taken_apart(argument: str, options: dict[str, str]) -> None:
    assert parse_position((), argument) == options


@pytest.mark.parametrize("words", [" ", "in ", "read through ", "in the middle of ", "chapter 1, "])
@pytest.mark.parametrize("length", [290, 20_000])
def test_a_command_that_goes_on_and_on_stops_nobody(words: str, length: int) -> None:
    started = time.process_time()
    given = parse_position((), f"The Tower {words * length}"[:length] + "?")
    assert given["book"].startswith("The")
    assert time.process_time() - started < 1.0


def test_of_a_very_long_book_the_last_word_is_the_place() -> None:
    book = "A tower " * 50

    assert parse_position((), f"{book}12") == {"book": book.strip(), "place": "12"}
