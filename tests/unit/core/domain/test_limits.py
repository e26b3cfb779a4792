"""The arithmetic of windows, and the order of turns."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from core.domain.limits import HOUR, MINUTE, Asker, ParallelLimits, QuestionLimit, Turns, Window, admit

START = datetime(2026, 3, 1, 14, 40, tzinfo=UTC)
SECONDS = st.integers(min_value=0, max_value=4000)


def limit(most: int = 20, key: str = "person", length: timedelta = HOUR) -> QuestionLimit:
    return QuestionLimit(key=key, subject="You have", most=most, length=length)


@given(most=st.integers(1, 5), pauses=st.lists(SECONDS, min_size=1, max_size=60))
def test_no_window_takes_more_than_its_limit_and_windows_never_overlap(most: int, pauses: list[int]) -> None:
    now, windows = START, {"person": Window(started_at=START)}
    taken: Counter[datetime] = Counter()
    starts = [START]
    for pause in pauses:
        now += timedelta(seconds=pause)
        windows, full = admit([limit(most)], windows, now)
        window = windows["person"]
        assert window.started_at <= now < window.started_at + HOUR
        if window.started_at != starts[-1]:
            assert window.started_at >= starts[-1] + HOUR
            starts.append(window.started_at)
        assert (full is not None) == (taken[window.started_at] == most)
        taken[window.started_at] += full is None
        assert window.asked == taken[window.started_at] <= most


@given(
    mosts=st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 9)),
    asked=st.lists(st.tuples(st.integers(0, 3), SECONDS), max_size=60),
)
def test_a_refused_question_counts_nowhere(mosts: tuple[int, int, int], asked: list[tuple[int, int]]) -> None:
    now, stored = START, dict[str, Window]()
    for person, pause in asked:
        now += timedelta(seconds=pause)
        keys = (f"person {person}", f"channel {person % 2}", "workspace")
        limits = [limit(most, key) for most, key in zip(mosts, keys, strict=True)]
        windows = {key: stored.get(key, Window(started_at=now)) for key in keys}
        counted, full = admit(limits, windows, now)
        grown = {
            key: counted[key].asked - one.current(windows[key], now).asked
            for one, key in zip(limits, keys, strict=True)
        }
        assert set(grown.values()) == ({0} if full else {1})
        assert all(counted[one.key].asked <= one.most for one in limits)
        assert full is None or counted[full.key].asked == full.most
        stored |= counted if full is None else {}


def test_the_full_limit_that_ends_last_is_named() -> None:
    windows = {"person": Window(started_at=START, asked=1), "minute": Window(started_at=START, asked=1)}
    _, full = admit([limit(1, "minute", MINUTE), limit(1)], windows, START)
    assert full == limit(1)


def test_a_refusal_names_the_count_and_the_end() -> None:
    window = Window(started_at=START - timedelta(seconds=30), asked=20)
    first, again = (limit().refuse(window, is_announced=told) for told in (False, True))
    assert first.sentence == "You have asked 20 questions in this hour. You can ask again at 15:40 UTC."
    assert (first.code, again.code, again.sentence) == ("over_limit", "over_limit_again", first.sentence)
    assert limit(1).refuse(window, is_announced=False).sentence.startswith("You have asked 1 question in this hour.")


def asker(person: str, channel: str = "c") -> Asker:
    return Asker(platform="discord", workspace="local", channel=channel, author=person)


def turns(running: str = "", **limits: int) -> Turns:
    """`running`: a letter for each person with a question in progress."""
    parallel = ParallelLimits(**limits, platforms={"discord"})
    return Turns(limits=parallel, running=[asker(name) for name in running], served={})


def served(*, most: int, waiting: str, given: Turns) -> str:
    """The people of the chosen questions; `waiting` has a letter for each one, oldest first."""
    chosen = given.choose([(number, asker(name)) for number, name in enumerate(waiting)], most)
    return "".join(waiting[number] for number in chosen)


def test_people_take_turns() -> None:
    assert served(most=6, waiting="aaaaabc", given=turns()) == "abcaaa"
    assert served(most=3, waiting="aaaaabbc", given=turns(running="aa")) == "bcb"


def test_who_was_served_longest_ago_is_next_among_equals() -> None:
    times = dict.fromkeys(asker("a").keys, START) | dict.fromkeys(asker("b").keys, START - HOUR)
    given = Turns(limits=ParallelLimits(), running=[], served=times)
    assert served(most=4, waiting="aabbc", given=given) == "cbab"


def test_channels_take_turns_among_people_who_are_equal() -> None:
    waiting = [(number, asker(f"person {number}", "crowded")) for number in range(5)]
    waiting.append((9, asker("alone", "quiet")))
    given = Turns(limits=ParallelLimits(), running=[asker("x", "crowded")], served={})
    assert given.choose(waiting, 2) == [9, 0]


def test_further_questions_wait_beyond_the_limits_at_a_time() -> None:
    assert served(most=9, waiting="aaaabb", given=turns(running="a", person=2)) == "bab"
    assert served(most=9, waiting="aabbcc", given=turns(running="a", channel=3)) == "bc"
    assert served(most=9, waiting="aabb", given=turns(running="a", workspace=1)) == ""
    elsewhere = Turns(limits=ParallelLimits(person=1), running=[asker("a")], served={})
    assert served(most=9, waiting="aaa", given=elsewhere) == "aaa"


@given(
    waiting=st.text("abcd", max_size=30),
    running=st.text("abcd", max_size=8),
    most=st.integers(0, 12),
    person=st.integers(0, 3),
)
def test_turns_differ_by_at_most_one_among_those_who_wait(waiting: str, running: str, most: int, person: int) -> None:
    chosen = served(most=most, waiting=waiting, given=turns(running, person=person))
    total = Counter(running + chosen)
    left = Counter(waiting) - Counter(chosen)
    assert len(chosen) <= most
    for name in left:
        may_have_more = not person or total[name] < person
        assert not may_have_more or len(chosen) == most
        assert all(total[other] <= total[name] + 1 for other in chosen if may_have_more)
