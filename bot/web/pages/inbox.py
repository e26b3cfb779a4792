"""The page of the review inbox: proposals to keep, unanswered questions and stale answers, for the owner and admins."""

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.pages.uploads import require_admin
from bot.web.parts import PARTS, WebParts
from bot.web.requests import name_of, person_of
from bot.web.security import is_owner
from bot.web.translate import PLATFORM
from core.domain.incoming import ThreadAddress
from core.errors import FootnoteError, NotFound
from core.features.review import HIDDEN_QUESTIONS, Act, Reviewer, Reviews, audience

REVIEWS = web.AppKey("reviews", Reviews)
ADDRESS = "/inbox"
UNNAMED = "the owner"  # in a browser that asked nothing yet


def add_inbox(app: web.Application, parts: WebParts, reviews: Reviews) -> None:
    """Add the routes of the inbox (a WebAddition)."""
    app[REVIEWS] = reviews
    app.router.add_get(ADDRESS, show_inbox)
    app.router.add_post(f"{ADDRESS}/{{act}}/{{id}}", decide)


async def show_inbox(request: web.Request) -> web.Response:
    require_admin(request)
    return await _show(request)


async def decide(request: web.Request) -> web.Response:
    """Accept, decline or undo one, and show the inbox; errors appear above it."""
    require_admin(request)
    act = request.match_info["act"]
    if act not in (Act.ACCEPT, Act.DECLINE, Act.UNDO):
        raise NotFound("This page isn't there.")
    try:
        await request.app[REVIEWS].decide(_reviewer(request), Act(act), request.match_info["id"])
    except FootnoteError as error:
        return await _show(request, problem=str(error))
    raise web.HTTPSeeOther(ADDRESS)


async def _show(request: web.Request, problem: str = "") -> web.Response:
    found = await request.app[REVIEWS].inbox(_reviewer(request))
    hidden = HIDDEN_QUESTIONS.format(count=found.hidden) if found.hidden else ""
    shown = {"found": found, "hidden": hidden, "problem": problem, "audience": audience}
    return render_template("inbox.html", request, shown, status=409 if problem else 200)


def _reviewer(request: web.Request) -> Reviewer:
    """Return the visitor: the owner reviews every place, an admin only the web app."""
    workspace, person = request.app[PARTS].workspace, person_of(request) or UNNAMED
    here = ThreadAddress(platform=PLATFORM, workspace=workspace, channel="", thread="")
    name = name_of(request) or person
    return Reviewer(workspace=workspace, person=person, name=name, address=None if is_owner(request) else here)
