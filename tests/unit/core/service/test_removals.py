"""The posts of deleted conversations: deleted by the worker, at the next chance."""

import asyncio

from sqlalchemy import update

from core.domain.service import InboxEntry
from core.errors import PlatformError
from storage.database.tables import PostRemovalRow
from tests.builders import build_conversation
from tests.unit.core.service.test_worker import Office, WallPlatform, message, until


class WetWall(WallPlatform):
    """Keeps a post the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    async def remove(self, entry: InboxEntry) -> None:
        if not self.refused:
            self.refused += 1
            raise PlatformError("The wall is wet.")
        await super().remove(entry)


async def test_posts_of_a_deleted_conversation_are_deleted_as_soon_as_the_platform_lets_it():
    office = Office()
    office.wall = wall = WetWall()
    async with office.working():
        await office.accept("a1", thread="a")
        await office.accept("b1", thread="b")
        await office.all_done()
        conversations = office.stores.conversations
        await conversations.add(build_conversation(address=message("a1", "a").address))
        await conversations.delete("c1")
        await until(lambda: wall.refused == 1)
    assert sorted(wall.posts) == ["a1", "b1"]
    await office.stores.database.change(update(PostRemovalRow).values(waits_until=None))
    async with office.working(), asyncio.timeout(60):  # another process
        while await office.store.list_removals({"web"}, 10):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.005)
    assert sorted(wall.posts) == ["b1"]
