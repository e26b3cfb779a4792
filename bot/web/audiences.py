"""The people who read the threads of the web app (implements Audiences).

A thread is read by the person who began it, and by the owner, who reads everything and doesn't count.
"""

from bot.web.translate import is_guest, signed_mark
from core.domain.incoming import ThreadAddress
from core.domain.readers import EVERYONE, MEMBERS, Audience, group_readers
from core.ports import ConversationRepository
from core.ports.identity import SignedInPeople


class WebAudiences:
    """Tells visitors, people who signed in and the owner apart by the authors that the web app gives them."""

    def __init__(self, conversations: ConversationRepository, people: SignedInPeople, *, has_visitors: bool) -> None:
        """Without visitors, only the owner's browser was named like one, before it had a name."""
        self._conversations = conversations
        self._people = people
        self._has_visitors = has_visitors

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        """Return the person who began the thread; of an unknown one, anybody."""
        conversation = await self._conversations.find_by_address(address)
        if conversation is None:
            return Audience.of({EVERYONE})
        return await self.of_person(address.workspace, conversation.owner, named)

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        """Return one person: a guest, a person who signed in, or the owner."""
        mark = signed_mark(person)
        own = f"web:{person}"  # no reader: it tells apart people who may read the same
        if mark is not None:
            groups = group_readers(await self._people.groups_of(mark))
            return Audience.of({EVERYONE, MEMBERS, f"person:{mark}", own, *groups})
        if is_guest(person) and self._has_visitors:
            return Audience.of({EVERYONE, own})
        return Audience(is_operator=True)
