"""Documents through chat, over real uploads: requests, proposals, Undo, and what a killed process leaves."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.presentation.action_names import Verb, read_action_name
from bot.presentation.additions import AdditionFlow, AdditionView
from core.access.bindings import Bindings
from core.access.scopes import OPERATED, Access
from core.domain.additions import Addition, AdditionState
from core.domain.incoming import ThreadAddress
from core.errors import AccessDenied, BadInput, InvalidState, PlatformError, SourceUnavailable
from core.features.additions import Additions
from core.features.workspaces import Workspaces
from core.ports.documents import WebFile
from tests.fakes import ManualClock
from tests.integration.platform_files import LIMITS
from tests.integration.upload_place import UploadPlace, in_chunks

HERE = ThreadAddress(platform="discord", workspace="local", channel="7", thread="")
PAGE = b"<html><title>Ferries</title><h1>Ferries</h1><p>The ferry leaves at noon.</p></html>"


class Posts:
    """A platform's posts and files."""

    name = "discord"

    def __init__(self) -> None:
        self.views: dict[str, list[AdditionView]] = {}
        self.files: dict[str, bytes] = {}
        self.opened: list[str] = []
        self.broken: PlatformError | None = None
        self.gate: asyncio.Event | None = None  # holds back the bytes

    def plain(self, text: str) -> str:
        return text

    async def post(self, addition: Addition, view: AdditionView) -> str:
        if self.broken is not None:
            broken, self.broken = self.broken, None
            raise broken
        self.views.setdefault(addition.id, []).append(view)  # found by its buttons, if it is there
        return addition.id

    async def edit(self, addition: Addition, view: AdditionView) -> None:
        assert addition.post_ref == addition.id
        self.views[addition.id].append(view)

    async def open_file(self, addition: Addition) -> AsyncIterator[bytes]:
        self.opened.append(addition.name)
        if self.gate is not None:
            await self.gate.wait()
        if addition.name not in self.files:
            raise PlatformError("The file is gone from the platform.")
        async for chunk in in_chunks(self.files[addition.name]):
            yield chunk

    def shown(self, addition: Addition) -> tuple[str, list[str]]:
        """The text and the labels of the buttons, as they are now."""
        view = self.views[addition.id][-1]
        return view.text, [button.label for button in view.buttons]


class Place(UploadPlace):
    """`restart` is another process on the same stores and folder."""

    def __init__(self, folder: Path) -> None:
        self.posts = Posts()
        self.clock = ManualClock()
        super().__init__(folder)

    def begin(self) -> None:
        super().begin()
        bindings = Bindings(self.stores.teams, {}, {}, self.clock)
        self.additions = Additions(
            self.stores.additions,
            self.uploads,
            self.library,
            Access(self.corpus, self.stores.settings, OPERATED | {"discord", "slack"}),
            Workspaces(self.corpus, bindings, "local", ()),
            self.fetch,
        )
        self.flow = AdditionFlow(self.additions, self.posts, lambda seconds: asyncio.sleep(0.001))

    async def fetch(self, url: str, most_bytes: int) -> WebFile:
        if "intern" in url:
            raise SourceUnavailable("'intern' is an address of your own network (127.0.0.1), which is not read")
        return WebFile(name="example.org/ferries.html", content=PAGE)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """A process at work; it ends in the middle of all it does."""
        reading = asyncio.create_task(self.uploads.work(["local"]))
        try:
            yield
        finally:
            await self.flow.close()
            reading.cancel()
            await asyncio.wait({reading})
            self.begin()

    async def add(self, name: str, data: bytes | str = "The key is under the mat.", **options: object) -> Addition:  # type: ignore[override]
        """Request a file, and hand it to the flow."""
        self.posts.files[name] = data.encode() if isinstance(data, str) else data
        return await self.request(name=name, **options)

    async def request(self, key: str = "", is_permitted: bool = True, **given: object) -> Addition:
        wanted = key or f"event {sum(map(len, self.posts.views.values()))}"
        addition, is_new = await self.additions.request(
            wanted,
            HERE,
            author="2",
            author_name="Ines",
            is_permitted=is_permitted,
            **given,  # type: ignore[arg-type]
        )
        if is_new:
            await self.flow.begin(addition)
        return addition

    async def press(self, verb: Verb, addition: Addition, *, by: str = "Tomas", is_permitted: bool = True) -> None:
        await self.flow.press(verb, addition.id, "local", by=by, by_name=by, is_permitted=is_permitted)

    async def state(self, addition: Addition) -> AdditionState:
        return (await self.additions.get(addition.id, "local")).state


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path / "uploads")


async def test_a_file_is_read_and_undone(place: Place) -> None:
    async with place.open():
        added = await place.add("keys.md", "# Keys\n\nUnder the mat.\n\n# Doors\n\nThe blue one.")
        await place.flow.idle()
        text = (
            "Added keys.md: 2 pages. It can be read in: the terminal, the web app. "
            "In chats, it is for all members, without guests."
        )
        assert place.posts.shown(added) == (text, ["Undo"])
        assert await place.find("mat") == ["keys.md"]
        await place.press(Verb.UNDO, added)
        await place.flow.idle()
        assert place.posts.shown(added) == ("Tomas took keys.md back. It can't be read any more.", [])
    assert (await place.find("mat"), place.on_disk()) == ([], [])
    assert await place.additions.unsettled("discord") == []


async def test_a_proposal_waits_for_somebody_permitted(place: Place) -> None:
    async with place.open():
        proposed = await place.add("keys.md", is_permitted=False)
        await place.flow.idle()
        assert place.posts.shown(proposed) == ("Ines proposes keys.md. An admin can add it.", ["Add", "Dismiss"])
        with pytest.raises(AccessDenied, match="Only an admin, or somebody whom an admin permits, can add"):
            await place.press(Verb.ADD, proposed, is_permitted=False)
        del place.posts.files["keys.md"]  # the platform's file is gone: its bytes were kept
        await place.press(Verb.ADD, proposed)
        await place.flow.idle()
        assert place.posts.shown(proposed)[0].startswith("Added keys.md: 1 page. Ines proposed it, Tomas added it.")
        with pytest.raises(InvalidState, match="decided already by Tomas"):
            await place.press(Verb.DISMISS, proposed, by="Ada")
    assert await place.find("mat") == ["keys.md"]


async def test_a_dismissed_proposal_leaves_nothing(place: Place) -> None:
    async with place.open():
        proposed = await place.add("keys.md", is_permitted=False)
        await place.flow.idle()
        await place.press(Verb.DISMISS, proposed)
        await place.flow.idle()
        assert place.posts.shown(proposed) == ("Tomas dismissed keys.md, which Ines proposed.", [])
    assert (place.on_disk(), await place.documents()) == ([], {})


@pytest.mark.parametrize("is_permitted", [True, False], ids=["added", "proposed"])
@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("notes.pages", "x", "I didn't add notes.pages. Pages files can't be read. Export it as PDF or Word."),
        ("long.md", "x" * (LIMITS.file_bytes + 1), "I didn't add long.md. Larger than 19 kB. Split the file."),
        ("empty.md", "", "I didn't add empty.md. The file is empty."),
    ],
)
async def test_a_refusal_says_why(place: Place, name: str, data: str, text: str, is_permitted: bool) -> None:
    async with place.open():
        refused = await place.add(name, data, is_permitted=is_permitted)
        await place.flow.idle()
        assert place.posts.shown(refused) == (text, [])
    assert place.on_disk() == []


async def test_a_file_that_cant_be_read_is_kept_with_its_reason(place: Place) -> None:
    async with place.open():
        failed = await place.add("broken.pdf", b"%PDF-1.7 nothing more")
        await place.flow.idle()
        text, buttons = place.posts.shown(failed)
        assert text.startswith("I kept broken.pdf, but it can't be read. ")
        assert buttons == ["Undo"]
        await place.press(Verb.UNDO, failed)
        await place.flow.idle()
    assert (place.on_disk(), await place.documents()) == ([], {})


async def test_a_link_is_read_with_its_address(place: Place) -> None:
    async with place.open():
        added = await place.request(url="https://example.org/ferries")
        await place.flow.idle()
        assert place.posts.shown(added)[0].startswith("Added https://example.org/ferries: 1 page.")
        refused = await place.request(url="http://intern/")
        await place.flow.idle()
        sentence = "'intern' is an address of your own network (127.0.0.1), which is not read."
        assert place.posts.shown(refused)[0] == f"I didn't add http://intern/. {sentence}"
        with pytest.raises(BadInput, match="isn't a web address"):
            await place.request(url="file:///etc/passwd")
    [document] = (await place.documents()).values()
    assert (document.path, document.url) == ("example.org/ferries.html", "https://example.org/ferries")


async def test_undo_restores_the_document_that_was_replaced(place: Place) -> None:
    async with place.open():
        first = await place.add("keys.md", "The key is under the mat.")
        await place.flow.idle()
        second = await place.add("keys.md", "The key is in the well.")
        await place.flow.idle()
        assert "It replaces the earlier document of this name." in place.posts.shown(second)[0]
        with pytest.raises(InvalidState, match="was changed after this"):
            await place.press(Verb.UNDO, first)
        await place.press(Verb.UNDO, second)
        await place.flow.idle()
        assert place.posts.shown(second)[0].endswith("The earlier document of this name is back.")
        await place.uploads.outcome("local", "keys.md")
    assert (await place.find("mat"), await place.find("well")) == (["keys.md"], [])


async def test_a_repeated_event_is_one_addition(place: Place) -> None:
    async with place.open():
        first = await place.add("keys.md", key="message 1")
        again = await place.add("keys.md", key="message 1")
        await place.flow.idle()
    assert (first.id, len(place.posts.views), place.posts.opened) == (again.id, 1, ["keys.md"])


async def test_a_killed_process_leaves_nothing_undone(place: Place) -> None:
    place.posts.gate = asyncio.Event()
    async with place.open():
        added = await place.add("keys.md", key="1")
        proposed = await place.add("doors.md", "The blue one.", key="2", is_permitted=False)
        await asyncio.sleep(0.01)  # both wait for their bytes
        assert [await place.state(one) for one in (added, proposed)] == ["accepted", "proposed"]
    place.posts.gate = None
    async with place.open():
        await place.flow.resume()
        await place.flow.idle()
        assert place.posts.shown(added)[0].startswith("Added keys.md: 1 page.")
        assert place.posts.shown(proposed) == ("Ines proposes doors.md. An admin can add it.", ["Add", "Dismiss"])
    assert await place.find("mat") == ["keys.md"]


@pytest.mark.parametrize("state", [AdditionState.ACCEPTED, AdditionState.READING, AdditionState.UNDONE])
async def test_each_step_can_be_repeated(place: Place, state: AdditionState) -> None:
    """Whatever was done before a kill that its row doesn't know yet."""
    async with place.open():
        added = await place.add("keys.md")
        await place.flow.idle()
    now = await place.additions.get(added.id, "local")
    if state is AdditionState.UNDONE:
        now = replace(now, decided_by_name="Tomas")
    assert await place.stores.additions.change(replace(now, state=state), was=now.state)
    async with place.open():
        await place.flow.resume()
        await place.flow.idle()
        text = place.posts.shown(added)[0]
        assert text.startswith(
            "Tomas took keys.md back." if state is AdditionState.UNDONE else "Added keys.md: 1 page."
        )
    assert await place.find("mat") == ([] if state is AdditionState.UNDONE else ["keys.md"])


async def test_a_broken_platform_is_tried_again(place: Place) -> None:
    async with place.open():
        place.posts.broken = PlatformError("Discord is away.")
        added = await place.add("keys.md")
        await place.flow.idle()
        assert place.posts.shown(added)[0].startswith("Added keys.md: 1 page.")


async def test_a_full_disk_is_tried_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync, failures = os.fsync, [OSError(errno.ENOSPC, "No space left on device")] * 2

    def full(handle: int) -> None:
        if failures:
            raise failures.pop()
        fsync(handle)

    monkeypatch.setattr("core.features.uploads.os.fsync", full)
    async with place.open():
        added = await place.add("keys.md")
        await place.flow.idle()

        assert failures == []
        assert await place.state(added) is AdditionState.READ


async def test_old_records_go_with_the_file_that_was_replaced(place: Place) -> None:
    async with place.open():
        for text in ("The key is under the mat.", "The key is in the well."):
            await place.add("keys.md", text)
            await place.flow.idle()
        place.uploads.clock.advance(31 * 86_400)  # type: ignore[attr-defined]
        assert await place.additions.purge() == 2
    assert place.on_disk() == ["keys.md"]


async def test_buttons_name_their_addition(place: Place) -> None:
    async with place.open():
        proposed = await place.add("keys.md", is_permitted=False)
        await place.flow.idle()
        names = [read_action_name(button.name) for button in place.posts.views[proposed.id][-1].buttons]
        assert [(name.verb, name.id) for name in names if name] == [
            (Verb.ADD, proposed.id),
            (Verb.DISMISS, proposed.id),
        ]
