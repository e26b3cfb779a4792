"""A team on a Slack in this process, with people in it, and what they see there."""

from collections.abc import Callable

from tests.slack_server import Channel, Message, Outcome, Person, SlackServer, View, text_of
from tests.slack_server.choosing import blocks_of
from tests.slack_server.transcript import elements, label_of, texts

RATED = "fn:up:"  # begins the name of a button that only answers have


class House:
    """A team with a channel, and two people in it."""

    def __init__(self, server: SlackServer) -> None:
        self.server = server
        self.team = server.create_team("acme")
        self.channel = server.create_channel(self.team, "general")
        self.ada = server.person("ada", self.channel)
        self.ben = server.person("ben", self.channel)

    def posts(self, place: Channel | None = None) -> list[Message]:
        """What the bot shows everybody in a channel (its threads too), oldest first."""
        return [one for one in self.server.answers(place or self.channel) if one.only_to is None]

    async def until(self, condition: Callable[[], object], what: str = "it") -> None:
        """Wait for something on Slack to become true."""
        await self.server.wait_for(condition, what=what)

    async def answered(self, place: Channel | None = None, count: int = 1) -> list[Message]:
        """The bot's final answers in a channel, when there are so many."""
        await self.until(lambda: len(self._final(place)) >= count, f"{count} answers")
        return self._final(place)

    async def ask(self, text: str = "where is the key?", place: Channel | None = None) -> Message:
        """The answer to a question of Ada's in a channel."""
        there = place or self.channel
        asked = await self.ada.mention(there, text)
        await self.until(lambda: self._final(there, asked), "the answer")
        return self._final(there, asked)[-1]

    async def shows(self, words: str, place: Channel | None = None) -> Message:
        """The newest of the bot's posts in a channel that has these words, when there is one."""
        await self.until(lambda: any(words in shown_of(one) for one in self.posts(place)), f"{words!r}")
        return next(one for one in reversed(self.posts(place)) if words in shown_of(one))

    async def told(self, person: Person, words: str, place: Channel | None = None) -> Message:
        """The newest message for this person's eyes alone that has these words, when there is one."""
        there = place or self.channel
        await self.until(lambda: self.whispered(person, words, there), f"{words!r} for {person.name} alone")
        return self.whispered(person, words, there)[-1]

    async def told_once(self, person: Person, words: str, place: Channel | None = None) -> Message:
        """The same where it is the only one."""
        await self.told(person, words, place)
        [message] = self.whispered(person, words, place or self.channel)
        return message

    async def modal(self, outcome: Outcome, words: str = "") -> View:
        """The form or view that an interaction opened, when it has these words."""

        def shows() -> bool:
            return outcome.modal is not None and words in shown_of(outcome.modal)

        await self.until(shows, f"a modal with {words!r}")
        assert outcome.modal is not None
        return outcome.modal

    def _final(self, place: Channel | None, thread: Message | None = None) -> list[Message]:
        shown = [one for one in self.posts(place) if is_final(one)]
        return [one for one in shown if thread is None or one.root == thread.root]

    def whispered(self, person: Person, words: str, place: Channel | None = None) -> list[Message]:
        """What the bot said with these words in a channel for this person's eyes alone, oldest first."""
        said = [one for one in self.server.answers(place or self.channel) if words in shown_of(one)]
        return said if place is person.dm else [one for one in said if one.only_to == person.id]


def is_final(message: Message) -> bool:
    """Whether a post is an answer, proved and whole, and no draft of one."""
    is_running = message.stream is not None and not message.stream.ended
    return not is_running and any(one["action_id"].startswith(RATED) for one in elements(message.blocks))


def shown_of(where: Message | View) -> str:
    """All that a message or a view says, in one line."""
    said = text_of(where) if isinstance(where, Message) else "\n".join(texts(blocks_of(where)))
    return " ".join(said.split())


def buttons(where: Message | View) -> dict[str, str]:
    """Label -> action id of what can be pressed in a message or a view, the menu behind ⋯ included."""
    found = elements(blocks_of(where))
    pressed = {label_of(one): one.get("action_id", "") for one in found if one["type"] == "button"}
    for menu in (one for one in elements(blocks_of(where)) if one["type"] == "overflow"):
        for option in menu["options"]:
            pressed[option["text"]["text"]] = menu["action_id"].replace(":more:", f":{option['value']}:")
    return pressed


def menus(where: Message | View) -> list[dict]:
    return [one for one in elements(blocks_of(where)) if one["type"] == "static_select"]
