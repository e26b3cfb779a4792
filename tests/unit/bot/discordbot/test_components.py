import pytest

from bot.discordbot.rendering.components import (
    Button,
    ButtonStyle,
    Container,
    LinkButton,
    Option,
    PartView,
    Row,
    Select,
    Separator,
    Text,
    to_view,
)
from bot.presentation.action_names import Verb
from tests.unit.bot.discordbot.shown import components_of

PART = PartView(
    blocks=(
        Text(content="Words"),
        Separator(),
        Container(items=(Text(content="In a box"), Separator())),
        Row(
            items=(
                Select(
                    custom_id="fn:choose:a:0",
                    placeholder="Choose one",
                    options=(Option(label="Red", value="0", description="a colour"), Option(label="Green", value="1")),
                ),
            )
        ),
        Row(
            items=(
                Button(label="Stop", custom_id="fn:stop:a", style=ButtonStyle.DANGER),
                Button(label="Part 1", custom_id="fn:part:a:1", disabled=True),
                LinkButton(label="Open", url="https://viewer.example"),
            )
        ),
    )
)


def test_every_kind_of_block_becomes_its_component() -> None:
    text, line, box, menu, buttons = components_of(PART)
    assert (text["type"], text["content"]) == (10, "Words")
    assert line["type"] == 14
    assert [item["type"] for item in box["components"]] == [10, 14]
    assert [option["label"] for option in menu["components"][0]["options"]] == ["Red", "Green"]
    assert [(item["label"], item["style"]) for item in buttons["components"]] == [
        ("Stop", 4),
        ("Part 1", 2),
        ("Open", 5),
    ]
    assert buttons["components"][1]["disabled"]


def test_a_view_outlives_the_process_that_sent_it() -> None:
    assert to_view(PART).timeout is None


def test_a_part_names_its_texts_and_buttons_from_top_to_bottom() -> None:
    assert PART.texts == ("Words", "In a box")
    assert PART.custom_ids == ("fn:choose:a:0", "fn:stop:a", "fn:part:a:1")


@pytest.mark.parametrize("verb", Verb)
def test_no_verb_is_longer_than_names_have_room_for(verb: Verb) -> None:
    assert len(verb.value) <= 8
