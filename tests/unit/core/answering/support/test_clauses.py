import pytest

from core.answering.support.clauses import check_subjects, clauses_of

RING = "Mirelle stole the ring from Duke Anselm and hid it in the chapel. Brother Tace found it there."


def test_a_clause_without_a_subject_has_the_one_before() -> None:
    assert [sorted(clause.subject) for clause in clauses_of(RING)] == [["mirell"], ["mirell"], ["brother", "tace"]]


@pytest.mark.parametrize(
    ("sentence", "quotes", "is_found"),
    [
        ("Anselm hid it in the chapel.", RING, True),
        ("Mirelle hid the ring in the chapel.", RING, False),
        ("The town sold the mill to Aker.", "The council sold the mill to Aker. The town was glad.", True),
        ("Oswin sold the mill to Aker.", "The priest Oswin, who was old, sold the mill to Aker.", False),
        ("The mill was sold by the council.", "The council sold the mill. The mill was old.", False),
        ("Garrick lost his horse.", "Sister Ivo warned Garrick. He crossed the bridge and lost his horse.", False),
    ],
)
def test_a_deed_of_another_is_found(sentence: str, quotes: str, *, is_found: bool) -> None:
    assert bool(list(check_subjects(sentence, quotes))) is is_found
