"""What an interaction entitles the bot to for a while: opening a modal, and posting to its response_url."""

from dataclasses import dataclass

from tests.slack_server.refusals import Refusal
from tests.slack_server.state import Channel, Clock, Message, User, View

TRIGGER_SECONDS = 3.0
RESPONSE_SECONDS = 30 * 60.0
MOST_RESPONSES = 5


@dataclass(kw_only=True, eq=False, slots=True)
class Trigger:
    id: str
    user: User
    at: float  # clock time
    over: View | None = None  # the modal that the interaction came from
    used: bool = False
    opened: View | None = None  # what the bot showed with it


@dataclass(kw_only=True, eq=False, slots=True)
class ResponseUrl:
    id: str
    user: User
    channel: Channel
    at: float  # clock time
    message: Message | None = None  # that was clicked on
    used: int = 0
    thread_ts: str | None = None


class Triggers:
    """`trigger_seconds`: on a busy machine a bot may need more than Slack gives."""

    def __init__(self, clock: Clock, trigger_seconds: float) -> None:
        self._clock = clock
        self._triggers: dict[str, Trigger] = {}
        self._responses: dict[str, ResponseUrl] = {}
        self.trigger_seconds = trigger_seconds

    def new(self, number: str, user: User, over: View | None) -> Trigger:
        trigger = Trigger(id=number, user=user, at=self._clock.now(), over=over)
        self._triggers[trigger.id] = trigger
        return trigger

    def take(self, wanted: str) -> Trigger:
        trigger = self._triggers.get(wanted)
        if trigger is None:
            raise Refusal("invalid_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        if self._clock.now() - trigger.at > self.trigger_seconds:
            raise Refusal("expired_trigger_id")
        trigger.used = True
        return trigger

    def new_response(self, response: ResponseUrl) -> None:
        self._responses[response.id] = response

    def take_response(self, wanted: str) -> ResponseUrl:
        response = self._responses.get(wanted)
        if response is None or self._clock.now() - response.at > RESPONSE_SECONDS:
            raise Refusal("expired_url")
        if response.used >= MOST_RESPONSES:
            raise Refusal("used_url")
        response.used += 1
        return response
