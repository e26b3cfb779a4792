"""The wizard's step for the documents: each kind of source, as it is written, and what can't be used."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bot.config import load_config
from bot.presentation.setup_screens import Tone
from bot.setup import documents
from bot.setup.wizard import Wizard
from core.domain.sources import Reach, Reached, SourceSpec

SOURCES = {
    "git": {"git_url": "https://git.example.org/crew/handbook.git"},
    "github": {"repository": "https://github.com/harbour/fleet.git"},
    "confluence": {"confluence_url": "https://harbour.example.org/wiki", "spaces": "OPS, CREW"},
    "url_list": {"urls": "https://harbour.example.org/rules\nhttps://harbour.example.org/tides"},
}


async def told(wizard: Wizard, **answers: str) -> list[tuple[Tone, str]]:
    return [(one.tone, one.sentence) for one in await wizard.submit("documents", answers)]


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The addresses here are examples, of which each answers; test_reached_sources.py asks real servers."""

    async def answers(spec: SourceSpec, token: str | None) -> Reached:
        return Reached(state=Reach.READY, place=str(spec.origin))

    monkeypatch.setattr(documents, "reach_source", answers)


@pytest.fixture
async def asked(wizard: Wizard) -> Wizard:
    """A wizard that has come to the documents."""
    await wizard.submit("platform", {"platform": "local"})
    return wizard


def content(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def written(wizard: Wizard, file: Path) -> list[dict[str, Any]]:
    await wizard.finish()
    load_config(file)
    sources: list[dict[str, Any]] = tomllib.loads(content(file)).get("sources", [])
    return sources


async def test_a_folder_is_counted_and_watched(asked: Wizard, tmp_path: Path, config_file: Path) -> None:
    folder = tmp_path / "handbook"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.html", "d.xyz"):
        (folder / name).write_text("word " * 300, encoding="utf-8")

    [(tone, sentence)] = await told(asked, kind="folder", paths=str(folder))

    assert tone is Tone.OK
    assert sentence.startswith(f"{folder}: 3 documents, ")
    assert "Markdown 2" in sentence and "web pages 1" in sentence
    [source] = await written(asked, config_file)
    assert (source["kind"], source["name"], source["path"], source["watch"]) == (
        "folder",
        "handbook",
        str(folder),
        True,
    )


async def test_a_path_that_is_not_there_is_one_sentence(asked: Wizard, tmp_path: Path, config_file: Path) -> None:
    gone = tmp_path / "gone"

    assert await told(asked, kind="folder", paths=str(gone)) == [
        (Tone.PROBLEM, f"There is no folder or file {str(gone)!r}. Check the path.")
    ]
    assert await written(asked, config_file) == []


async def test_no_path_adds_nothing_and_goes_on(asked: Wizard, config_file: Path) -> None:
    """Somebody who dropped files in the browser leaves the list of folders empty."""
    assert await told(asked, kind="folder", paths="  \n") == []
    assert await written(asked, config_file) == []


@pytest.mark.parametrize("kind", SOURCES)
async def test_each_kind_of_source_is_written_once(asked: Wizard, kind: str, config_file: Path) -> None:
    [(tone, _)] = await told(asked, kind=kind, **SOURCES[kind])
    [again] = await told(asked, kind=kind, **SOURCES[kind])

    assert tone is Tone.OK
    assert "is there already, as" in again[1]
    [source] = await written(asked, config_file)
    assert (source["kind"], source["schedule"]) == (kind, "every 6h")
    [spec] = load_config(config_file).source_specs()
    assert spec.workspace == "local"


async def test_two_sources_of_one_name_get_their_own(asked: Wizard, config_file: Path) -> None:
    await told(asked, kind="git", git_url="https://git.example.org/crew/notes.git")
    await told(asked, kind="git", git_url="https://git.example.org/office/notes.git")

    assert [source["name"] for source in await written(asked, config_file)] == ["notes", "notes 2"]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (
            {"kind": "github", "repository": "fleet"},
            "Enter the repository as owner/name.",
        ),
        ({"kind": "github", "repository": ""}, "Enter the repository as owner/name."),
        (
            {"kind": "git", "git_url": "https://ann:hunter2@git.example.org/notes.git"},
            "This address can't be used: it must not contain a user name or a password",
        ),
        (
            {"kind": "url_list", "urls": "ftp://harbour.example.org"},
            "This address can't be used: it must be an address like https://wiki.example.org/page",
        ),
        ({"kind": "url_list", "urls": ""}, "Enter addresses of pages, one a line."),
        (
            {"kind": "confluence", "confluence_url": "https://harbour.example.org/wiki", "spaces": ""},
            "Enter the address of the wiki, and the keys of its spaces",
        ),
    ],
)
async def test_what_cannot_be_used_is_said_without_its_password(
    asked: Wizard, answers: dict[str, str], sentence: str, config_file: Path
) -> None:
    [(tone, said)] = await told(asked, **answers)

    assert tone is Tone.PROBLEM
    assert said.startswith(sentence)
    assert "hunter2" not in said
    assert await written(asked, config_file) == []


async def test_a_token_is_in_a_file_of_its_own(asked: Wizard, config_file: Path, tmp_path: Path) -> None:
    await told(asked, kind="github", repository="harbour/fleet", github_token="ghp_secret")

    [source] = await written(asked, config_file)

    found = [config_file, *(path for path in (tmp_path / "data").rglob("*") if path.is_file())]
    assert [path for path in found if "ghp_secret" in content(path)] == [Path(source["token_file"])]
    assert stat.S_IMODE(os.stat(source["token_file"]).st_mode) == 0o600
    token = load_config(config_file).source_token("local", "fleet")
    assert token is not None and token.get_secret_value() == "ghp_secret"


async def test_a_source_that_is_not_kept_is_left_out(asked: Wizard, config_file: Path) -> None:
    for name in ("a", "b"):
        await told(asked, kind="git", git_url=f"https://git.example.org/{name}.git")
    await asked.submit("documents", {"keep": ["b"], "kind": "nothing"})

    assert [source["name"] for source in await written(asked, config_file)] == ["b"]


@pytest.mark.parametrize(
    ("answers", "readers"),
    [
        ({}, ["members"]),
        ({"readers": "everyone"}, ["everyone"]),
        ({"readers": "nobody"}, []),
        ({"readers": "some", "only_readers": "role:7, channel:C1"}, ["channel:C1", "role:7"]),
    ],
)
@pytest.mark.parametrize("kind", ["folder", "git"])
async def test_each_source_is_written_with_its_readers(
    asked: Wizard, tmp_path: Path, config_file: Path, kind: str, answers: dict[str, str], readers: list[str]
) -> None:
    place = {"paths": str(tmp_path)} if kind == "folder" else SOURCES[kind]
    found = await told(asked, kind=kind, **place, **answers)

    assert [tone for tone, _ in found if tone is Tone.PROBLEM] == []
    [source] = await written(asked, config_file)
    assert source["readers"] == readers


@pytest.mark.parametrize(("given", "said"), [("", "Enter who may read it"), ("Ann", "'Ann' is no reader")])
async def test_readers_that_do_not_exist_are_asked_for_again(
    asked: Wizard, tmp_path: Path, given: str, said: str
) -> None:
    [(tone, sentence)] = await told(asked, kind="folder", paths=str(tmp_path), readers="some", only_readers=given)

    assert tone is Tone.PROBLEM and said in sentence


async def test_the_readers_are_shown_with_each_kind_of_source_and_with_no_other(asked: Wizard) -> None:
    fields = {field.name: field for field in (await asked.screen("documents")).fields}

    assert [fields["readers"].applies({"kind": kind}) for kind in ("folder", "github", "nothing")] == [
        True,
        True,
        False,
    ]
    assert fields["only_readers"].applies({"kind": "folder", "readers": "some"})
    assert not fields["only_readers"].applies({"kind": "folder", "readers": "members"})
