"""The pages of Confluence spaces over the REST API, for Cloud and Data Center; attachments are left out.

Each fetch lists a whole space (ids and versions), and requests the bodies of new versions. The storage format is XHTML
with elements of its own (`ac:`, `ri:`), which become HTML; macros that need an interactive page are left out.

A page is read by those whom its view restrictions and those of every page above it name, if there are any. They come
with each listing, as a change of them is no new version. Restrictions that can't be seen let nobody read.
"""

import asyncio
import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from lxml import html as lxml_html
from lxml.html import HtmlElement

from core.domain.sources import ConfluenceOrigin, Reach, Reached
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from storage.sources.mirror import Kept, Mirror, safe_part
from storage.sources.web import Reply, Web, reach_of

PER_PAGE = 100
MOST_LIST_PAGES = 1000
_RESTRICTIONS = "restrictions.read.restrictions.user,restrictions.read.restrictions.group"
_USER_KEYS = ("username", "email", "accountId", "userKey")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A page as a space lists it."""

    id: str
    title: str
    version: str
    above: tuple[str, ...]  # titles of the pages over it, the topmost first
    above_ids: tuple[str, ...]
    link: str
    readers: frozenset[str] | None  # names in its own view restriction; None: it has none

    @property
    def revision(self) -> str:
        """A text that changes with the page and with each part of its path in the mirror."""
        return "/".join((self.version, *self.above, self.title))


class ConfluenceFetcher:
    """SourceFetcher of a ConfluenceOrigin. `token` with a user is an API token (basic), without one a bearer token."""

    def __init__(self, origin: ConfluenceOrigin, token: str | None = None) -> None:
        self._origin = origin
        self._token = token
        self._web = Web(origin.bounds, headers=_authorisation(origin.user, token), secret_origin=origin.url)

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """`<space>/<titles above>/<title>-<id>.html` for each page. A space that can't be listed raises."""
        opened = await asyncio.to_thread(Mirror, mirror, of=self._origin.url, force=force)
        warnings, most = list[str](), self._origin.bounds.max_pages
        async with self._web as web:
            pages = [(space, page) for space in self._origin.spaces for page in await self._list(web, space)]
            if len(pages) > most:
                warnings.append(f"The spaces hold {len(pages)} pages, the first {most} are read: set max_pages higher")
            wanted = {_to_path(space, page): page for space, page in pages[:most]}
            known = {path: path for path in opened.memory.files}
            restricted = await self._restricted(web, [page for _, page in pages], wanted)
            await opened.fill(wanted, partial(self._page, web, opened), known, progress, warnings)
        return replace(opened.fetched(warnings), restricted=restricted)

    async def reach(self) -> Reached:
        """Ask for a page of each space. Raises SourceUnavailable."""
        async with self._web as web:
            for space in self._origin.spaces:
                path = f"/rest/api/content?spaceKey={quote(space)}&type=page&limit=1"
                reply = await web.get(f"{self._origin.url}{path}", accept="application/json")
                if (state := reach_of(reply)) is not Reach.READY:
                    return Reached(state=state, place=f"{self._origin.url} ({space})")
        return Reached(state=Reach.READY, place=self._origin.url)

    async def _list(self, web: Web, space: str) -> list[Listed]:
        listed: list[Listed] = []
        start = 0
        for _ in range(MOST_LIST_PAGES):
            query = f"spaceKey={quote(space)}&type=page&status=current&expand=version,ancestors,{_RESTRICTIONS}"
            plain = await self._json(
                web, f"/rest/api/content?{query}&limit={PER_PAGE}&start={start}", f"space {space!r}"
            )
            found = plain["results"]
            try:
                listed += [self._to_listed(item) for item in found]
            except (KeyError, TypeError, AttributeError) as error:
                raise SourceUnavailable(f"{self._origin.url} lists no pages as Confluence does: check `url`") from error
            start += len(found)
            if not found or "next" not in plain.get("_links", {}):
                return listed
        raise SourceUnavailable(f"The space {space!r} of {self._origin.url} has no end: is it a Confluence?")

    def _to_listed(self, item: Mapping[str, Any]) -> Listed:
        return Listed(
            id=str(item["id"]),
            title=str(item["title"]),
            version=str(item["version"]["number"]),
            above=tuple(str(page["title"]) for page in item.get("ancestors") or ()),
            above_ids=tuple(str(page["id"]) for page in item.get("ancestors") or ()),
            readers=_readers(item),
            link=urljoin(f"{self._origin.url}/", str(item.get("_links", {}).get("webui", "")).lstrip("/")),
        )

    async def _restricted(
        self, web: Web, listed: Iterable[Listed], wanted: Mapping[str, Listed]
    ) -> dict[str, tuple[frozenset[str], ...]]:
        """Return the restrictions of pages by path, each with the restrictions of the pages above it."""
        own = {page.id: page.readers for page in listed}
        found: dict[str, tuple[frozenset[str], ...]] = {}
        for path, page in wanted.items():
            for above in page.above_ids:
                if above not in own:  # it is archived, or of a kind that is not listed
                    own[above] = await self._readers_of(web, above)
            sets = [own[id] for id in (*page.above_ids, page.id)]
            if any(readers is not None for readers in sets):
                found[path] = tuple(dict.fromkeys(readers for readers in sets if readers is not None))
        return found

    async def _readers_of(self, web: Web, id: str) -> frozenset[str] | None:
        """Return the names in the view restriction of one page, none if it can't be seen; None without one."""
        path = f"/rest/api/content/{quote(id)}?expand=body.storage,{_RESTRICTIONS}"
        try:
            return _readers(await self._json(web, path, f"the page {id}"))
        except SourceUnavailable:
            return frozenset()

    async def _page(self, web: Web, mirror: Mirror, path: str, page: Listed) -> str:
        known = mirror.memory.files.get(path)
        if known is not None and known.revision == page.revision:
            return path
        plain = await self._json(
            web, f"/rest/api/content/{quote(page.id)}?expand=body.storage", f"the page {page.title!r}"
        )
        storage = (plain["body"].get("storage") or {}).get("value")
        if not isinstance(storage, str):
            raise SourceUnavailable(f"The page {page.title!r} came without its text")
        html = to_html(page.title, storage)
        mirror.write(path, html.encode("utf-8", "replace"), Kept(revision=page.revision, link=page.link, key=page.id))
        return path

    async def _json(self, web: Web, path: str, what: str) -> Mapping[str, Any]:
        reply = await web.get(f"{self._origin.url}{path}", accept="application/json")
        if reply.status != 200:
            raise SourceUnavailable(self._refusal(reply, what))
        try:
            found: Mapping[str, Any] = json.loads(reply.content)
            if not isinstance(found.get("results") if "results" in found else found.get("body"), list | dict):
                raise ValueError("another form of JSON")
        except (ValueError, AttributeError, TypeError) as error:  # a sign-in page, most often
            raise SourceUnavailable(
                f"{self._origin.url} did not answer with JSON for {what}: check `url` (Atlassian's end with /wiki) and "
                "the token"
            ) from error
        return found

    def _refusal(self, reply: Reply, what: str) -> str:
        said = f"{self._origin.url} answered {reply.status} for {what}"
        if reply.status in (401, 403):
            hint = "check the token, and `user` for Atlassian's sites" if self._token else "set CONFLUENCE_TOKEN"
            return f"{said}: {hint}"
        return f"{said}: it is not there, or the token may not see it" if reply.status == 404 else said


def _readers(item: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names in the view restriction of a page, none if it doesn't show; None without one.

    A user has up to four names: of Data Center, an e-mail address, an account, a key.
    """
    try:
        read = item["restrictions"]["read"]["restrictions"]
        users, groups = read["user"]["results"], read["group"]["results"]
        names = [f"user:{user[key]}" for user in users for key in _USER_KEYS if user.get(key)]
        names += [f"group:{group[key]}" for group in groups for key in ("name", "id") if group.get(key)]
    except (KeyError, TypeError, AttributeError):
        return frozenset()
    return frozenset(names) if users or groups else None


def _to_path(space: str, page: Listed) -> str:
    """Return a path in the page tree; the id distinguishes equal titles."""
    folders = [safe_part(title) for title in page.above[-5:]]
    return "/".join([safe_part(space), *folders, f"{safe_part(page.title[:80])}-{safe_part(page.id)}.html"])


def _authorisation(user: str | None, token: str | None) -> dict[str, str]:
    if token is None:
        return {}
    if user is None:
        return {"Authorization": f"Bearer {token}"}
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()}


# Macros with preformatted text.
_CODE = frozenset({"code", "noformat"})
# Macros that stand for something which is made when the page is shown: nothing of it is in the page.
_MADE = frozenset(
    {"toc", "children", "pagetree", "recently-updated", "contentbylabel", "attachments", "jira", "livesearch"}
)
_BOXES = frozenset({"info", "note", "warning", "tip", "panel", "expand", "excerpt", "details"})
_DROPPED = frozenset({"ac:parameter", "ac:placeholder", "ac:emoticon", "ac:image", "ac:task-id", "ac:task-uuid"})
_TAGS = {  # the HTML form of elements; others are a span
    "ac:task": "li",
    "ac:task-list": "ul",
    "ac:plain-text-body": "pre",
    **dict.fromkeys(("ac:rich-text-body", "ac:layout", "ac:layout-section", "ac:layout-cell"), "div"),
}
# Characters that XML can't hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_html(title: str, storage: str) -> str:
    """Return a whole HTML document; `title` is its h1."""
    root = lxml_html.fragment_fromstring(_without_cdata(_CONTROL.sub("", storage)), create_parent="div")
    for element in list(root.iter()):
        if isinstance(element.tag, str) and ":" in element.tag:
            _replace(element)
    body = lxml_html.tostring(root, encoding="unicode")
    name = escape(title)
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title></head><body><main><h1>{name}</h1>{body}</main></body></html>"
    )


def _without_cdata(storage: str) -> str:
    """HTML parsers know no CDATA: its text is escaped instead."""
    parts = storage.split("<![CDATA[")
    found = [parts[0]]
    for part in parts[1:]:
        inside, end, after = part.partition("]]>")
        found += [escape(inside), after if end else ""]
    return "".join(found)


def _replace(element: HtmlElement) -> None:
    """Replace an element by its HTML form or by its content, in place."""
    match element.tag:
        case "ac:structured-macro" | "ac:macro":
            _replace_macro(element)
        case "ac:link":
            _replace_link(element)
        case "ac:task-status":
            done = (element.text or "").strip() == "complete"
            element.text, element.tag = ("[x] " if done else "[ ] "), "span"
        case tag if tag in _DROPPED:
            _drop(element)
        case tag:
            element.tag = _TAGS.get(tag, "span")


def _replace_macro(element: HtmlElement) -> None:
    name = element.get("ac:name", "")
    if name in _MADE:
        _drop(element)
        return
    title = next(
        (child.text for child in element if child.tag == "ac:parameter" and child.get("ac:name") == "title"), None
    )
    element.tag = "div"
    if title and (name in _BOXES or name in _CODE):
        heading = lxml_html.Element("p")
        heading.text = title
        element.insert(0, heading)
    if name == "status" and title:
        element.tag, element.text = "span", title


def _replace_link(element: HtmlElement) -> None:
    """Replace a link inside Confluence by its text, else the title of the page it leads to."""
    shown = " ".join("".join(element.itertext()).split())
    target = next((child.get("ri:content-title") for child in element.iter() if child.get("ri:content-title")), None)
    for child in list(element):
        element.remove(child)
    element.tag, element.text = "span", shown or target or ""


def _drop(element: HtmlElement) -> None:
    """With all that is in it; the text behind it stays."""
    if element.getparent() is not None:
        element.drop_tree()
