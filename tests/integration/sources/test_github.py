"""A repository on GitHub: files by their hashes, issues by their changes, its limits and its refusals."""

from pathlib import Path

import pytest

from core.domain.sources import GitHubOrigin, WebBounds
from core.errors import SourceUnavailable
from core.ports.documents import Fetched
from storage.sources.github import GitHubFetcher
from tests.integration.sources.github_server import REPOSITORY, GitHubServer
from tests.integration.sources.repository import Repository
from tests.integration.sources.site import Page, Site

BOUNDS = WebBounds(allow_private=True, pause_seconds=0)


@pytest.fixture
def github(site: Site) -> GitHubServer:
    server = GitHubServer(site)
    server.set_file("README.md", "# Handbook")
    server.set_file("docs/flood plan.md", "# Flood plan")
    server.set_file("logo.bin", "no document")
    server.set_issue(1, "The weir leaks", "2026-02-01T10:00:00Z", ("Mended.",))
    server.set_issue(2, "The gate sticks", "2026-02-02T10:00:00Z", pull_request={}, state="closed")
    server.set_issue(3, "The bell is silent", "2026-02-03T10:00:00Z")
    return server


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


async def fetch(site: Site, mirror: Path, *parts: str, token: str | None = "t0ken", **options: bool) -> Fetched:
    origin = GitHubOrigin(
        repository=REPOSITORY,
        parts=frozenset(parts or ("files", "issues")),
        api_url=site.url,
        web_url="https://github.example",
        bounds=BOUNDS,
    )
    return await GitHubFetcher(origin, token, exclude=("secret*",)).fetch(mirror, told, **options)


def paths(fetched: Fetched) -> list[str]:
    return sorted(item.relative_to(fetched.root).as_posix() for item in fetched.root.rglob("*") if item.is_file())


async def test_files_and_issues_come_with_their_addresses(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    github.set_file("secret.md", "# Not wanted")
    done = await fetch(site, tmp_path)

    issues = [f"issues/00000{number}.md" for number in (1, 2, 3)]
    assert paths(done) == ["files/README.md", "files/docs/flood plan.md", *issues]
    assert done.links["files/docs/flood plan.md"] == (
        f"https://github.example/{REPOSITORY}/blob/main/docs/flood%20plan.md"
    )
    assert done.links["issues/000001.md"] == f"https://github.example/{REPOSITORY}/issues/1"
    text = (done.root / "issues/000001.md").read_text()
    assert "# The weir leaks" in text and "### Report" in text and "## ghost, 2026-01-06\n\nMended." in text
    assert "Pull request #2 by ann, 2026-01-05, closed, labels: flood." in (done.root / "issues/000002.md").read_text()
    assert all(head["Authorization"] == "Bearer t0ken" for head in site.heads)


async def test_only_what_changed_is_asked_for_again(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path)
    site.asked.clear()
    assert (await fetch(site, tmp_path)).changed == 0
    assert len(site.asked) == 3
    github.set_file("README.md", "# Other")
    del github.files["docs/flood plan.md"]
    github.set_issue(1, "The weir leaks again", "2026-03-01T10:00:00Z")
    site.asked.clear()

    done = await fetch(site, tmp_path)
    assert (done.changed, done.removed) == (2, 1)
    assert "leaks again" in (done.root / "issues/000001.md").read_text()
    assert len([path for path in site.asked if "/blobs/" in path]) == 1
    assert "since=2026-02-03" in next(path for path in site.asked if "/issues?" in path)


async def test_a_part_that_is_no_longer_wanted_goes(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path)
    done = await fetch(site, tmp_path, "files")
    assert paths(done) == ["files/README.md", "files/docs/flood plan.md"]

    done = await fetch(site, tmp_path)
    assert "issues/000003.md" in paths(done)


async def test_a_part_that_fails_stays_and_the_others_go_on(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path)
    github.set_file("README.md", "# Other")
    limit = {"X-RateLimit-Remaining": "0"}
    site.pages[f"/repos/{REPOSITORY}/issues"] = Page("{}", status=403, headers=limit)

    done = await fetch(site, tmp_path)
    assert "issues/000003.md" in paths(done) and done.changed == 1
    assert any("limit of requests is used up" in warning for warning in done.warnings)


async def test_a_limit_in_the_middle_is_gone_on_from(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    github.set_issue(3, "The bell is silent", "2026-02-03T10:00:00Z", ("Ring it.",))
    place = f"/repos/{REPOSITORY}/issues/3/comments"
    whole = site.pages[place]
    site.pages[place] = Page("{}", status=403, headers={"X-RateLimit-Remaining": "0"})
    await fetch(site, tmp_path)
    site.pages[place] = whole
    site.asked.clear()
    done = await fetch(site, tmp_path)

    assert "issues/000003.md" in paths(done)
    assert not [path for path in site.asked if "/issues/1/" in path]


async def test_what_may_not_be_read_says_what_to_do(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    for path in list(site.pages):
        site.pages[path] = Page(status=404)
    with pytest.raises(SourceUnavailable, match="GITHUB_TOKEN"):
        await fetch(site, tmp_path, token=None)
    with pytest.raises(SourceUnavailable, match="rights"):
        await fetch(site, tmp_path)


async def test_a_repository_too_large_to_list_loses_nothing(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path, "files")
    github.truncated, github.files = True, {}
    with pytest.raises(SourceUnavailable, match="kind git"):
        await fetch(site, tmp_path, "files")
    assert (tmp_path / "files/files/README.md").exists()


async def test_force_finds_issues_that_were_deleted(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path)
    github.issues = [issue for issue in github.issues if issue["number"] != 2]
    assert "issues/000002.md" in paths(await fetch(site, tmp_path))

    done = await fetch(site, tmp_path, force=True)
    assert "issues/000002.md" not in paths(done) and "issues/000003.md" in paths(done)


async def test_a_source_that_is_now_another_repository_holds_nothing_of_the_old_one(
    site: Site, github: GitHubServer, tmp_path: Path
) -> None:
    await fetch(site, tmp_path)
    github.issues = []
    github.set_issue(9, "Of the other repository", "2020-01-01T00:00:00Z")
    origin = GitHubOrigin(
        repository=REPOSITORY,
        parts=frozenset({"issues"}),
        api_url=site.url,
        web_url="https://other.example",
        bounds=BOUNDS,
    )
    done = await GitHubFetcher(origin, None).fetch(tmp_path, told)

    assert paths(done) == ["issues/000009.md"]


async def test_a_wiki_comes_by_git_and_links_to_its_pages(site: Site, github: GitHubServer, tmp_path: Path) -> None:
    origin = GitHubOrigin(
        repository=REPOSITORY,
        parts=frozenset({"wiki", "issues"}),
        api_url=site.url,
        web_url=(tmp_path / "host").as_uri(),
        bounds=BOUNDS,
    )
    without = await GitHubFetcher(origin).fetch(tmp_path / "mirror", told)
    assert any("wiki" in warning for warning in without.warnings)

    (tmp_path / "host/mill-town").mkdir(parents=True)
    wiki = Repository(tmp_path, f"host/{REPOSITORY}.wiki.git")
    wiki.write("Home.md", "# Welcome")
    wiki.write("Flood plan.md", "# Flood plan")
    wiki.push()
    done = await GitHubFetcher(origin).fetch(tmp_path / "mirror", told)

    links = {path: link for path, link in done.links.items() if path.startswith("wiki/")}
    assert links == {
        "wiki/Home.md": f"{origin}/wiki",
        "wiki/Flood plan.md": f"{origin}/wiki/Flood%20plan",
    }
    assert (done.root / "wiki/Home.md").read_text() == "# Welcome"
    (wiki.work / "Home.md").unlink()
    wiki.push()
    assert (await GitHubFetcher(origin).fetch(tmp_path / "mirror", told)).removed == 1


@pytest.mark.parametrize("text", ["<html>Sign in</html>", "[]", '{"tree": [{}]}', '{"default_branch": 1, "tree": 2}'])
async def test_what_is_no_answer_of_github_is_a_failure_and_loses_nothing(
    site: Site, github: GitHubServer, tmp_path: Path, text: str
) -> None:
    done = await fetch(site, tmp_path, "files")
    for path in (f"/repos/{REPOSITORY}", f"/repos/{REPOSITORY}/git/trees/main", f"/repos/{REPOSITORY}/git/trees/1"):
        site.pages[path] = Page(text)
    with pytest.raises(SourceUnavailable, match="no form that GitHub has"):
        await fetch(site, tmp_path, "files")

    assert paths(done) == ["files/README.md", "files/docs/flood plan.md"]
