"""The real service on a Slack on loopback: what people do with answers, also after a restart."""

import pytest

from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, QUESTION
from tests.e2e.slack_service import SlackService
from tests.slack_server import Call, Message, Person, SlackServer, View, text_of
from tests.slack_server.transcript import elements, texts

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


async def modal_of(service: SlackService, person: Person, message: Message, label: str) -> View:
    """What a button opens."""
    outcome = await person.click(message, label)
    await service.until(lambda: outcome.modal, f"what “{label}” shows")
    assert outcome.modal is not None
    return outcome.modal


def bold_in(view: View) -> list[str]:
    """The bold texts of a modal's rich text."""
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            if (value.get("style") or {}).get("bold"):
                found.append(str(value["text"]))
            look(list(value.values()))
        elif isinstance(value, list):
            for one in value:
                look(one)

    look(view.payload["blocks"])
    return found


def unfurling(server: SlackServer) -> list[Call]:
    """Posts that would let Slack show previews of links."""
    flags = ("unfurl_links", "unfurl_media")
    return [one for one in server.calls("chat.postMessage") if any(one.params.flag(flag, True) for flag in flags)]


async def test_an_answer_is_rated_looked_into_and_asked_on(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    asked = await service.ask(ada, general)
    [answer] = service.finals(general, asked)
    assert ANSWER in answer.text  # what screen readers and notifications have
    assert "<" not in answer.text

    rated = await ada.click(answer, "👍")
    assert rated.acknowledged
    await service.told(ada, general, "Noted as helpful")
    await ada.click(answer, "👍")
    await service.told(ada, general, "Taken back.")
    await ada.click(answer, "👎")
    await service.told(ada, general, "Noted as not helpful")

    passages = await modal_of(service, ada, answer, "Show sources")
    assert any(ANSWER in text for text in bold_in(passages))
    how = await ada.choose(answer, "How this was answered")
    await service.until(lambda: how.modal and "Searching for" in "\n".join(texts(how.modal.payload["blocks"])), "steps")
    (menu,) = (one for one in elements(answer.blocks) if one["type"] == "overflow")
    [suggestion] = [one["text"]["text"][5:] for one in menu["options"] if "ferry" in one["text"]["text"]]
    await ada.choose(answer, f"Ask: {suggestion}")
    await service.until(lambda: len(service.finals(general, asked)) == 2, "the answer to a suggestion")
    assert f" asks: {suggestion}" in server.transcript(general, thread=asked)
    assert NEXT_ANSWER in text_of(service.finals(general, asked)[1])
    assert unfurling(server) == []


async def test_a_private_answer_is_shared_by_its_reader_once(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)

    shown = await ada.slash(general, f"ask {QUESTION} --private")
    assert shown.acknowledged
    private = await service.told(ada, general, ANSWER)
    assert private.only_to == ada.id
    assert ANSWER not in server.transcript(general, ben)
    await ada.choose(private, "Share with the channel")
    await service.until(lambda: ANSWER in server.transcript(general, ben), "the shared answer")
    assert f" shares: {QUESTION}" in server.transcript(general, ben)
    assert [ANSWER in text_of(one) for one in server.answers(general) if one.only_to is None] == [False, True]


async def test_buttons_of_answers_work_after_a_restart(running_slack: SlackService) -> None:
    service = running_slack
    general, ada = service.settle_in()
    asked = await service.ask(ada, general)
    await service.restart()

    [answer] = service.finals(general, asked)
    opened = await ada.click(answer, "Show sources")
    await service.until(
        lambda: opened.modal is not None and any(ANSWER in text for text in bold_in(opened.modal)), "the quote in bold"
    )
    assert len(service.finals(general, asked)) == 1
    await ada.click(answer, "👍")
    await service.told(ada, general, "Noted as helpful")
    await ada.reply(asked, "And on Fridays?")
    await service.until(lambda: len(service.finals(general, asked)) == 2, "a follow-up's answer")
