"""Readers of single documents, as their sources state them: restrictions, ownership, and front matter."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.readers import MEMBERS_ONLY, Narrowing
from core.domain.sources import ConfluenceOrigin, FolderOrigin, FoundryWorldOrigin, SourceSpec
from core.errors import SourceUnavailable
from core.knowledge.narrowing import Limits
from storage.documents.readers.foundry_journal import FoundryJournalReader
from storage.documents.sandbox import READERS
from storage.sources.confluence import ConfluenceFetcher
from storage.sources.foundry_world import FoundryWorldFetcher
from tests.integration.ingest_place import Place
from tests.integration.sources.place import FilesFetcher, SyncPlace
from tests.integration.sources.site import Page, Site
from tests.integration.sources.test_confluence import BOUNDS, ConfluenceServer, told

MORE = "more people than before may read this document"
GM, CREW, ANN = frozenset({"role:gm"}), frozenset({"role:crew"}), frozenset({"person:U1"})
NOBODY: Narrowing = frozenset({frozenset()})


def only(*sets: frozenset[str]) -> Narrowing:
    return frozenset(sets)


class Wiki:
    """A configured source that says who may read its pages."""

    def __init__(self, folder: Path) -> None:
        self.place = SyncPlace(folder)
        self.fetcher = FilesFetcher({"open.txt": "Tides.", "secret.txt": "The secret gate."})
        self.place.fetchers["wiki"] = self.fetcher
        origin = ConfluenceOrigin(url="https://wiki.example.org", spaces=("MILL",))
        given = {"group:crew": CREW}
        self.spec = SourceSpec(name="wiki", workspace="local", origin=origin, readers=MEMBERS_ONLY, reader_map=given)

    async def sync(self, restricted: dict[str, Limits], **changes: Any) -> tuple[str, ...]:
        """Sync, and return the warnings."""
        self.fetcher.restricted = restricted
        self.place.specs = [replace(self.spec, **changes)]
        [done] = await self.place.syncs.sync("local")
        assert done.is_good
        return done.state.warnings

    async def limits(self) -> dict[str, Narrowing]:
        """Path -> limits of the documents that have any."""
        paths = {document.id: document.path for document in await self.place.corpus.list_documents("local")}
        return {paths.get(id, id): limits for id, limits in (await self.place.corpus.narrowed("local")).items()}


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    return Wiki(tmp_path)


async def test_a_restricted_page_is_for_nobody_until_an_operator_says_who_its_readers_are(wiki: Wiki) -> None:
    restricted: dict[str, Limits] = {"secret.txt": (frozenset({"group:crew"}),)}
    [said] = await wiki.sync(restricted, reader_map={})
    assert await wiki.limits() == {"secret.txt": NOBODY}
    assert "Nobody may read 'secret.txt'" in said and "'group:crew'" in said

    warnings = await wiki.sync(restricted)
    assert await wiki.limits() == {"secret.txt": only(CREW)}
    assert warnings == ("More people than before may read 'secret.txt', as the source says now.",)
    assert await wiki.sync(restricted) == ()


async def test_a_page_that_is_restricted_later_is_closed_although_its_text_stays_the_same(wiki: Wiki) -> None:
    await wiki.sync({})
    assert await wiki.limits() == {}

    assert await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)}) == ()
    assert await wiki.limits() == {"secret.txt": only(CREW)}

    [said] = await wiki.sync({})
    assert await wiki.limits() == {}
    assert "More people than before may read 'secret.txt'" in said


async def test_a_new_restricted_page_is_never_in_the_library_without_its_limits(wiki: Wiki) -> None:
    seen = list[dict[str, Narrowing]]()
    switch = wiki.place.corpus.switch_revision

    async def watched(*args: Any) -> None:
        seen.append(dict(await wiki.place.corpus.narrowed("local")))
        await switch(*args)

    wiki.place.corpus.switch_revision = watched  # type: ignore[method-assign]
    await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)})

    assert seen and all(list(found.values()) == [only(CREW)] for found in seen)


async def test_an_opened_page_whose_new_text_cannot_be_read_stays_closed_with_its_old_text(wiki: Wiki) -> None:
    await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)})
    wiki.fetcher.files["secret.txt"] = "x" * 200_000  # more than is read
    warnings = await wiki.sync({})

    assert await wiki.limits() == {"secret.txt": only(CREW)}
    assert warnings == ()


async def readers_of(wiki: Wiki) -> frozenset[str]:
    source = await wiki.place.corpus.find_source("local", "wiki")
    assert source is not None
    return source.readers


async def test_a_new_source_is_closed_in_chats_until_somebody_says_who_may_read_it(wiki: Wiki) -> None:
    [said] = await wiki.sync({}, readers=None)
    assert said == (
        "Nobody may read 'wiki' in chats yet. Say who may: `readers` under its [[sources]], such as readers = "
        '["members"], or `footnote --workspace local sources readers wiki members`.'
    )
    assert (await wiki.sync({}, readers=None), await readers_of(wiki)) == ((said,), frozenset())

    assert (await wiki.sync({}), await readers_of(wiki)) == ((), MEMBERS_ONLY)


@pytest.mark.parametrize("before", [MEMBERS_ONLY, frozenset({"everyone"})])
async def test_a_source_from_before_keeps_its_readers(wiki: Wiki, before: frozenset[str]) -> None:
    await wiki.sync({}, readers=before)

    assert (await wiki.sync({}, readers=None), await readers_of(wiki)) == ((), before)


async def test_a_source_that_is_closed_on_purpose_is_not_asked_about(wiki: Wiki) -> None:
    assert (await wiki.sync({}, readers=frozenset()), await readers_of(wiki)) == ((), frozenset())


async def test_readers_chosen_for_a_sync_are_those_of_a_new_source_alone(wiki: Wiki) -> None:
    chosen = {"wiki": CREW}
    wiki.place.specs = [replace(wiki.spec, readers=None)]
    [done] = await wiki.place.syncs.sync("local", readers=chosen)
    assert (done.state.warnings, await readers_of(wiki)) == ((), CREW)

    await wiki.place.syncs.sync("local", readers={"wiki": MEMBERS_ONLY})
    assert await readers_of(wiki) == CREW


async def test_a_failed_sync_leaves_every_limit_as_it_is(wiki: Wiki) -> None:
    await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)})
    wiki.fetcher.error = SourceUnavailable("down")
    wiki.place.specs = [wiki.spec]
    [done] = await wiki.place.syncs.sync("local")

    assert not done.is_good
    assert await wiki.limits() == {"secret.txt": only(CREW)}


# Confluence.


@pytest.fixture
def confluence(site: Site) -> ConfluenceServer:
    server = ConfluenceServer(site)
    server.set_page("1", "Home", "<p>The mill.</p>")
    server.set_page("2", "Pay", "<p>Much.</p>", above=["1"])
    server.set_page("3", "Ann", "<p>More.</p>", above=["1", "2"])
    return server


async def restrictions(site: Site, mirror: Path) -> dict[str, set[frozenset[str]]]:
    origin = ConfluenceOrigin(url=f"{site.url}/wiki", spaces=("MILL",), bounds=BOUNDS)
    done = await ConfluenceFetcher(origin, "t0ken").fetch(mirror, told)
    return {path.rsplit("/", 1)[-1]: set(limits) for path, limits in done.restricted.items()}


async def test_a_page_has_its_own_restriction_and_those_of_the_pages_above_it(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    assert await restrictions(site, tmp_path) == {}
    confluence.restrict("2", groups=["crew"])
    confluence.restrict("3", users=["ann"])

    crew, ann = frozenset({"group:crew"}), frozenset({"user:ann", "user:acc-ann"})
    assert await restrictions(site, tmp_path) == {"Pay-2.html": {crew}, "Ann-3.html": {crew, ann}}


async def test_a_restriction_above_that_is_not_in_the_listing_is_asked_for(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    confluence.restrict("1", groups=["crew"])
    confluence.unlisted.add("1")
    assert await restrictions(site, tmp_path) == {
        name: {frozenset({"group:crew"})} for name in ("Pay-2.html", "Ann-3.html")
    }

    site.pages["/wiki/rest/api/content/1"] = Page(status=403)
    assert await restrictions(site, tmp_path) == {name: {frozenset()} for name in ("Pay-2.html", "Ann-3.html")}


async def test_a_restriction_that_does_not_show_lets_nobody_read(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    del confluence.pages["3"]["restrictions"]

    assert await restrictions(site, tmp_path) == {"Ann-3.html": {frozenset()}}


# Foundry.

USERS = [
    {"_id": "u0", "name": "Gil", "role": 4},
    {"_id": "u1", "name": "Ann", "role": 1},
    {"_id": "u2", "name": "Ben", "role": 2},
]
MASTERS = frozenset({"gamemasters"})
WITH_ANN = frozenset({"gamemasters", "user:Ann"})


def page(id: str, text: str, **levels: int) -> dict[str, Any]:
    given = {"ownership": levels} if levels else {}
    return {"_id": id, "name": id, "type": "text", "text": {"content": f"<p>{text}</p>", "format": 1}, **given}


class World:
    """A Foundry world in the form of lines, which needs no library."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._mirror = folder / "mill-town", folder / "mirror"
        (self.folder / "data").mkdir(parents=True)
        (self.folder / "packs").mkdir()
        self.manifest: dict[str, Any] = {}
        self._write("data/users.db", USERS)

    def _write(self, path: str, entries: list[dict[str, Any]]) -> None:
        (self.folder / path).write_text("\n".join(map(json.dumps, entries)))

    async def fetch(
        self, *entries: dict[str, Any], pack: list[dict[str, Any]] | None = None, settings: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Limits]]:
        """Return the texts by file name, and who may read them."""
        (self.folder / "world.json").write_text(json.dumps(self.manifest))
        self._write("data/journal.db", list(entries))
        self._write("packs/lore.db", pack or [])
        chosen = {"_id": "s", "key": "core.compendiumConfiguration", "value": json.dumps(settings or {})}
        self._write("data/settings.db", [chosen])
        done = await FoundryWorldFetcher(FoundryWorldOrigin(path=self.folder)).fetch(self._mirror, told)
        reader = FoundryJournalReader()
        texts = {
            file.relative_to(done.root).as_posix(): "|".join(page.text for page in reader.read(file, done.root).pages)
            for file in sorted(done.root.rglob("*.json"))
        }
        return texts, dict(done.restricted)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize(
    ("levels", "limits"),
    [
        ({"default": 2}, ()),
        ({"default": 3}, ()),
        ({"default": 0}, (MASTERS,)),
        ({"default": 1}, (MASTERS,)),  # only its name is seen
        ({}, (MASTERS,)),
        ({"default": 0, "u0": 3}, (MASTERS,)),
        ({"default": 0, "u1": 2}, (WITH_ANN,)),
        ({"default": 2, "u2": 0}, (WITH_ANN,)),
        ({"default": 2, "u2": -1}, ()),
        ({"default": 0, "u1": 2, "u2": 3}, (WITH_ANN | {"user:Ben"},)),  # whoever joins later doesn't
        ({"default": 0, "u9": 2}, (frozenset({"gamemasters", "user:u9"}),)),
    ],
)
async def test_a_journal_is_for_those_who_own_or_observe_it(
    world: World, levels: dict[str, int], limits: Limits
) -> None:
    _, restricted = await world.fetch({"_id": "e1", "name": "Inn", "ownership": levels, "pages": [page("p", "Rooms.")]})

    assert restricted.get("journal/Inn-e1.json", ()) == limits


async def test_pages_with_other_readers_than_their_journal_are_a_document_of_their_own(world: World) -> None:
    pages = [
        page("p1", "Rooms.", default=-1),
        page("p2", "The trap.", default=0),
        page("p3", "For Ann.", default=0, u1=2),
    ]
    texts, restricted = await world.fetch({"_id": "e1", "name": "Inn", "ownership": {"default": 2}, "pages": pages})

    assert texts["journal/Inn-e1.json"] == "Rooms."
    by_text = {text: restricted.get(path, ()) for path, text in texts.items()}
    assert by_text == {"Rooms.": (), "The trap.": (MASTERS,), "For Ann.": (WITH_ANN,)}


async def test_a_page_for_players_in_a_journal_that_they_do_not_see_is_closed(world: World) -> None:
    entry = {"_id": "e1", "name": "Inn", "pages": [page("p1", "Rooms.", default=2)]}
    _, restricted = await world.fetch({**entry, "ownership": {"default": 0}})
    assert restricted == {"journal/Inn-e1.json": (MASTERS,)}

    texts, restricted = await world.fetch({**entry, "ownership": {"default": 1}})
    assert list(texts.values()) == ["Rooms."] and restricted == {}


SECRET_ID, PAGE_ID = "secretsecretsecr", "pagepagepagepage"


async def test_what_embeds_or_links_a_journal_with_fewer_readers_shows_nothing_of_it(world: World) -> None:
    secret = {
        "_id": SECRET_ID,
        "name": "The traitor",
        "ownership": {"default": 0},
        "pages": [page(PAGE_ID, "It is the miller.")],
    }
    there = f"JournalEntry.{SECRET_ID}"
    embed = f"@Embed[{there}.JournalEntryPage.{PAGE_ID}] @UUID[{there}] and @UUID[{there}]{{the note}}"
    inn = {"_id": "e1", "name": "Inn", "ownership": {"default": 2}, "pages": [page("p1", f"Rooms. {embed}")]}
    texts, _ = await world.fetch(inn, secret)
    assert texts["journal/Inn-e1.json"] == "Rooms. and the note"

    texts, _ = await world.fetch({**inn, "ownership": {"default": 0}}, secret)
    assert "It is the miller." in texts["journal/Inn-e1.json"]
    texts, _ = await world.fetch({**inn, "ownership": {"default": 0, "u1": 2}}, secret)
    assert "miller" not in texts["journal/Inn-e1.json"]
    texts, _ = await world.fetch(inn, {**secret, "ownership": {"default": 2}})
    assert "It is the miller." in texts["journal/Inn-e1.json"]


@pytest.mark.parametrize(
    ("manifest", "chosen", "limits"),
    [
        ({}, {}, ()),
        ({"private": True}, {}, (MASTERS,)),
        ({"private": True}, {"private": False}, ()),
        ({"ownership": {"PLAYER": "OBSERVER"}}, {}, ()),
        ({"ownership": {"PLAYER": "NONE", "ASSISTANT": "OWNER"}}, {}, (MASTERS,)),
        ({"ownership": {"ASSISTANT": "OWNER"}}, {}, (MASTERS,)),
        ({"ownership": {"PLAYER": "OBSERVER"}}, {"ownership": {"PLAYER": "NONE"}}, (MASTERS,)),
        ({"ownership": {"PLAYER": "NONE"}}, {"ownership": {"PLAYER": "LIMITED"}}, ()),
    ],
)
async def test_a_pack_is_for_those_whom_the_world_lets_read_it(
    world: World, manifest: dict[str, Any], chosen: dict[str, Any], limits: Limits
) -> None:
    world.manifest = {"packs": [{"name": "lore", "path": "packs/lore.db", **manifest}]}
    entry = {"_id": "e1", "name": "Inn", "ownership": {"default": 0}, "pages": [page("p1", "Rooms.")]}
    _, restricted = await world.fetch(pack=[entry], settings={"world.lore": chosen})

    assert restricted.get("packs/lore/Inn-e1.json", ()) == limits


# Front matter.


@pytest.fixture
def notes(tmp_path: Path) -> Place:
    return Place(tmp_path / "notes", readers="storage.documents.base:build_readers")


async def limits_of(notes: Place) -> dict[str, Narrowing]:
    paths = {document.id: document.path for document in (await notes.documents()).values()}
    return {paths[id]: limits for id, limits in (await notes.corpus.narrowed("local")).items()}


@pytest.mark.parametrize(
    ("front", "limits"),
    [
        ("---\ntitle: Plan\n---\n", None),
        ("---\nreaders: role:gm\n---\n", only(GM)),
        ("---\nreaders: [role:gm, person:U1]\n---\n", only(GM | ANN)),
        ("---\nreaders:\n  - role:gm\n---\n", only(GM)),
        ("readers:: role:gm, person:U1\n\n", only(GM | ANN)),
        ("---\nreaders: nobody\n---\n", NOBODY),
        ("---\nreaders: Ann and Ben\n---\n", NOBODY),
        ("---\nreaders:\n---\n", NOBODY),
        ("---\nreaders: 7\n---\n", NOBODY),
        ("---\nreaders: [role:gm\n---\n", NOBODY),  # broken YAML
    ],
)
async def test_a_note_states_its_readers_in_front_matter(notes: Place, front: str, limits: Narrowing | None) -> None:
    notes.write("plan.md", f"{front}The plan.")
    report = await notes.ingest()

    assert await limits_of(notes) == ({} if limits is None else {"plan.md": limits})
    assert (limits == NOBODY and "nobody\n" not in front) == any(
        "nobody may read" in said for _, said in report.warnings
    )


async def test_readers_of_a_note_change_without_its_text_and_more_of_them_are_told(notes: Place) -> None:
    notes.write("plan.md", "The plan.")
    await notes.ingest()
    notes.write("plan.md", "---\nreaders: role:gm\n---\nThe plan.")
    report = await notes.ingest()
    assert await limits_of(notes) == {"plan.md": only(GM)}
    assert report.warnings == []

    notes.write("plan.md", "---\nreaders: [role:gm, person:U1]\n---\nThe new plan.")
    report = await notes.ingest()
    assert await limits_of(notes) == {"plan.md": only(GM | ANN)}
    assert report.warnings == [("plan.md", "more people than before may read this document: person:U1, role:gm")]


async def test_a_file_of_a_source_that_knows_its_readers_does_not_open_itself(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path)
    await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)})
    wiki.fetcher.files["secret.txt"] = "Another secret."
    await wiki.sync({"secret.txt": (frozenset({"group:crew"}),)})

    assert await wiki.limits() == {"secret.txt": only(CREW)}


# Exported journals in a folder.

WORLD = {"exportSource": {"worldId": "mill", "uuid": "JournalEntry.e1"}}
LATE, EARLY = {"_stats": WORLD}, {"flags": {"exportSource": {"world": "mill"}}}
NAMED = frozenset({"gamemasters", "user:u1"})


def export(*pages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"_id": "e1", "name": "Inn", "pages": list(pages), **fields}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (export(page("p1", "Rooms."), ownership={"default": 0}, **LATE), (MASTERS,)),
        (export(page("p1", "Rooms."), ownership={"default": 0, "u1": 2}, **EARLY), (NAMED,)),
        (export(page("p1", "Rooms."), ownership={"default": 2}, **LATE), ()),
        (export(page("p1", "Rooms."), page("p2", "Vault.", default=0), ownership={"default": 2}, **LATE), (MASTERS,)),
        (export(page("p1", "Rooms.", default=-1, u1=3), **LATE), ()),  # Foundry's own export leaves the journal's out
        (export(page("p1", "Vault.", default=0, u1=3), **LATE), (NAMED,)),
        (export(page("p1", "Rooms."), ownership={"default": 0}), ()),  # of a pack, where they mean nothing
        (
            export(
                page("p1", "Rooms."),
                ownership={"default": 0},
                _stats={"exportSource": {"worldId": "mill", "uuid": "Compendium.world.lore.JournalEntry.e1"}},
            ),
            (),
        ),
        ({"_id": "e1", "name": "Inn", "content": "Rooms.", "permission": {"default": 0}, **EARLY}, (MASTERS,)),
        ([export(page("p1", "Rooms.")), export(page("p2", "Vault."), ownership={"default": 1}, **LATE)], (MASTERS,)),
    ],
)
def test_an_exported_journal_is_for_those_who_may_read_all_its_pages(
    entry: object, expected: Limits, tmp_path: Path
) -> None:
    (tmp_path / "inn.json").write_text(json.dumps(entry))

    assert FoundryJournalReader().read(tmp_path / "inn.json", tmp_path).named_readers == expected


def test_an_exported_journal_embeds_nothing_that_its_readers_may_not_read(tmp_path: Path) -> None:
    vault = export(page("p2", "Gold."), ownership={"default": 0}, **LATE) | {"_id": "e2"}
    (tmp_path / "vault.json").write_text(json.dumps(vault))
    texts = []
    for levels in ({"default": 2}, {"default": 0}):
        inn = export(page("p1", "Rooms. @Embed[JournalEntry.e2.JournalEntryPage.p2]"), ownership=levels, **LATE)
        (tmp_path / "inn.json").write_text(json.dumps(inn))
        texts.append(FoundryJournalReader().read(tmp_path / "inn.json", tmp_path).pages[0].text)

    assert ["Gold." in text for text in texts] == [False, True]


async def test_the_map_of_a_folder_says_who_reads_its_journals_and_holds_at_the_next_sync(tmp_path: Path) -> None:
    place, notes = SyncPlace(tmp_path), tmp_path / "notes"
    place.readers = READERS
    notes.mkdir()
    (notes / "inn.json").write_text(json.dumps(export(page("p1", "Rooms."), ownership={"default": 0}, **LATE)))
    (notes / "open.json").write_text(json.dumps(export(page("p1", "Open."), ownership={"default": 2}, **LATE)))
    found = []
    for given in ({}, {"gamemasters": GM}, {"gamemasters": CREW}):
        origin = FolderOrigin(path=notes)
        place.specs = [SourceSpec(name="notes", workspace="local", origin=origin, readers=GM, reader_map=given)]
        [done] = await place.syncs.sync("local")
        assert done.report is not None
        limits = await place.corpus.narrowed("local")
        found.append((list(limits.values()), [warning for _, warning in done.report.warnings]))

    closed = (
        "Nobody may read 'inn.json' in chats: the source lets only some people read them ('gamemasters'). "
        "Say who these are under [sources.reader_map] of 'notes', then sync."
    )
    assert found == [([NOBODY], [closed]), ([only(GM)], [f"{MORE}: role:gm"]), ([only(CREW)], [f"{MORE}: role:crew"])]
