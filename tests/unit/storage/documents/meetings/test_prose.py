import pytest

from storage.documents.meetings.prose import find_speaker, is_decision, is_state, is_talk, is_vote, sentences


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
        "The council discussed the roof and has decided to mend it.",
        "The group reviewed the bids and, after some talk, accepted the second.",
        "The team decided we wait for the tide.",
        "The board decided against a new lamp.",
        "The team and Cleo agreed that the rope is to be replaced in May.",
        "They went through the list, agreeing to drop the last two.",
        "The roof was looked at, with general agreement to mend it in spring.",
        "They talked of the name and the consensus was that it stays.",
        "Sounds like we have consensus on the new lamp",
        "No objections to moving the books upstairs",
        "Cleo thinks that it can be closed, no objections.",
        "Ann proposed to meet once a month, others agreed",
        "Discussed the fares, agreed with the approach of two zones",
        "The board interviewed both and made its choice.",
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
        "The group discussed whether it was decided by the board.",
        "Any objections?",
        "We have no consensus on the lamp.",
        "Agreed with Ben.",
    ],
)
def test_what_is_open_asked_or_told_of_the_past_is_no_decision(sentence: str) -> None:
    assert not is_decision(sentence)


def test_words_below_a_topic_say_that_it_was_decided() -> None:
    assert is_state("merged") and is_state("Approved.")
    assert not is_state("not merged") and not is_state("merged with the other one")
    assert is_vote("Motion carried 3-0.") and not is_vote("Motion by Ann to sell the boat.")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The council discussed the roof.", True),
        ("We also met with the painter.", True),
        ("It was decided to wait.", True),
        ("The roof leaks.", False),
        ("A council discusses many things.", False),
    ],
)
def test_minutes_tell_what_a_group_did(sentence: str, told: bool) -> None:
    assert is_talk(sentence) is told


def test_speakers_stand_before_a_colon() -> None:
    assert find_speaker("Ann Lee: I think so.") == "Ann Lee"
    assert find_speaker("see: the plan") is None


def test_sentences_are_places_in_the_line() -> None:
    line = "We met. It rained, e.g. here. Ann left."

    assert [span.of(line) for span in sentences(line)] == ["We met.", "It rained, e.g. here.", "Ann left."]
