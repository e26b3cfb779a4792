"""A GitHub of one repository: the parts of its REST API that are used, in the shapes that its documentation gives."""

import hashlib
from typing import Any

from aiohttp import web

from tests.integration.sources.site import Site

REPOSITORY = "mill-town/handbook"


class GitHubServer:
    """Holds files and issues as a test sets them; lists two issues a page."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.files: dict[str, str] = {}
        self.issues: list[dict[str, Any]] = []
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.truncated = False
        base = f"/repos/{REPOSITORY}"
        site.on(base, self._repository)
        site.on(f"{base}/git/trees/main", self._tree)
        site.on(f"{base}/issues", self._issues)

    def set_file(self, path: str, text: str) -> None:
        self.files[path] = text
        self.site.on(f"/repos/{REPOSITORY}/git/blobs/{_sha(text)}", _answering(text))

    def set_issue(self, number: int, title: str, updated: str, comments: tuple[str, ...] = (), **more: Any) -> None:
        self.issues = [issue for issue in self.issues if issue["number"] != number]
        link = f"https://github.example/{REPOSITORY}/issues/{number}"
        self.issues.append(
            {
                "number": number,
                "title": title,
                "state": "open",
                "user": {"login": "ann"},
                "created_at": "2026-01-05T08:00:00Z",
                "updated_at": updated,
                "html_url": link,
                "labels": [{"name": "flood"}],
                "body": f"# Report\r\n\r\nAbout {title}.",
                "comments": len(comments),
                **more,
            }
        )
        self.comments[number] = [
            {"user": None, "created_at": "2026-01-06T08:00:00Z", "body": text} for text in comments
        ]
        self.site.on(f"/repos/{REPOSITORY}/issues/{number}/comments", self._comments_of(number))

    async def _repository(self, request: web.Request) -> web.Response:
        return web.json_response({"default_branch": "main"})

    async def _tree(self, request: web.Request) -> web.Response:
        tree = [
            {"path": path, "type": "blob", "sha": _sha(text), "size": len(text)} for path, text in self.files.items()
        ]
        return web.json_response({"tree": [{"path": "docs", "type": "tree"}, *tree], "truncated": self.truncated})

    async def _issues(self, request: web.Request) -> web.Response:
        page = int(request.query.get("page", 1))
        since = request.query.get("since", "")
        found = sorted((item for item in self.issues if item["updated_at"] >= since), key=lambda i: i["updated_at"])
        shown = found[(page - 1) * 2 : page * 2]
        headers = {}
        if len(found) > page * 2:
            following = request.url.update_query(page=str(page + 1))
            headers["Link"] = f'<{following}>; rel="next", <{request.url}>; rel="last"'
        return web.json_response(shown, headers=headers)

    def _comments_of(self, number: int) -> Any:
        async def answer(request: web.Request) -> web.Response:
            return web.json_response(self.comments[number])

        return answer


def _answering(text: str) -> Any:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=text)

    return answer


def _sha(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
