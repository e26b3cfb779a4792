"""Which sentences of notes give somebody something to do."""

import pytest

from storage.documents.meetings.people_names import People
from storage.documents.meetings.tasks import find_task, takes_on

PEOPLE = People(["Ann Lee", "Ben Ruiz"])
NOBODY = People([])


@pytest.mark.parametrize(
    "sentence",
    [
        "Ann will send the report.",
        "Ann will get prices for the rope.",
        "Ann and Ben agreed to paint it.",
        "Ben to call the bank",
        "Ann will be writing to the bank.",
        "Ben, will send the list round.",
        "Ben -> needs to check the pump",
        "Ann/Ben to order the rope",
    ],
)
def test_what_somebody_is_to_do_is_a_task(sentence: str) -> None:
    task = find_task(sentence, PEOPLE)
    assert task is not None and task.is_named and task.leads


@pytest.mark.parametrize(
    ("sentence", "who"),
    [
        ("It was agreed to mend the roof and Ann will ask for bids.", "Ann"),
        ("The pump leaks, which Ben was asked to look into.", "Ben"),
        ("The crew mends it, with Ann expected to report on Monday.", "Ann"),
    ],
)
def test_the_owner_may_stand_later_in_the_sentence(sentence: str, who: str) -> None:
    task = find_task(sentence, PEOPLE)
    assert task is not None and (task.who, task.leads) == (who, False)


@pytest.mark.parametrize(
    ("sentence", "who"),
    [
        ("The steering group will collect the bids.", "The steering group"),
        ("A letter with the reasons will be sent to the painter.", ""),
        ("Next step is to ask for bids.", ""),
        ("Cleo will send the letter.", ""),  # where nobody is known to be there, by the form of the name and the verb
    ],
)
def test_tasks_of_groups_and_of_nobody_yet(sentence: str, who: str) -> None:
    task = find_task(sentence, NOBODY)
    assert task is not None and task.who == who


@pytest.mark.parametrize(
    "sentence",
    [
        "Ann will be late.",
        "Zora will send it.",
        "Ann sent it.",
        "Will Ann send it?",
        "The report will help Ann.",
        "The group will meet in May.",
        "Ben said that the lamp will be sent by rail.",
        "If it rains the roof will be checked.",
    ],
)
def test_other_sentences_are_no_tasks(sentence: str) -> None:
    assert find_task(sentence, PEOPLE) is None


@pytest.mark.parametrize("sentence", ["Cleo will win.", "the tide will move the boat", "The boat will move."])
def test_where_nobody_is_known_only_names_and_verbs_of_tasks_count(sentence: str) -> None:
    assert find_task(sentence, NOBODY) is None


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        ("I'll send the list round tomorrow.", True),
        ("Yes, I will also ask the painter.", True),
        ("Good, and I'm going to write to the bank.", True),
        ("I'll think about it.", False),
        ("If it rains, I will check the roof.", False),
        ("Should I send it?", False),
        ("I sent the list.", False),
        ("Maybe I will call them.", False),
    ],
)
def test_what_a_speaker_takes_on(words: str, taken: bool) -> None:
    assert takes_on(words) is taken
