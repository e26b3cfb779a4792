"""The settings page: platforms, documents, model and readers in words, and the browser's own settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.parts import WebParts
from bot.web.requests import YEAR_SECONDS, visit
from bot.web.security import THEME_COOKIE, THEMES
from core.errors import BadInput

PATH = "/settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamState:
    """A server or team of a platform."""

    name: str
    workspace: str  # it reads this one; "": one of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformState:
    """A chat platform, as it is now."""

    name: str
    is_on: bool  # set up
    is_connected: bool
    bots: Sequence[str]  # the names that people mention there
    teams: Sequence[TeamState]
    trouble: str = ""  # the reason why it isn't connected; "" for a connection that works, or was not tried yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The parts of the running service, for people."""

    platforms: Sequence[PlatformState]
    model: str  # "" for quotes only
    reading: int  # sources that are being read for the first time
    public_url: str
    is_open: bool  # any machine may open the pages
    can_set_up: bool  # the service has the wizard
    signs_in_at: str = ""  # the provider at which people sign in


class DescribeService(Protocol):
    async def __call__(self) -> Overview:
        """Return the parts of the service, as they are now."""
        ...


OVERVIEW = web.AppKey("overview", DescribeService)


def add_settings(app: web.Application, parts: WebParts, overview: DescribeService) -> None:
    """Add the page and its form (a WebAddition)."""
    app[OVERVIEW] = overview
    app.router.add_get(PATH, show)
    app.router.add_post(PATH, save)


async def show(request: web.Request) -> web.Response:
    parts, scope = await visit(request)
    context = {
        "overview": await request.app[OVERVIEW](),
        "sources": [item for item in await parts.library.sources(parts.workspace) if item.id in scope.sources],
        "documents": sum(document.pages > 0 for document in await parts.library.documents(scope)),
    }
    return render_template("settings.html", request, context)


async def save(request: web.Request) -> web.StreamResponse:
    """Store the look in the browser."""
    theme = (await request.post()).get("theme")
    if theme not in THEMES:
        raise BadInput("Choose light, dark, or the same as the system.")
    saved = web.HTTPSeeOther(PATH)
    saved.set_cookie(THEME_COOKIE, str(theme), max_age=YEAR_SECONDS, httponly=True, samesite="Lax", path="/")
    raise saved
