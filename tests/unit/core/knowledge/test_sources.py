import os
from pathlib import Path

import pytest

from core.errors import BadInput, InvalidState, NotFound
from core.knowledge.sources import add_source, source_id
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.stores import Stores


@pytest.fixture
def corpus() -> SqlCorpusRepository:
    return Stores().corpus


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in ("docs/sub", "other/docs"):
        (tmp_path / path).mkdir(parents=True)
    for path in ("docs/a.md", "docs/b.md", "docs/sub/c.md", "other/docs/d.md"):
        (tmp_path / path).write_text("text")
    return tmp_path


async def test_a_folder_becomes_a_source_named_after_it(corpus: SqlCorpusRepository, root: Path) -> None:
    place = await add_source(corpus, "local", root / "docs")

    assert (place.source.name, place.source.kind, place.source.location, place.only) == (
        "docs",
        "folder",
        str(root / "docs"),
        "",
    )
    assert place.source.id == source_id("local", str(root / "docs"))
    assert await corpus.list_sources("local") == [place.source]


async def test_the_same_folder_is_the_same_source(corpus: SqlCorpusRepository, root: Path) -> None:
    first = await add_source(corpus, "local", root / "docs")
    (root / "link").symlink_to(root / "docs")

    assert await add_source(corpus, "local", root / "docs" / "sub" / "..") == first
    assert await add_source(corpus, "local", root / "link") == first
    assert await add_source(corpus, "local", root / "docs", "docs") == first


@pytest.mark.parametrize("path", ["sub", "a.md", "sub/c.md"])
async def test_a_path_inside_a_source_is_a_part_of_it(corpus: SqlCorpusRepository, root: Path, path: str) -> None:
    source = (await add_source(corpus, "local", root / "docs")).source

    place = await add_source(corpus, "local", root / "docs" / path)

    assert (place.source, place.only) == (source, path)


async def test_the_deepest_source_that_holds_a_path_takes_it(corpus: SqlCorpusRepository, root: Path) -> None:
    sub = (await add_source(corpus, "local", root / "docs" / "sub")).source
    await add_source(corpus, "local", root / "docs")

    place = await add_source(corpus, "local", root / "docs" / "sub" / "c.md")

    assert (place.source.id, place.only) == (sub.id, "c.md")


async def test_files_of_one_folder_share_a_source_that_holds_just_them(corpus: SqlCorpusRepository, root: Path) -> None:
    first = await add_source(corpus, "local", root / "docs" / "a.md", "picked")
    second = await add_source(corpus, "local", root / "docs" / "b.md", "picked")

    assert first.source == second.source
    assert (first.source.kind, first.only, second.only) == ("file", "a.md", "b.md")


async def test_a_folder_below_single_files_is_a_source_of_its_own(corpus: SqlCorpusRepository, root: Path) -> None:
    await add_source(corpus, "local", root / "docs" / "a.md")

    place = await add_source(corpus, "local", root / "docs" / "sub")

    assert (place.source.name, place.only) == ("sub", "")


async def test_the_folder_itself_takes_over_its_single_files(corpus: SqlCorpusRepository, root: Path) -> None:
    single = await add_source(corpus, "local", root / "docs" / "a.md")

    whole = await add_source(corpus, "local", root / "docs")

    assert (whole.source.id, whole.source.kind, whole.only) == (single.source.id, "folder", "")
    assert (await add_source(corpus, "local", root / "docs" / "a.md")).source.kind == "folder"


async def test_a_name_of_another_folder_is_refused_with_the_way_out(corpus: SqlCorpusRepository, root: Path) -> None:
    await add_source(corpus, "local", root / "docs")

    with pytest.raises(InvalidState, match="--source NAME"):
        await add_source(corpus, "local", root / "other" / "docs")
    assert (await add_source(corpus, "local", root / "other" / "docs", "more")).source.name == "more"


async def test_a_source_does_not_change_its_name(corpus: SqlCorpusRepository, root: Path) -> None:
    await add_source(corpus, "local", root / "docs")

    with pytest.raises(InvalidState, match="already belongs to the source 'docs'"):
        await add_source(corpus, "local", root / "docs", "else")


async def test_workspaces_do_not_share_sources(corpus: SqlCorpusRepository, root: Path) -> None:
    local = await add_source(corpus, "local", root / "docs")
    other = await add_source(corpus, "guild", root / "docs")

    assert local.source.id != other.source.id


async def test_a_link_template_is_kept(corpus: SqlCorpusRepository, root: Path) -> None:
    await add_source(corpus, "local", root / "docs", link_template="https://wiki/{path}")

    assert (await add_source(corpus, "local", root / "docs")).source.link_template == "https://wiki/{path}"


async def test_a_path_that_is_not_there_is_not_found(corpus: SqlCorpusRepository, root: Path) -> None:
    for path in (root / "nothing", root / "docs" / "a.md" / "x"):
        with pytest.raises(NotFound, match="does not exist: check the path"):
            await add_source(corpus, "local", path)


async def test_paths_that_can_not_be_opened_are_refused(corpus: SqlCorpusRepository, root: Path) -> None:
    (root / "circle").symlink_to(root / "circle")
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")

    for path in (root / "circle", root / "a\0b", root / os.fsdecode(b"caf\xe9.md")):
        with pytest.raises(BadInput):
            await add_source(corpus, "local", path)


async def test_an_empty_name_is_refused(corpus: SqlCorpusRepository, root: Path) -> None:
    with pytest.raises(BadInput, match="empty"):
        await add_source(corpus, "local", root / "docs", "  ")


async def test_the_root_of_the_file_system_has_a_name_too(corpus: SqlCorpusRepository) -> None:
    assert (await add_source(corpus, "local", Path("/"))).source.name == "root"
