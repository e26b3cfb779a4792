"""One of several processes with the inbox and the ledger that production builds: told what to do, all at once.

A line of input is {"ask": [[event id, person, channel], ...]} or {"call": [person, ...]}, a call of a model for each;
the line of output is the list of decision codes, or of what became of the calls. {"hang": person} calls a model that
never replies. Arguments: the folder of the data, and the limits as JSON.
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from bot.config import load_config
from bot.wiring.parts import open_parts
from core.domain.chat import ChatMessage, ChatRequest, ChatRole
from core.domain.incoming import IncomingMessage, ThreadAddress, event_key
from core.domain.replies import ChatResponse, Usage
from core.domain.spending import Account
from core.errors import BudgetSpent
from core.service.inbox import Inbox, platform_gates
from core.work.spending import MeteredProvider, Spending
from core.work.steps import NO_STEPS, complete
from tests.scripted import ScriptedProvider, says
from tests.told_process import say, told

LEASE_SECONDS = 600.0  # of a reservation
USAGE = Usage(input_tokens=400, output_tokens=100)
REQUEST = ChatRequest(system="s" * 400, messages=(ChatMessage(role=ChatRole.USER, text="x" * 400),))


class Model(ScriptedProvider):
    """Replies after a turn of the event loop, if at all."""

    def __init__(self, *, replies: bool) -> None:
        super().__init__(())
        self._replies = replies

    async def complete(self, request: ChatRequest, on_text: object = None) -> ChatResponse:
        if not self._replies:
            say("hanging")
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return replace(says("Yes."), usage=USAGE)


async def main(folder: Path, limits: dict[str, object]) -> None:
    prices = {"mill": {"input": 1, "output": 2}}
    config = load_config(None, data_dir=folder, limits=limits, prices=prices)
    async with open_parts(config) as app:
        inbox = app.build_inbox(platform_gates(app.stores.settings), lambda: None, lambda key, before: None)
        say("ready")
        async for order in told():
            if "hang" in order:
                await _call(app.spending, order["hang"], replies=False)
            asked = [_ask(inbox, *question) for question in order.get("ask", ())]
            calls = [_call(app.spending, person) for person in order.get("call", ())]
            say(json.dumps(await asyncio.gather(*asked, *calls)))


async def _ask(inbox: Inbox, id: str, person: str, channel: str) -> str:
    address = ThreadAddress(platform="discord", workspace="local", channel=channel, thread=id)
    key = event_key(address, id)
    question = IncomingMessage(address=address, author=person, event_key=key, text="Where is the key?")
    return (await inbox.receive(question)).decision.code


async def _call(spending: Spending, person: str, *, replies: bool = True) -> str:
    provider = MeteredProvider(
        Model(replies=replies), spending, model="mill", max_output_tokens=200, seconds=LEASE_SECONDS
    )
    account = Account(workspace="local", channel="discord:c", person=person)
    try:
        await complete(provider, REQUEST, NO_STEPS.charged(account))
    except BudgetSpent:
        return "refused"
    return "made"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2])))
