"""What a thread may read: whatever is set, never another workspace's, another thread's, or what its channel may not."""

from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access.scopes import ATTACHMENTS, Access, Ground, attached_name
from core.domain.corpus import Source
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.readers import MEMBERS_ONLY, OPEN_TO_ALL, Audience
from core.domain.service import TO_THE_END, ChannelSettings, PersonAddress, PositionHolder
from core.errors import PlatformError
from tests.builders import build_source
from tests.stores import Stores

HERE = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
OTHERS = (
    replace(HERE, thread="t2"),
    replace(HERE, thread=""),
    replace(HERE, channel="other"),
    replace(HERE, platform="api"),
    replace(HERE, workspace="elsewhere"),
)


def attached(address: ThreadAddress) -> Source:
    return build_source(attached_name(address), workspace=address.workspace, kind=ATTACHMENTS)


async def access_to(*sources: Source, **channel: object) -> Access:
    stores = Stores()
    corpus, settings = stores.corpus, stores.settings
    for source in sources:
        await corpus.save_source(source)
    if channel:
        await settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(**channel))
    return Access(corpus, settings)


async def names(access: Access, address: ThreadAddress | None = None, workspace: str = "local") -> list[str]:
    return [source.name for source in await access.sources(workspace, address)]


async def test_a_channel_reads_every_source_until_something_is_set() -> None:
    access = await access_to(build_source("wiki"), build_source("handbook"))

    assert await names(access, HERE) == ["handbook", "wiki"]


async def test_a_channel_reads_the_sources_that_are_set_for_it_and_other_channels_are_free() -> None:
    access = await access_to(build_source("wiki"), build_source("handbook"), sources=frozenset({"wiki", "gone"}))

    assert await names(access, HERE) == ["wiki"]
    assert await names(access, replace(HERE, thread="t2")) == ["wiki"]
    assert await names(access, replace(HERE, channel="other")) == ["handbook", "wiki"]


async def test_a_channel_may_be_left_without_any_source() -> None:
    assert await names(await access_to(build_source("wiki"), sources=frozenset()), HERE) == []


@pytest.mark.parametrize("sources", [None, frozenset({"wiki"})])
async def test_what_was_attached_is_read_in_its_thread_alone(sources: frozenset[str] | None) -> None:
    access = await access_to(build_source("wiki"), attached(HERE), sources=sources)

    assert await names(access, HERE) == [attached_name(HERE), "wiki"]
    for other in OTHERS[:4]:
        assert attached_name(HERE) not in await names(access, other)
    assert await names(access) == ["wiki"]


async def test_a_folder_that_is_called_like_attachments_is_no_attachment() -> None:
    access = await access_to(build_source(attached_name(HERE)), sources=frozenset({"wiki"}))

    assert await names(access, HERE) == []


async def test_an_address_of_another_workspace_reads_nothing() -> None:
    access = await access_to(build_source("wiki"))

    assert await names(access, replace(HERE, workspace="elsewhere")) == []
    assert await names(access, workspace="elsewhere") == []


async def test_the_scope_holds_ids_workspace_and_positions() -> None:
    wiki = build_source("wiki")
    scope = await (await access_to(wiki)).scope("local", HERE, positions={"book": 3})

    assert (scope.workspace, scope.sources, scope.positions) == ("local", frozenset({wiki.id}), {"book": 3})


PLAIN_NAMES = ("wiki", "handbook", "attached:", attached_name(HERE))
ANY_SOURCE = st.one_of(
    st.builds(build_source, st.sampled_from(PLAIN_NAMES), workspace=st.sampled_from(("local", "elsewhere"))),
    st.builds(attached, st.sampled_from((HERE, *OTHERS))),
)
ANY_SETTINGS = st.builds(
    ChannelSettings, sources=st.none() | st.frozensets(st.sampled_from((*PLAIN_NAMES, *map(attached_name, OTHERS))))
)


@given(
    sources=st.lists(ANY_SOURCE, unique_by=lambda source: (source.workspace, source.name)),
    address=st.sampled_from((None, HERE, *OTHERS)),
    settings=ANY_SETTINGS,
    workspace=st.sampled_from(("local", "elsewhere")),
)
async def test_no_scope_ever_holds_what_is_not_for_its_thread(
    sources: list[Source], address: ThreadAddress | None, settings: ChannelSettings, workspace: str
) -> None:
    stores = Stores()
    corpus, repository = stores.corpus, stores.settings
    for source in sources:
        await corpus.save_source(source)
    if address is not None:
        await repository.save_channel(ChannelAddress.of(address), settings)
    scope = await Access(corpus, repository).scope(workspace, address)

    held = [source for source in sources if source.id in scope.sources]
    assert len(held) == len(scope.sources)
    for source in held:
        assert source.workspace == workspace
        assert address is None or address.workspace == workspace
        if source.kind == ATTACHMENTS:
            assert address is not None and source.name == attached_name(address)
        elif address is not None:
            assert settings.allows(source.name)


ADA = PersonAddress(workspace="local", person="ada")
BOOKS = ("book", "tale", "log")
ANY_POSITIONS = st.dictionaries(st.sampled_from(BOOKS), st.integers(1, 9) | st.just(TO_THE_END))


async def reading(holders: dict[PositionHolder, dict[str, int]]) -> Access:
    stores = Stores()
    settings = stores.settings
    for holder, positions in holders.items():
        for document_id, last in positions.items():
            await settings.save_position(holder, document_id, last)
    return Access(stores.corpus, settings)


@given(channel=ANY_POSITIONS, own=ANY_POSITIONS, asked=ANY_POSITIONS, reader=st.sampled_from((None, "ada", "ben")))
async def test_a_channel_never_shows_a_page_beyond_its_position_whoever_asks(
    channel: dict[str, int], own: dict[str, int], asked: dict[str, int], reader: str | None
) -> None:
    access = await reading({ChannelAddress.of(HERE): channel, ADA: own})
    found = (await access.scope("local", HERE, asked, reader)).positions

    for book in BOOKS:
        bounds = [each[book] for each in (channel, asked, own if reader == "ada" else {}) if book in each]
        assert found.get(book) == min(bounds, default=None)


@given(channel=ANY_POSITIONS, own=ANY_POSITIONS, asked=ANY_POSITIONS, reader=st.sampled_from((None, "ada", "ben")))
async def test_in_their_own_thread_a_person_reads_as_far_as_they_have_whoever_opens_a_link_of_it(
    channel: dict[str, int], own: dict[str, int], asked: dict[str, int], reader: str | None
) -> None:
    access = await reading({ChannelAddress.of(HERE): channel, ADA: own})
    found = (await access.scope("local", replace(HERE, thread="private:ada"), asked, reader)).positions

    for book in BOOKS:
        bounds = [each[book] for each in ({**channel, **own}, asked) if book in each]
        assert found.get(book) == min(bounds, default=None)


async def test_positions_of_others_and_of_other_channels_and_workspaces_are_not_mixed_in() -> None:
    access = await reading({ChannelAddress.of(HERE): {"book": 2}, ADA: {"tale": 3}})

    assert (await access.scope("local", replace(HERE, channel="other"))).positions == {}
    assert (await access.scope("local", replace(HERE, thread="private:ben"))).positions == {"book": 2}
    assert (await access.scope("elsewhere", replace(HERE, workspace="elsewhere"), reader="ada")).positions == {}
    assert (await access.scope("local", reader="ada")).positions == {"tale": 3}
    assert (await access.scope_to_the_end("local", HERE)).positions == {}


class Places:
    """Audiences that a test sets; `unknown` is why they can't be looked up."""

    def __init__(self) -> None:
        self.of_places: dict[ThreadAddress, Audience] = {}
        self.of_people: dict[str, Audience] = {}
        self.unknown = ""

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return self._known(self.of_places.get(address, Audience()))

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return self._known(self.of_people.get(person, Audience()))

    def _known(self, found: Audience) -> Audience:
        if self.unknown:
            raise PlatformError(self.unknown)
        return found


CHAT = ThreadAddress(platform="chat", workspace="local", channel="gm", thread="t1")
GM, PLAYER = frozenset({"everyone", "members", "role:gm"}), frozenset({"everyone", "members"})
GUEST = frozenset({"everyone", "channel:gm"})
OF_READERS = {"all": OPEN_TO_ALL, "club": MEMBERS_ONLY, "secrets": frozenset({"role:gm"}), "drafts": frozenset()}


async def a_chat() -> tuple[Access, Places, Stores]:
    stores, places = Stores(), Places()
    for name, readers in OF_READERS.items():
        await stores.corpus.save_source(build_source(name, readers=readers))
    access = Access(stores.corpus, stores.settings)
    access.audiences["chat"] = places
    return access, places, stores


@pytest.mark.parametrize(
    ("parts", "readable"),
    [
        ([GM], ["all", "club", "secrets"]),
        ([GM, PLAYER], ["all", "club"]),
        ([GM, PLAYER, GUEST], ["all"]),
        ([], ["all"]),  # nobody is known to read there
    ],
)
async def test_a_place_shows_what_everyone_who_can_read_it_may_read(
    parts: list[frozenset[str]], readable: list[str]
) -> None:
    access, places, _ = await a_chat()
    places.of_places[CHAT] = Audience.of(*parts)

    assert await names(access, CHAT) == readable


async def test_the_wider_rights_of_a_person_count_only_where_nobody_else_reads() -> None:
    access, places, _ = await a_chat()
    places.of_places[CHAT] = Audience.of(PLAYER)
    places.of_people["ada"] = Audience.of(GM)
    private = replace(CHAT, thread="private:ada")

    async def read(address: ThreadAddress, **given: object) -> list[str]:
        scope = await access.scope("local", address, **given)
        return sorted(id.removeprefix("local/") for id in scope.sources)

    assert await read(CHAT, reader="ada") == ["all", "club"]
    assert await read(CHAT, reader="ada", alone=True) == ["all", "club", "secrets"]
    assert await read(private) == ["all", "club", "secrets"]
    assert await read(replace(CHAT, thread="private:ben"), reader="ada") == ["all"]


class Members:
    """Audiences that name people only as far as they are asked about."""

    people: ClassVar = {"gm": {"ada", "ben"}, "closed": {"ada"}}

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience.of(*(self._words(person, named) for person in self.people[address.thread or "gm"]))

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience.of(self._words(person, named))

    def _words(self, person: str, named: frozenset[str]) -> frozenset[str]:
        return frozenset({"everyone", "channel:gm", f"person:{person}"}) & (named | {"everyone"})


@pytest.mark.parametrize(("person", "reads"), [("ada", True), ("ben", False)])
async def test_a_closed_thread_is_read_by_its_members_alone(person: str, reads: bool) -> None:
    access, _, _ = await a_chat()
    access.audiences["chat"] = Members()

    assert await access.reads(replace(CHAT, thread="closed"), CHAT, person) is reads


@pytest.mark.parametrize("web_has_others", [False, True])
async def test_in_the_web_app_everybody_reads_everything_until_others_than_the_owner_are_let_in(
    web_has_others: bool,
) -> None:
    access, places, _ = await a_chat()
    thread = replace(CHAT, platform="web")
    if web_has_others:
        places.of_places[thread] = Audience.of(PLAYER)
        access.audiences["web"] = places

    assert await names(access, thread) == (["all", "club"] if web_has_others else ["all", "club", "drafts", "secrets"])


async def test_without_knowing_the_audience_only_what_is_for_everyone_is_read_and_the_reason_is_kept() -> None:
    access, places, _ = await a_chat()
    places.of_places[CHAT] = Audience.of(GM)
    places.unknown = "Slack did not answer."
    grounds, _ = await access.decide("local", CHAT)

    assert [source.name for source in grounds.readable] == ["all"]
    assert grounds.unknown == "Slack did not answer."
    assert dict(grounds.sources)[build_source("club", readers=MEMBERS_ONLY)] is Ground.UNKNOWN_AUDIENCE
    assert await names(access, replace(CHAT, platform="unheard")) == ["all"]


async def test_where_everything_is_for_everyone_nobody_is_looked_up() -> None:
    access, places, stores = await a_chat()
    places.unknown = "Slack did not answer."
    for name in OF_READERS:
        await stores.corpus.set_readers(f"local/{name}", OPEN_TO_ALL)

    assert await names(access, CHAT) == ["all", "club", "drafts", "secrets"]


async def test_a_document_with_fewer_readers_is_hidden_from_the_others() -> None:
    access, places, stores = await a_chat()
    await stores.corpus.narrow("local/all", {"plan": frozenset({frozenset({"role:gm"})})})

    places.of_places[CHAT] = Audience.of(GM)
    assert (await access.scope("local", CHAT)).hidden == frozenset()
    places.of_places[CHAT] = Audience.of(GM, PLAYER)
    assert (await access.scope("local", CHAT)).hidden == {"plan"}
    places.unknown = "Slack did not answer."
    assert (await access.scope("local", CHAT)).hidden == {"plan"}


async def test_the_settings_of_a_channel_and_its_audience_both_have_to_allow_a_source() -> None:
    access, places, stores = await a_chat()
    places.of_places[CHAT] = Audience.of(PLAYER)
    chosen = ChannelSettings(sources=frozenset({"club", "secrets"}))
    await stores.settings.save_channel(ChannelAddress.of(CHAT), chosen)

    assert await names(access, CHAT) == ["club"]


WORDS = st.frozensets(st.sampled_from(("everyone", "members", "role:gm", "channel:gm", "person:ada")), max_size=4)


@given(parts=st.lists(WORDS, max_size=4), more=WORDS, readers=WORDS, fewer=WORDS)
def test_more_people_in_a_place_or_fewer_readers_never_open_a_source(
    parts: list[frozenset[str]], more: frozenset[str], readers: frozenset[str], fewer: frozenset[str]
) -> None:
    audience = Audience.of(*parts)
    if parts and Audience.of(*parts, more).may_read(readers):
        assert audience.may_read(readers)
    if audience.may_read(readers & fewer):
        assert audience.may_read(readers)
    assert not Audience().may_read(readers)
