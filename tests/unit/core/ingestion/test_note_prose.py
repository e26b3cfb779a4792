import pytest

from core.ingestion.note_prose import find_speaker, is_decision, is_state, is_task, is_vote, sentences
from core.ingestion.people_names import People

PEOPLE = People(["Ann Lee", "Ben Ruiz"])


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to sell the boat.",
        "It was agreed that the tap be locked at night.",
        "The board has unanimously approved the budget.",
        "After a vote, the committee resolved not to move.",
        "General agreement that this is good.",
        "Agreed to wait for the report",
        "The group discussed the lock and agreed to buy it.",
        "Steering council decided to keep the archive.",
        "Pause the work until the report is there",
        "Es wurde beschlossen, den Zaun zu streichen.",
        "Il a été décidé de vendre le bateau.",
        "Se acordó vender el barco.",
        "Si è deciso di vendere la barca.",
    ],
)
def test_sentences_that_decide_are_decisions(sentence: str) -> None:
    assert is_decision(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We have not decided to sell the boat.",
        "Whether to paint it has not been decided.",
        "It will be decided in spring.",
        "Should we agree to sell the boat?",
        "If the plan is approved, two people start.",
        "Ann agreed with Ben.",
        "I think the questions had answers that we all agreed on before.",
        "The reader decided to leave.",
        "Last week we agreed to try again.",
        "The minutes of May were approved.",
        "They need to make an informed decision.",
        "We discussed the boat so agreed to",
    ],
)
def test_what_is_open_asked_or_told_of_the_past_is_no_decision(sentence: str) -> None:
    assert not is_decision(sentence)


@pytest.mark.parametrize(
    "sentence", ["Ann will send the report.", "Ann and Ben agreed to paint it.", "Ben to call the bank"]
)
def test_sentences_that_give_someone_something_to_do_are_tasks(sentence: str) -> None:
    assert is_task(sentence, PEOPLE)


@pytest.mark.parametrize(
    "sentence",
    ["Ann will be late.", "Zora will send it.", "Ann sent it.", "Will Ann send it?", "The report will help Ann."],
)
def test_other_sentences_are_no_tasks(sentence: str) -> None:
    assert not is_task(sentence, PEOPLE)


def test_words_below_a_topic_say_that_it_was_decided() -> None:
    assert is_state("merged") and is_state("Approved.")
    assert not is_state("not merged") and not is_state("merged with the other one")
    assert is_vote("Motion carried 3-0.") and not is_vote("Motion by Ann to sell the boat.")


def test_speakers_stand_before_a_colon() -> None:
    assert find_speaker("Ann Lee: I think so.") == "Ann Lee"
    assert find_speaker("see: the plan") is None


def test_sentences_are_places_in_the_line() -> None:
    line = "We met. It rained, e.g. here. Ann left."

    assert [span.of(line) for span in sentences(line)] == ["We met.", "It rained, e.g. here.", "Ann left."]
