"""Where footnotes lead on platforms elsewhere: to the source viewer, where it has a public address."""

from bot.service_web import link_key
from bot.webchat.links import Links
from bot.wiring.app import App
from bot.wiring.platform_parts import LinkTo
from core.domain.answer import Citation


def link_maker(app: App) -> LinkTo:
    """Gives a footnote's address: the viewer's, else the document's own on the web, else none. Never loopback."""
    settings = app.config.web
    if not settings.public_url:
        return lambda citation, thread: own_address(citation)
    links = Links(
        secret_key=link_key(app.config), clock=app.clock, days=settings.link_days, public_url=settings.public_url
    )
    return links.url


def own_address(citation: Citation) -> str | None:
    """The document's address, where a browser can open it."""
    return citation.url if citation.url and citation.url.startswith(("http://", "https://")) else None
