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


def test_a_message_that_only_points_back_is_elliptical() -> None:
    assert read_asked("which one?").is_elliptical
    assert not read_asked("which anchor?").is_elliptical
    assert count_telling("and why is that so?") == 0
    assert count_telling("why is the anchor rusty?") == 2
