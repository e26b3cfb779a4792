"""The real service on a Slack on loopback: commands by slash, by mention and in forms; the home tab."""

import pytest

from tests.e2e.platform_service import NEXT_ANSWER, NEXT_QUESTION, QUESTION
from tests.e2e.slack_service import SlackService, buttons
from tests.slack_server import Channel, Message, Person, View, text_of
from tests.slack_server.transcript import texts

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


async def given(service: SlackService, person: Person, place: Channel, command: str, words: str) -> Message:
    """What a slash command is answered with, for the one who gave it alone."""
    outcome = await person.slash(place, command)
    assert outcome.error is None
    shown = await service.told(person, place, words)
    assert shown.only_to == person.id
    return shown


async def form_of(service: SlackService, person: Person, place: Channel, command: str) -> View:
    """The form that asks for what a slash command lacks."""
    outcome = await person.slash(place, command)
    await service.until(lambda: outcome.modal, f"a form of {command!r}")
    assert outcome.modal is not None
    return outcome.modal


async def home_of(service: SlackService, person: Person, words: str) -> str:
    """A person's home tab, when it has these words."""
    await person.open_home()

    def said() -> str:
        return "\n".join(texts(person.home.payload["blocks"])) if person.home is not None else ""

    await service.until(lambda: words in said(), f"a home tab with {words!r}")
    return said()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("help", "/footnote ask"),
        ("", "/footnote ask"),
        ("sources", "1 document"),
        ("search ferry Marigold", "Marigold leaves pier 7"),
        ("page kites 1", "red kite of Ondar"),
        ("settings", "auto_answer"),
        ("threads", "No conversations yet"),
        ("position", "This channel has read"),
        ("new", "start a new conversation"),
        ("jobs", "/footnote jobs needs a conversation"),
        ("stop", "have a question in progress"),
        ("why", "received a message from you"),
        ("serch ferry", "Did you mean /footnote search"),
    ],
)
async def test_a_slash_command_is_answered_for_who_gave_it(
    running_slack: SlackService, command: str, words: str
) -> None:
    general, ada = running_slack.settle_in()
    answered = await given(running_slack, ada, general, command, words)
    assert words in text_of(answered)
    assert answered.only_to == ada.id


async def test_questions_by_command_are_answered_openly_or_for_the_asker_alone(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)

    await ada.slash(general, f"ask {QUESTION}")
    await service.until(lambda: service.finals(general), "an answer")
    [final] = service.finals(general)
    assert f" asks: {QUESTION}" in server.transcript(general, ben)
    await ben.reply(final, NEXT_QUESTION)
    await service.until(lambda: len(service.finals(general, final)) == 2, "a follow-up's answer")

    await ada.slash(general, "summary kites --private")
    await service.until(lambda: len(service.finals(general)) == 3, "a private summary")
    assert service.finals(general)[-1].only_to == ada.id
    assert len([message for message in ben.sees(general) if message.user == service.team.bot.id]) == 3


async def test_in_threads_commands_are_given_by_a_mention(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    asked = await service.ask(ada, general)

    for command, words in (
        ("why", "Its answer is posted"),
        ("jobs", "search"),
        ("sources", "1 document"),
        ("source 1", "**The red kite of Ondar"),
        ("threads", "Your conversations"),
        ("stop", "have a question in progress"),
        ("help", "@footnote ask"),
    ):
        await ada.mention(general, command, thread=asked)
        shown = await service.told(ada, general, words)
        assert (shown.only_to, shown.root) == (ada.id, asked.ts)
    await ada.mention(general, "rename The kite's times", thread=asked)
    await service.told(ada, general, "The kite's times")
    await ada.mention(general, "search", thread=asked)
    lacking = await service.told(ada, general, "or fill in the form")
    form = await ada.click(lacking, "Fill in the form")
    await service.until(lambda: form.modal, "a form")
    assert len(service.finals(general, asked)) == 1
    assert len(server.posts(general)) >= 1


async def test_forms_ask_for_what_a_command_lacks_and_say_what_is_wrong(running_slack: SlackService) -> None:
    service = running_slack
    general, ada = service.settle_in()

    search = await form_of(service, ada, general, "search")
    [field] = [name for label, name in buttons(search).items() if label != "Run"]
    await ada.submit(search, {field: "ferry Marigold"})
    await service.told(ada, general, NEXT_ANSWER)

    summary = await form_of(service, ada, general, "summary")
    offered = await ada.suggest(summary, "kit", action_id="name")
    assert [option["text"]["text"] for option in offered] == ["Kites (kites.md)"]
    wrong = await ada.submit(summary, {"name": "no such document"})
    assert list(wrong.errors) == ["name"]
    ask = await form_of(service, ada, general, "ask")
    await ada.submit(ask, {"question": NEXT_QUESTION})
    await service.until(lambda: service.finals(general), "the answer to a form")
    assert NEXT_ANSWER in text_of(service.finals(general)[0])


async def test_the_home_tab_shows_threads_sources_and_settings_and_acts_on_them(running_slack: SlackService) -> None:
    service = running_slack
    general, ada = service.settle_in()
    said = await home_of(service, ada, "1 document")
    assert "Where does the ferry leave?" in said
    await service.ask(ada, general)
    await home_of(service, ada, QUESTION)
    assert ada.home is not None
    form = await ada.click(ada.home, "Ask")
    await service.until(lambda: form.modal, "a form")
    assert form.modal is not None
    await ada.submit(form.modal, {"question": NEXT_QUESTION})
    await service.until(lambda: service.finals(ada.dm), "the answer to what was asked in the home tab")
    assert NEXT_ANSWER in text_of(service.finals(ada.dm)[0])


async def test_a_conversation_is_forgotten_by_command(running_slack: SlackService) -> None:
    service = running_slack
    general, ada = service.settle_in()
    asked = await service.ask(ada, general)
    before = (await service.run("conversations", "list"))["conversations"]
    await ada.mention(general, "delete", thread=asked)
    await service.told(ada, general, "Deleted “When")
    left = (await service.run("conversations", "list"))["conversations"]
    assert left == [one for one in before if asked.ts not in one["thread"]]
    assert len(left) == len(before) - 1
