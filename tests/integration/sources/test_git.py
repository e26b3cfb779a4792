"""Git sources, over a local bare repository and the real git program."""

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from core.domain.sources import GitOrigin
from core.errors import SourceUnavailable
from storage.sources import git
from storage.sources.git import GitFetcher
from tests.integration.sources.repository import Repository
from tests.integration.sources.site import Page, Site


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.write("a.md", "# One")
    made.write("docs/b.md", "# Two")
    made.push()
    return made


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


async def public(host: str, port: int) -> list[str]:
    return ["93.184.216.34"]


async def here(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


# A fetcher for which 127.0.0.1 is the internet, under any name, and everything else the own network.
open_to_loopback = partial(GitFetcher, allowed=lambda address: address == "127.0.0.1", resolve=here)


def served(site: Site, repository: Repository) -> None:
    """Serve the repository at /bare.git, as web servers do: by git's own program."""

    async def answer(request: web.Request) -> web.Response:
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(repository.bare.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        given = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "git", "http-backend", env=environment, stdin=given, stdout=given
        )
        said, _ = await process.communicate(await request.read())
        head, _, body = said.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return web.Response(status=int(headers.pop("Status", "200")[:3]), headers=headers, body=body)

    for path in ("info/refs", "git-upload-pack"):
        site.on(f"/bare.git/{path}", answer)


def files(root: Path) -> dict[str, str]:
    found = [item for item in root.rglob("*") if item.is_file() and ".git" not in item.relative_to(root).parts]
    return {item.relative_to(root).as_posix(): item.read_text() for item in found}


async def test_a_branch_is_mirrored_and_only_changed_files_are_written(repository: Repository, tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(allow_private=True, url=repository.url))
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
    fetcher = GitFetcher(GitOrigin(allow_private=True, url=repository.url))
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
    done = await GitFetcher(GitOrigin(allow_private=True, url=repository.url, branch="next", folder="docs")).fetch(
        tmp_path / "m", told
    )

    assert files(done.root) == {"b.md": "# Of the branch"}
    for folder in ("nowhere", "../..", "a.md"):
        with pytest.raises(SourceUnavailable, match="no folder"):
            await GitFetcher(GitOrigin(allow_private=True, url=repository.url, folder=folder)).fetch(
                tmp_path / "m", told
            )


async def test_what_cannot_be_fetched_says_why_and_leaves_the_files(repository: Repository, tmp_path: Path) -> None:
    done = await GitFetcher(GitOrigin(allow_private=True, url=repository.url)).fetch(tmp_path / "mirror", told)
    with pytest.raises(SourceUnavailable, match="nope"):
        await GitFetcher(GitOrigin(allow_private=True, url=repository.url, branch="nope")).fetch(
            tmp_path / "mirror", told
        )
    with pytest.raises(SourceUnavailable, match="git fetch"):
        await GitFetcher(GitOrigin(allow_private=True, url=(tmp_path / "gone").as_uri())).fetch(
            tmp_path / "mirror", told
        )

    assert files(done.root) == {"a.md": "# One", "docs/b.md": "# Two"}


async def test_force_begins_anew(repository: Repository, tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(allow_private=True, url=repository.url))
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
        done = await GitFetcher(GitOrigin(allow_private=True, url=repository.url)).fetch(tmp_path / "mirror", told)

    assert not ran.exists()
    assert not (done.root / "link.md").is_symlink()


async def test_a_token_is_in_no_argument_and_no_message(tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$1" = version ] && echo git version 2.39.5\n'
        'echo "$@" >> "$(dirname "$0")/said"\nenv > "$(dirname "$0")/env-$1"\n'
        'if [ "$1" = fetch ]; then echo "fatal: Authorization: Basic c2VjcmV0 refused" >&2; exit 1; fi\n'
    )
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        patch.setenv("SOME_SECRET", "not for git")
        origin = GitOrigin(url="https://git.example.org/team/wiki.git")
        with pytest.raises(SourceUnavailable) as caught:
            await GitFetcher(origin, "t0ken", resolve=public).fetch(tmp_path / "mirror", told)

    environment = (program.parent / "env-fetch").read_text()
    assert "t0ken" not in (program.parent / "said").read_text() and "c2VjcmV0" not in str(caught.value)
    assert "http.https://git.example.org/.extraHeader" in environment
    assert "not for git" not in environment and "GIT_TERMINAL_PROMPT=0" in environment


async def test_a_token_never_goes_over_a_line_in_the_clear(tmp_path: Path) -> None:
    fetcher = GitFetcher(GitOrigin(url="http://git.example.org/team/wiki.git"), "t0ken")
    assert "extraHeader" not in str(fetcher._environment())


async def test_git_connects_to_the_checked_address_alone(site: Site, repository: Repository, tmp_path: Path) -> None:
    served(site, repository)
    url = site.url.replace("127.0.0.1", "git.example") + "/bare.git"  # no such name: only the checked address works

    done = await open_to_loopback(GitOrigin(url=url)).fetch(tmp_path / "mirror", told)

    assert files(done.root) == {"a.md": "# One", "docs/b.md": "# Two"}
    assert {head["Host"].partition(":")[0] for head in site.heads} == {"git.example"}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/a.git",
        "http://2130706433/a.git",
        "https://[::ffff:10.0.0.7]/a.git",
        "ssh://git@192.168.0.4:2222/a.git",
        "git@10.0.0.7:team/a.git",
        "http://localhost/a.git",
    ],
)
async def test_a_repository_in_the_own_network_is_not_read(tmp_path: Path, url: str) -> None:
    with pytest.raises(SourceUnavailable, match=r"own network.*allow_private = true"):
        await GitFetcher(GitOrigin(url=url)).fetch(tmp_path / "mirror", told)


async def test_a_repository_of_this_machine_is_read_only_if_that_is_configured(
    repository: Repository, tmp_path: Path
) -> None:
    for url in (repository.url, str(repository.bare)):
        with pytest.raises(SourceUnavailable, match=r"on this machine.*allow_private = true"):
            await GitFetcher(GitOrigin(url=url)).fetch(tmp_path / "mirror", told)
        done = await GitFetcher(GitOrigin(url=url, allow_private=True)).fetch(tmp_path / "mirror", told)
        assert set(files(done.root)) == {"a.md", "docs/b.md"}


@pytest.mark.parametrize("url", ["https://gít.example/a.git", "https://git.example./a.git"])
async def test_a_name_that_git_may_read_differently_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(SourceUnavailable, match="can't be checked"):
        await open_to_loopback(GitOrigin(url=url)).fetch(tmp_path / "mirror", told)


async def test_a_redirect_is_followed_on_the_same_host_only(site: Site, repository: Repository, tmp_path: Path) -> None:
    served(site, repository)
    url = site.url.replace("127.0.0.1", "git.example")
    refs = "/info/refs?service=git-upload-pack"
    site.pages[f"/old.git{refs}"] = Page(status=301, headers={"Location": f"{url}/bare.git{refs}"})
    site.pages[f"/away.git{refs}"] = Page(status=301, headers={"Location": f"{site.url}/bare.git{refs}"})

    done = await open_to_loopback(GitOrigin(url=f"{url}/old.git")).fetch(tmp_path / "mirror", told)
    assert set(files(done.root)) == {"a.md", "docs/b.md"}

    with pytest.raises(SourceUnavailable, match=r"leads to 'http://127\.0\.0\.1.*set url"):
        await open_to_loopback(GitOrigin(url=f"{url}/away.git")).fetch(tmp_path / "other", told)


async def test_ssh_connects_to_the_checked_address_and_proves_the_key_of_the_name(tmp_path: Path) -> None:
    program = tmp_path / "bin/ssh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@" >> "$(dirname "$0")/said"\nexit 1\n')
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        for url in ("git@git.example:team/a.git", "ssh://git@git.example:2222/a.git"):
            with pytest.raises(SourceUnavailable, match="git fetch"):
                await GitFetcher(GitOrigin(url=url), resolve=public).fetch(tmp_path / "mirror", told)

    plain, other_port = (line for line in (program.parent / "said").read_text().splitlines() if "upload-pack" in line)
    assert "-oHostName=93.184.216.34 -oHostKeyAlias=git.example " in plain
    assert "-oHostName=93.184.216.34 -oHostKeyAlias=[git.example]:2222 " in other_port


async def test_a_small_repository_of_countless_files_is_refused_unwritten(
    repository: Repository, tmp_path: Path
) -> None:
    listed = "\n".join(f"100644 blob {repository.git('rev-parse', 'HEAD:a.md').strip()}\tf{n}" for n in range(10))
    for _ in range(9):  # ten times as many at each level: ten thousand million
        tree = repository.git("mktree", "--missing", given=f"{listed}\n").strip()
        listed = "\n".join(f"040000 tree {tree}\td{n}" for n in range(10))
    commit = repository.git("commit-tree", tree, "-m", "Bomb").strip()
    repository.git("push", "--quiet", "--force", "origin", f"{commit}:refs/heads/main")

    with pytest.raises(SourceUnavailable, match="more than 300,000 files"):
        await GitFetcher(GitOrigin(url=repository.url, allow_private=True)).fetch(tmp_path / "mirror", told)
    assert [item.name for item in (tmp_path / "mirror/files").iterdir()] == [".git"]


async def test_a_repository_of_large_files_is_refused_unwritten(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MOST_BYTES", 1024**3)
    for n in range(3):
        repository.write(f"{n}.md", "")
        os.truncate(repository.work / f"{n}.md", 400 * 1024**2)  # packs to a few hundred kilobytes
    repository.push()

    with pytest.raises(SourceUnavailable, match="or 1 GB"):
        await GitFetcher(GitOrigin(url=repository.url, allow_private=True)).fetch(tmp_path / "mirror", told)
    assert not (tmp_path / "mirror/files/0.md").exists()
