"""Chapters of plain texts."""

import pytest

from storage.documents.books.chapters import find_chapters


def titles(*blocks: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in find_chapters("\n\n".join(blocks))]


def test_named_chapters_with_the_titles_under_them() -> None:
    found = titles("CHAPTER I.", "THE BOAT.", "It rained.", "CHAPTER II.", "It stopped.", "CHAPTER III", "Sun.")
    assert found == [(1, "CHAPTER I. THE BOAT"), (1, "CHAPTER II"), (1, "CHAPTER III")]


def test_titles_on_the_same_line() -> None:
    found = titles("Chapter 1: The Road", "a", "Chapter Two - Home", "b", "Chapter 3", "c")
    assert found == [(1, "Chapter 1: The Road"), (1, "Chapter Two - Home"), (1, "Chapter 3")]


def test_a_table_of_contents_makes_no_chapters() -> None:
    contents = [f"Chapter {number}" for number in range(1, 5)]
    body = [block for number in range(1, 5) for block in (f"Chapter {number}", "text")]
    assert titles(*contents, "A note.", *body) == [(1, f"Chapter {number}") for number in range(1, 5)]


def test_parts_stand_above_chapters() -> None:
    found = titles("PART ONE", "CHAPTER I", "a", "CHAPTER II", "b", "PART TWO", "CHAPTER I", "c")
    assert found == [(1, "PART ONE"), (2, "CHAPTER I"), (2, "CHAPTER II"), (1, "PART TWO"), (2, "CHAPTER I")]


def test_a_preface_counts_where_there_are_chapters() -> None:
    assert titles("PREFACE.", "p", "Chapter 1", "a", "Chapter 2", "b", "Chapter 3", "c")[0] == (1, "PREFACE")


def test_chapters_that_drop_their_word_go_on_counting() -> None:
    blocks = [f"ADVENTURE {n}. THE BOAT" for n in ("I", "II", "III")] + ["IV. THE BRIDGE", "V. THE END"]
    assert [title for _, title in titles(*(part for block in blocks for part in (block, "text")))] == blocks


def test_numbers_inside_of_chapters_are_no_chapters() -> None:
    inner = [part for n in ("I.", "II.", "III.") for part in (n, "text")]
    blocks = ["CHAPTER I", *inner, "CHAPTER II", *inner, "CHAPTER III", *inner]
    assert [title for _, title in titles(*blocks)] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


def test_acts_of_a_play_inside_of_a_chapter_are_no_parts() -> None:
    found = titles("CHAPTER I", "a", "CHAPTER II", "ACT I", "b", "ACT II", "c", "CHAPTER III", "d")
    assert found == [(1, "CHAPTER I"), (1, "CHAPTER II"), (1, "CHAPTER III")]


@pytest.mark.parametrize("title", ["CONTENTS", "List of Illustrations", "Author's Note", "Conclusion", "FOOTNOTES"])
def test_what_stands_beside_the_chapters_is_a_page_of_its_own(title: str) -> None:
    assert (1, title) in titles(title, "p", "Chapter 1", "a", "Chapter 2", "b", "Chapter 3", "c")


def test_numbered_headings_count_when_they_rise_by_one() -> None:
    assert [title for _, title in titles("1. Start", "a", "2. Middle", "b", "3. End", "c")] == [
        "1. Start",
        "2. Middle",
        "3. End",
    ]
    assert [title for _, title in titles("I", "a", "II.", "b", "III", "c", "IV", "d")] == ["I", "II.", "III", "IV"]


@pytest.mark.parametrize(
    "blocks",
    [
        ("Chapter 1", "a", "Chapter 2", "b"),
        ("2. Milk", "a", "9. Eggs", "b", "4. Bread", "c"),
        ("Chapter one was long, and Chapter two,", "a", "PREFACE", "b"),
        ("Chapter 1 is\nin a paragraph", "a", "Chapter 2 is\ntoo", "b", "Chapter 3 is\ntoo", "c"),
        ("plain", "text"),
    ],
)
def test_unclear_texts_have_no_chapters(blocks: tuple[str, ...]) -> None:
    assert titles(*blocks) == []


def test_a_title_right_below_its_number_belongs_to_it() -> None:
    found = titles("Chapter One\nThe Boat", "a", "Chapter Two\nWhat Now?", "b", "CHAPTER THREE\nALL IS WELL.", "c")
    assert found == [(1, "Chapter One The Boat"), (1, "Chapter Two What Now?"), (1, "CHAPTER THREE ALL IS WELL")]


def test_numbers_may_stand_before_the_word_or_behind_it() -> None:
    acts = [part for name in ("FIRST", "SECOND", "THIRD") for part in (f"  THE {name} ACT", "text")]
    assert [title for _, title in titles(*acts)] == ["THE FIRST ACT", "THE SECOND ACT", "THE THIRD ACT"]
    assert titles("END OF THE FIRST ACT.", "a", "END OF THE SECOND ACT.", "b", "END OF THE THIRD ACT.", "c") == []
    parts = titles("PART FIRST", "CHAPTER I", "a", "CHAPTER II", "b", "PART SECOND", "CHAPTER I", "c")
    assert [level for level, _ in parts] == [1, 2, 2, 1, 2]


@pytest.mark.parametrize(
    "found",
    [
        ["Chapitre premier", "Chapitre II", "Chapitre III"],
        ["Erstes Kapitel", "Zweites Kapitel", "Drittes Kapitel"],
        ["Capítulo 1: El puente", "Capítulo 2: La barca", "Capítulo 3"],
        ["Глава первая", "Глава вторая", "Глава третья"],
        ["第一章　港", "第二章 橋", "第三章"],
    ],
)
def test_chapters_of_other_languages(found: list[str]) -> None:
    assert [title for _, title in titles(*(part for title in found for part in (title, "text")))] == found


def test_names_that_the_contents_list_are_chapters() -> None:
    listed = "The Boat . . . . 3\nII. A Storm    17\nThe End\t40"
    found = titles(
        "STORIES", "CONTENTS", listed, "THE BOAT", "It sails.\nThe End\ncame late.", "A STORM.", "b", "The End", "c"
    )
    assert found == [(1, "THE BOAT"), (1, "A STORM"), (1, "The End")]


@pytest.mark.parametrize(
    "blocks",
    [
        ("CONTENTS", "Milk\nEggs\nBread", "Milk", "a", "nothing of the others"),
        ("CONTENTS", "Milk\nEggs\nBread", "and no more"),
        ("Milk\nEggs\nBread", "Milk", "a", "Eggs", "b", "Bread", "c"),
    ],
)
def test_lists_that_name_no_headings_make_no_chapters(blocks: tuple[str, ...]) -> None:
    assert titles(*blocks) == []
