"""The texts that the judge of answers is fitted on, and the pairs made of them."""

import random

import pytest

from tests.training.judge_pairs import (
    Asked,
    Text,
    claim_pairs,
    naming_pairs,
    question_pairs,
    read_follow_ups,
    read_texts,
    to_text,
)

LINE = {
    "title": "Mill",
    "heading": "Hours",
    "sentences": ["The mill opens at nine.", "It closes at five.", "The fee is two crowns.", "Dogs may come in."],
    "questions": [{"q": "When does it open?", "a": [0]}, {"q": "and close?", "after": "When does it open?", "a": [1]}],
    "near": ["Why is there a fee?"],
    "true": [{"s": "One pays two crowns.", "e": [2]}],
    "false": [{"s": "One pays three crowns.", "e": [2], "l": "contradicted"}],
}


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    return read_texts()


def test_each_text_names_sentences_that_it_has(texts: list[Text]) -> None:
    assert len(texts) > 1000
    for text in texts:
        places = {place for asked in text.asked for place in asked.places}
        places |= {place for _, cited, _ in text.claims for place in cited}
        assert places <= set(range(len(text.sentences))), text.title
        assert all(cited for _, cited, _ in text.claims), text.title
        assert all(asked.question.strip() for asked in text.asked), text.title


def test_each_follow_up_comes_behind_a_question_about_a_text(texts: list[Text]) -> None:
    follow_ups = read_follow_ups(texts)
    assert len(follow_ups) > 4000
    for text, asked in follow_ups:
        assert set(asked.places) <= set(range(len(text.sentences))), text.title
        assert asked.question.strip() and asked.after.strip(), text.title


def test_some_texts_are_measured_on_and_most_are_fitted_on(texts: list[Text]) -> None:
    measured = sum(text.is_measured for text in texts)
    assert 0.08 * len(texts) < measured < 0.17 * len(texts)


def test_only_passages_with_the_whole_answer_are_positive(texts: list[Text]) -> None:
    for text in texts[::25]:
        for asked in text.asked:
            one = Text(title=text.title, heading=text.heading, sentences=text.sentences, asked=[asked], claims=())
            answer = [text.sentences[place] for place in asked.places]
            for pair in question_pairs(one, random.Random(1)):
                passage = pair.passage.replace("\n", " ")
                holds = [sentence for sentence in answer if sentence in passage]
                is_list = len(answer) > 4
                assert pair.label == bool(holds if is_list else answer and len(holds) == len(answer)), pair


def test_a_follow_up_is_read_with_the_question_before() -> None:
    asked = {pair.asked for pair in question_pairs(to_text(LINE), random.Random(1)) if "close" in pair.asked}
    assert asked == {"When does it open? and close?", "and close (open)?"}


def test_near_questions_have_no_passage_that_answers() -> None:
    text = to_text(LINE)
    assert [each.question for each in text.asked if not each.places] == ["Why is there a fee?"]
    near = Text(title="Mill", heading="", sentences=text.sentences, asked=[Asked("Why is there a fee?")], claims=())
    assert {pair.label for pair in question_pairs(near, random.Random(1))} == {0}


def test_claims_have_three_labels() -> None:
    pairs = list(claim_pairs(to_text(LINE), random.Random(2)))
    assert {(pair.asked, pair.label) for pair in pairs} >= {("One pays two crowns.", 0), ("One pays three crowns.", 2)}


def test_a_question_about_another_text_or_name_gets_no_answer() -> None:
    asked = {"q": "What does Jonas pay, and who is told?", "a": [2]}
    mill, kiln = (
        to_text({**LINE, "title": title, "sentences": [*LINE["sentences"][:2], "Jonas pays two crowns."], "questions": [
            asked, {"q": "What does Edda's sister pay?", "a": [1]}
        ]})
        for title in ("Mill, 14 March 2023", "Kiln, 3 May")
    )  # fmt: skip

    pairs = [pair for seed in range(40) for pair in naming_pairs([mill, *[kiln] * 11], random.Random(seed))]

    shown = {
        (pair.asked, pair.label) for pair in pairs if pair.passage.startswith("Mill, 14 March 2023 > Hours: Jonas")
    }
    own = {asked for asked, label in shown if label}
    assert any(day in asked for asked in own for day in ("March 14", "14 Mar", "2023-03-14"))
    assert "What does Edda pay, and who is told?" in {asked for asked, label in shown if not label}
    assert not own & {asked for asked, label in shown if not label}
    assert not any("Kiln" in asked for asked in own)
