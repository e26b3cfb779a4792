"""The real service on a Slack on loopback: what people ask there is answered once, wherever and however they ask it."""

import pytest

from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION
from tests.e2e.slack_service import SlackService
from tests.slack_server import Message, SlackServer, pings_of, text_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
SOURCE = "Kites"
TOWERS = b"# Towers\n\nThe tower of Brix was built by the mason Halva.\n"
TOWERS_QUESTION = "Who built the tower of Brix?"
TOWERS_ANSWER = "built by the mason Halva"


def methods_about(server: SlackServer, message: Message) -> list[str]:
    """The calls about a message's thread, in the order they came."""
    root = message.root
    return [call.method for call in server.log if root in (call.params.get("thread_ts"), call.params.get("ts"))]


async def test_a_mention_opens_a_thread_whose_answer_follows_the_question(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()

    asked = await ada.mention(general, QUESTION)
    [answer] = await service.answered(general, thread=asked)
    assert f"{ANSWER}.[[1]](https://notes.example/" in answer
    assert SOURCE in answer
    assert ANSWER in await service.follow(answer)
    about = methods_about(server, asked)
    assert about[0] in ("agents.sessions.setStatus", "assistant.threads.setStatus")  # the first tells the kind of app
    assert about.count("chat.startStream") == 1
    assert len(server.posts(general)) == 1

    await ada.reply(asked, NEXT_QUESTION)  # without a mention
    _, second = await service.answered(general, 2, thread=asked)
    assert NEXT_ANSWER in second

    await ada.edit(asked, f"<@{service.team.bot.id}> {NEXT_QUESTION}")
    await service.until(
        lambda: NEXT_ANSWER in text_of(server.answers(general, thread=asked)[0]), "the edited question's answer"
    )
    assert len(await service.answered(general, 2, thread=asked)) == 2
    await ada.delete(asked)
    await service.until(lambda: len(server.answers(general, thread=asked)) == 1, "the deleted question's answer gone")


async def test_mention_and_message_of_one_text_are_one_question_in_either_order(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    threads = []
    for first in (True, False):
        server.world.mention_first = first
        threads.append(await service.ask(ada, general))
    server.world.mention_first = True
    for name in ("message", "app_mention"):
        late = server.hold_events(1, name)
        threads.append(await service.ask(ada, general))
        assert late.held == 1
        late.release()
        await server.settle()
    threads.append(await service.ask(ada, general, NEXT_QUESTION))  # by then a second answer would have begun
    assert [len(server.answers(general, thread=thread)) for thread in threads] == [1] * 5
    assert len(server.posts(general)) == 5


async def test_what_people_say_to_each_other_is_left_alone(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)
    asked = await service.ask(ada, general)

    said = await ada.say(general, QUESTION)
    await ben.reply(said, NEXT_QUESTION)
    await ben.reply(asked, f"{ada.mention_text} {NEXT_QUESTION}")
    await ben.say(general, f"<!channel> {NEXT_QUESTION}")
    await server.settle()
    other = server.other_bot("herald", general)
    await other.mention(general, QUESTION)
    await other.reply(asked, QUESTION)
    await server.settle()
    last = await service.ask(ben, general)
    assert {message.root for message in server.answers(general)} == {asked.ts, last.ts}
    assert len(server.posts(general)) == 2


async def test_a_thread_is_muted_and_listened_to_by_what_is_said_in_it(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    asked = await service.ask(ada, general)

    await ada.mention(general, "mute", thread=asked)
    await service.told(ada, general, "In this thread I now answer only when mentioned.")
    await ada.reply(asked, NEXT_QUESTION)
    await server.settle()
    await ada.mention(general, QUESTION, thread=asked)
    await service.until(lambda: len(service.finals(general, asked)) == 2, "the answer to a mention")
    assert NEXT_ANSWER not in server.transcript(general, thread=asked)
    await ada.mention(general, "unmute", thread=asked)
    await service.told(ada, general, "Back to normal")
    await ada.reply(asked, NEXT_QUESTION)
    await service.until(lambda: len(service.finals(general, asked)) == 3, "the answer to a follow-up")

    talk = await ada.say(general, "The kite is late again.")
    await ada.mention(general, "listen", thread=talk)
    await service.told(ada, general, "Listening.")
    await ada.reply(talk, NEXT_QUESTION)
    await service.until(lambda: len(service.finals(general, talk)) == 1, "the answer to what was heard")


async def test_direct_messages_are_answered_and_followed_up_in_their_threads(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    _, ada = service.settle_in()

    asked = await ada.say(ada.dm, QUESTION)
    [direct] = await service.answered(ada.dm, thread=asked)
    assert ANSWER in direct
    await ada.reply(asked, NEXT_QUESTION)
    assert NEXT_ANSWER in (await service.answered(ada.dm, 2, thread=asked))[1]
    other = await ada.say(ada.dm, NEXT_QUESTION)
    assert len(await service.answered(ada.dm, thread=other)) == 1
    assert len(server.posts(ada.dm)) == 3


async def test_a_pane_greets_suggests_shows_its_status_and_names_its_thread(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()

    thread = await ada.open_pane(beside=general)
    await service.until(lambda: thread in ada.dm.prompts, "suggested prompts")
    assert "Ask me about your documents" in server.transcript(ada.dm, thread=thread)
    [prompt, *_] = ada.dm.prompts[thread]["prompts"]
    await ada.look_at(thread, general)
    await server.settle()

    await ada.say(ada.dm, prompt["message"], thread=thread)
    await service.until(lambda: len(service.finals(ada.dm, thread)) == 1, "the answer in the pane")
    await service.until(lambda: thread in ada.dm.titles, "the thread's title")
    assert ada.dm.titles[thread] == prompt["message"]
    statuses = [call for call in server.calls("assistant.threads.setStatus") if call.params["thread_ts"] == thread]
    assert statuses
    assert not server.status(ada.dm, thread)


async def test_files_are_read_for_their_thread_alone(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()

    asked = await ada.mention(general, TOWERS_QUESTION, [("towers.md", TOWERS)])
    [answer] = await service.answered(general, thread=asked)
    assert TOWERS_ANSWER in answer
    assert "Towers" in answer
    await ada.reply(asked, f"{TOWERS_QUESTION} Say it again.")
    assert TOWERS_ANSWER in (await service.answered(general, 2, thread=asked))[1]
    elsewhere = await service.ask(ada, general, TOWERS_QUESTION)
    assert TOWERS_ANSWER not in server.transcript(general, thread=elsewhere)
    assert len(server.calls("download")) == 1


async def test_in_a_thread_of_people_it_reads_no_talk_again(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)

    talk = await ben.say(general, "The red kite of Ondar is late again.")
    await ben.reply(talk, "Does it fly today?")
    await ada.mention(general, QUESTION, thread=talk)
    await service.answered(general, thread=talk)
    await ada.mention(general, NEXT_QUESTION, thread=talk)
    await service.answered(general, 2, thread=talk)
    read = [call for call in server.calls("conversations.replies") if call.params["ts"] == talk.ts]
    assert read  # once, or twice if Ben's words were delivered after the first question
    await ben.mention(general, NEXT_QUESTION, thread=talk)  # a thread of people: the bot has to be named each time
    await service.answered(general, 3, thread=talk)
    assert read == [call for call in server.calls("conversations.replies") if call.params["ts"] == talk.ts]


async def test_a_message_is_asked_about_and_kept_from_its_menu(running_slack: SlackService) -> None:
    service, server = running_slack, running_slack.server
    general, ada = service.settle_in()
    said = await server.person("ben", general).say(general, "The red kite of Ondar! <!here>")

    about = await ada.shortcut(said, "ask_about")
    assert about.acknowledged
    await service.until(lambda: about.modal, "a form")
    assert about.modal is not None
    sent = await ada.submit(about.modal, {"question": QUESTION})
    assert (sent.acknowledged, sent.errors) == (True, {})
    await service.until(lambda: service.finals(general, said), "an answer below the message")
    assert ANSWER in text_of(service.finals(general, said)[0])
    assert [pings_of(message) for message in server.answers(general)] == [[]] * 2

    kept = await ada.shortcut(service.finals(general, said)[0], "keep_answer")
    assert kept.acknowledged
    await service.told(ada, general, "It can be found once a reviewer accepts it")
    of_people = await ada.shortcut(said, "keep_answer")
    await service.until(lambda: of_people.modal, "a form")
    assert of_people.modal is not None
    refused = await ada.submit(of_people.modal, {"question": "?"})
    assert refused.errors == {"question": "Write a question first."}
