"""People signed in by a proxy in front of the pages, named by headers that count only with a shared secret.

The proxy signs people in (OIDC, LDAP, TLS certificates) and must replace these headers in each request. Without the
secret they are ignored, because any client could send them to the port itself.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from bot.config import Config
from core.domain.identity import Role, SignedIn
from core.errors import ConfigError
from core.text.words import collapse

SECRET_HEADER = "X-Footnote-Proxy-Secret"  # noqa: S105 - its name
SHORTEST_SECRET = 16  # characters
MAX_PERSON = 200  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySignIn:
    secret: str = field(repr=False)
    person_header: str
    name_header: str = ""
    groups_header: str = ""
    admins: Collection[str] = ()

    def find(self, headers: Mapping[str, str]) -> SignedIn | None:
        """Return the person of a request; None without the secret or the person."""
        given = headers.get(SECRET_HEADER, "").encode("utf-8", "surrogateescape")
        person = headers.get(self.person_header, "").strip()
        if not hmac.compare_digest(given, self.secret.encode()) or not person or len(person) > MAX_PERSON:
            return None
        groups = {group.strip() for group in headers.get(self.groups_header, "").split(",")} - {""}
        return SignedIn(
            identity=hashlib.sha256(person.encode("utf-8", "surrogateescape")).hexdigest(),
            name=collapse(headers.get(self.name_header, "")) or person,
            role=Role.ADMIN if {person, *groups} & {*self.admins} else Role.MEMBER,
            groups=frozenset(groups),
        )


def build_proxy_sign_in(config: Config) -> ProxySignIn | None:
    """Return the configured sign-in. ConfigError without a long enough secret."""
    settings, secret = config.web.proxy, config.proxy_secret()
    if not settings.person_header:
        return None
    if secret is None or len(secret.get_secret_value()) < SHORTEST_SECRET:
        raise ConfigError(
            f"[web.proxy] needs a secret of at least {SHORTEST_SECRET} characters that only the proxy knows: set "
            "FOOTNOTE_PROXY_SECRET or secret_file."
        )
    return ProxySignIn(
        secret=secret.get_secret_value(),
        person_header=settings.person_header,
        name_header=settings.name_header,
        groups_header=settings.groups_header,
        admins=frozenset(settings.admins),
    )
