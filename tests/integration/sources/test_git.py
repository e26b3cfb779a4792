"""Git sources, over a local bare repository and the real git program."""

import os
from pathlib import Path

import pytest

from core.domain.sources import GitOrigin
from core.errors import SourceUnavailable
from storage.sources.git import GitFetcher
from tests.integration.sources.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.write("a.md", "# One")
    made.write("docs/b.md", "# Two")
    made.push()
    return made


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


def files(root: Path) -> dict[str, str]:
    found = [item for item in root.rglob("*") if item.is_file() and ".git" not in item.relative_to(root).parts]
    return {item.relative_to(root).as_posix(): item.read_text() for item in found}


async def test_a_branch_is_mirrored_and_only_changed_files_are_written(repository: Repository, tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(url=repository.url))
    first = await fetcher.fetch(tmp_path / "mirror", told)
    assert (first.changed, first.removed) == (2, 0)
    assert files(first.root) == {"a.md": "# One", "docs/b.md": "# Two"}
    kept = (first.root / "docs/b.md").stat().st_mtime_ns

    assert (await fetcher.fetch(tmp_path / "mirror", told)).changed == 0
    repository.write("a.md", "# Other")
    repository.write("c.md", "# Three")
    repository.push()
    second = await fetcher.fetch(tmp_path / "mirror", told)

    assert (second.changed, second.removed) == (2, 0)
    assert files(second.root) == {"a.md": "# Other", "c.md": "# Three", "docs/b.md": "# Two"}
    assert (second.root / "docs/b.md").stat().st_mtime_ns == kept
    (repository.work / "c.md").unlink()
    repository.push()
    assert (await fetcher.fetch(tmp_path / "mirror", told)).removed == 1


async def test_a_rewritten_history_is_followed(repository: Repository, tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(url=repository.url))
    await fetcher.fetch(tmp_path / "mirror", told)
    repository.write("a.md", "# Rewritten")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--amend", "--message", "Again")
    repository.git("push", "--quiet", "--force", "origin", "HEAD:main")

    done = await fetcher.fetch(tmp_path / "mirror", told)
    assert files(done.root)["a.md"] == "# Rewritten"


async def test_a_branch_and_a_folder_of_it_can_be_chosen(repository: Repository, tmp_path: Path) -> None:
    repository.write("docs/b.md", "# Of the branch")
    repository.push("next")
    done = await GitFetcher(GitOrigin(url=repository.url, branch="next", folder="docs")).fetch(tmp_path / "m", told)

    assert files(done.root) == {"b.md": "# Of the branch"}
    for folder in ("nowhere", "../..", "a.md"):
        with pytest.raises(SourceUnavailable, match="no folder"):
            await GitFetcher(GitOrigin(url=repository.url, folder=folder)).fetch(tmp_path / "m", told)


async def test_what_cannot_be_fetched_says_why_and_leaves_the_files(repository: Repository, tmp_path: Path) -> None:
    done = await GitFetcher(GitOrigin(url=repository.url)).fetch(tmp_path / "mirror", told)
    with pytest.raises(SourceUnavailable, match="nope"):
        await GitFetcher(GitOrigin(url=repository.url, branch="nope")).fetch(tmp_path / "mirror", told)
    with pytest.raises(SourceUnavailable, match="git fetch"):
        await GitFetcher(GitOrigin(url=(tmp_path / "gone").as_uri())).fetch(tmp_path / "mirror", told)

    assert files(done.root) == {"a.md": "# One", "docs/b.md": "# Two"}


async def test_force_begins_anew(repository: Repository, tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(url=repository.url))
    done = await fetcher.fetch(tmp_path / "mirror", told)
    (done.root / "stray.md").write_text("not of the repository")

    assert (await fetcher.fetch(tmp_path / "mirror", told, force=True)).changed == 2
    assert files(done.root) == {"a.md": "# One", "docs/b.md": "# Two"}


async def test_hooks_filters_and_links_of_a_repository_do_nothing(repository: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hooks = tmp_path / "template/hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "post-checkout").chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[init]\n\ttemplateDir = {hooks.parent}\n[filter "evil"]\n\tsmudge = touch {ran}; cat\n'
    )
    repository.write(".gitattributes", "*.md filter=evil\n")
    (repository.work / "link.md").symlink_to("/etc/passwd")
    repository.push()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        done = await GitFetcher(GitOrigin(url=repository.url)).fetch(tmp_path / "mirror", told)

    assert not ran.exists()
    assert not (done.root / "link.md").is_symlink()


async def test_a_token_is_in_no_argument_and_no_message(tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\necho "$@" >> "$(dirname "$0")/said"\nenv > "$(dirname "$0")/env-$1"\n'
        'if [ "$1" = fetch ]; then echo "fatal: Authorization: Basic c2VjcmV0 refused" >&2; exit 1; fi\n'
    )
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        patch.setenv("SOME_SECRET", "not for git")
        origin = GitOrigin(url="https://git.example.org/team/wiki.git")
        with pytest.raises(SourceUnavailable) as caught:
            await GitFetcher(origin, "t0ken").fetch(tmp_path / "mirror", told)

    environment = (program.parent / "env-fetch").read_text()
    assert "t0ken" not in (program.parent / "said").read_text() and "c2VjcmV0" not in str(caught.value)
    assert "http.https://git.example.org/.extraHeader" in environment
    assert "not for git" not in environment and "GIT_TERMINAL_PROMPT=0" in environment


async def test_a_token_never_goes_over_a_line_in_the_clear(tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(url="http://git.example.org/team/wiki.git"), "t0ken")
    assert "extraHeader" not in str(fetcher._environment())
