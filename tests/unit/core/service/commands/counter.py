"""The command table over stores in memory, for whoever calls."""

from dataclasses import replace

from core.domain.conversation import Conversation
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.service import ACCEPTED, InboxEntry
from core.errors import AccessDenied
from core.features.additions import Additions
from core.features.kept_answers import KeptAnswers
from core.features.review import Reviews
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.commands.threads import RunningQuestions
from core.service.jobs import Jobs
from core.work.commands import CommandCall, CommandResult
from core.work.conversations import Conversations
from tests.scripted import says
from tests.stores import Stores
from tests.unit.core.answering.test_service import SEARCH, Desk
from tests.unit.core.library_builder import Shelf, by_rule

HERE = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")


class Counter:
    """Calls commands as somebody, somewhere. `by` and `at` change who and where."""

    def __init__(
        self,
        shelf: Shelf,
        desk: Desk,
        *,
        serves: bool = True,
        kept: KeptAnswers | None = None,
        additions: Additions | None = None,
        reviews: Reviews | None = None,
    ) -> None:
        self.shelf = shelf
        self.desk = desk
        self.conversation: Conversation | None = None
        self.conversations = Conversations(desk.store, desk.clock)
        self.entries = Stores().inbox(desk.clock)
        self.stopped: list[tuple[str, str]] = []
        self.call = CommandCall(name="", workspace="local", conversation=None, author="ada", address=HERE)
        self.commands = Commands(
            library=shelf.library,
            corpus=shelf.corpus,
            conversations=self.conversations,
            jobs=Jobs(desk.job_store, desk.store, desk.clock),
            access=shelf.access,
            settings=shelf.settings,
            auto_answers=AutoAnswers(shelf.stores.auto_answers, shelf.stores.settings, desk.clock),
            questions=RunningQuestions(self.entries, self.stop) if serves else None,
            kept=kept,
            facts=shelf.facts,
            recaps=by_rule(shelf),
            additions=additions,
            reviews=reviews,
        )

    async def __call__(self, name: str, argument: str = "", **changes: object) -> CommandResult:
        """As typed; `options` among the changes are as a form gives them."""
        call = replace(self.call, name=name, argument=argument, conversation=self.conversation)
        return await self.commands.run(replace(call, **changes))

    async def begin(self, thread: str, *, owner: str = "ada", title: str = "", **place: str) -> Conversation:
        """A conversation without messages; each is newer than the one before."""
        self.desk.clock.advance(60)
        address = replace(HERE, thread=thread, **place)
        message = IncomingMessage(address=address, author=owner, text="hello there", event_key=f"begin {thread}")
        return await self.conversations.create(message, title=title or thread)

    async def ask(self, text: str, *, thread: str = "t1", author: str = "ada", **place: str) -> InboxEntry:
        """A question in the inbox that nobody works on yet."""
        key = f"{author}:{thread}:{text}"
        address = replace(HERE, thread=thread, **place)
        incoming = IncomingMessage(address=address, author=author, text=text, event_key=key, message_key=key)
        entry, _ = await self.entries.accept(incoming, ACCEPTED)
        return entry

    async def stop(self, message_key: str, by: str, is_moderator: bool = False) -> None:
        """As Worker.cancel does."""
        found = await self.entries.find_open(message_key)
        if any(entry.incoming.author != by for entry in found) and not is_moderator:
            raise AccessDenied(f"Only {found[0].incoming.author} can stop this answer.")
        self.stopped.append((message_key, by))
        await self.entries.cancel(message_key, by)


async def stocked(*, serves: bool = True, kept: KeptAnswers | None = None) -> Counter:
    """A counter over a library of one document, with nothing asked."""
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", "# Garden\n\nA shed.", title="House")
    return Counter(shelf, Desk(shelf, SEARCH, says("Under the stairs [1].")), serves=serves, kept=kept)


async def answered(**options: bool) -> Counter:
    """A counter in a conversation where one question was answered."""
    counter = await stocked(**options)
    answer = await counter.desk.ask()
    counter.conversation = await counter.desk.store.get(answer.conversation_id, "local")
    return counter
