"""Where footnotes lead on platforms elsewhere: to the source viewer, where it has a public address; and what signs."""

import os
import secrets
from pathlib import Path

from bot.config import Config
from bot.presentation.platform_parts import LinkTo
from bot.web.links import Links
from bot.wiring.app import App
from bot.wiring.stores import KEY_FILE
from core.domain.answer import Citation
from core.errors import StorageError

KEY_BYTES = 32
OWNER_ONLY_FILE = 0o600


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


def link_key(config: Config) -> str:
    """The configured key, else one of the data directory's own, made at the first start."""
    configured = config.web_key()
    if configured is not None:
        return configured.get_secret_value()
    file = config.data_path / KEY_FILE
    try:
        return _stored_key(file)
    except OSError as error:
        raise StorageError(f"The key file {str(file)!r} can't be used ({error.strerror}): check it.") from error


def _stored_key(file: Path) -> str:
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY_FILE)
        with os.fdopen(handle, "w", encoding="ascii") as fresh:
            fresh.write(secrets.token_urlsafe(KEY_BYTES))
    return file.read_text(encoding="ascii").strip()
