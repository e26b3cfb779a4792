"""Questions, requests and other forms of a message; whether it asks a person."""

import pytest

from core.text.asking import Form, count_telling, read_asked


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("how tall is the mast", Form.QUESTION),
        ("in which harbour does she winter", Form.QUESTION),
        ("and what of the anchor", Form.QUESTION),
        ("the anchor, how heavy is it", Form.QUESTION),
        ("wie schwer ist der Anker", Form.QUESTION),
        ("cuándo zarpa el barco", Form.QUESTION),
        ("combien pèse l'ancre", Form.QUESTION),
        ("is the hatch open at night", Form.QUESTION),
        ("list the sails", Form.REQUEST),
        ("could you explain the rigging", Form.REQUEST),
        ("zeig mir die Segel", Form.REQUEST),
        ("sorry, I meant the spare anchor", Form.CORRECTION),
        ("ich meinte den zweiten", Form.CORRECTION),
        ("and the spare one", Form.FRAGMENT),
        ("I painted the hull yesterday evening", Form.STATEMENT),
        ("she asked me what the anchor weighs", Form.STATEMENT),
        ("painting that now", Form.STATEMENT),
        ("love this", Form.STATEMENT),
        ("painting that now?", Form.QUESTION),
        ("the spare one", Form.FRAGMENT),
        ("hang it on what", Form.QUESTION),
        ("so it weighs how much more", Form.QUESTION),
        ("by rope or how", Form.QUESTION),
        ("et ça tient jusqu'à quel poids", Form.QUESTION),
        ("who", Form.QUESTION),
        ("no idea how", Form.FRAGMENT),
        ("three anchors, do the maths", Form.STATEMENT),
        ("do the anchors rust", Form.QUESTION),
        ("n the spare one", Form.FRAGMENT),
        ("and for leaving it where it is", Form.FRAGMENT),
        ("and then we went home by the river", Form.STATEMENT),
        ("out of which tin is the varnish", Form.QUESTION),
        ("till when does the varnish stay soft", Form.QUESTION),
        ("wait how does the varnish get there", Form.QUESTION),
        ("n who varnished the mast", Form.QUESTION),
        ("the varnish is due when", Form.QUESTION),
        ("le vernis arrive quel jour", Form.QUESTION),
        ("je sais pas combien", Form.STATEMENT),
        ("und wenn der Lack nicht trocknet", Form.FRAGMENT),
        ("y si no se seca antes", Form.FRAGMENT),
        ("don't tell me the price of the varnish", Form.STATEMENT),
        ("don't they varnish the mast", Form.QUESTION),
    ],
)
def test_a_message_has_a_form(text: str, form: Form) -> None:
    assert read_asked(text).form is form


@pytest.mark.parametrize(
    "text",
    [
        "are you coming to the regatta?",
        "could you bring the ropes?",
        "and you?",
        "what do you think about the colour?",
        "how was your holiday?",
        "shall we take the small boat?",
        "pizza after work?",
        "anyone seen my gloves?",
        "anyone know a good joiner?",
        "kommst du auch mit?",
        "hat jemand den Schlüssel?",
        "¿vienes a la regata?",
        "tu viens ce soir ?",
        "seriously?!",
        "who would have thought",
        "why would a fish need a bicycle? 😂",
    ],
)
def test_what_asks_a_person_or_nobody_is_told_from_questions_of_the_documents(text: str) -> None:
    assert read_asked(text).for_person


@pytest.mark.parametrize(
    "text",
    [
        "how do you lower the mast?",
        "what happens if you cut the rope?",
        "can you list the sails?",
        "do we need a licence for the radio?",
        "who owns the boathouse?",
        "kannst du mir sagen, wem das Bootshaus gehört?",
        "where do you report an accident?",
        "how many oars do the rowing guys have?",
    ],
)
def test_you_in_general_is_no_person(text: str) -> None:
    assert not read_asked(text).for_person


def test_who_asks_whether_anyone_knows_asks_the_library_too() -> None:
    for text in ("does anyone know who varnished the mast?", "anyone know where the varnish is?"):
        asked = read_asked(text)
        assert asked.form is Form.QUESTION
        assert not (asked.for_person or asked.maybe_for_person)


def test_a_message_that_only_points_back_is_elliptical() -> None:
    assert read_asked("which one?").is_elliptical
    assert not read_asked("which anchor?").is_elliptical
    assert count_telling("and why is that so?") == 0
    assert count_telling("why is the anchor rusty?") == 2
