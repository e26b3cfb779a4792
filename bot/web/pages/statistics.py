"""How the library is used: what is cited most and never, and what people asked that it does not say."""

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.pages.connections import document_path
from bot.web.parts import PARTS, WebParts
from bot.web.requests import person_of
from core.features.statistics import DAYS, UsageStatistics

STATISTICS = web.AppKey("statistics", UsageStatistics)


def add_statistics_page(app: web.Application, parts: WebParts, statistics: UsageStatistics) -> None:
    """The route of the page (a WebAddition)."""
    app[STATISTICS] = statistics
    app.router.add_get("/library/statistics", show_statistics)


async def show_statistics(request: web.Request) -> web.Response:
    """Of the last days, with the documents that may be read here."""
    scope = await request.app[PARTS].scope(None, person_of(request))
    found = await request.app[STATISTICS].of(scope)
    return render_template("statistics.html", request, {"found": found, "days": DAYS, "path": document_path})
