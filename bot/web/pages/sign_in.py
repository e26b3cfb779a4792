"""Entering the web app with a one-time link of the terminal or at a sign-in provider, and leaving it."""

from aiohttp import web

from bot.config.sections import RETURN_PATH, SIGN_IN_LASTS
from bot.web.errors import error_page
from bot.web.parts import PARTS, WebParts
from bot.web.security import (
    ENTER_PATH,
    HOW_TO_ENTER,
    SETUP_PATH,
    SIGN_IN_PATH,
    begin_session,
    is_owner,
    is_secure,
    known_as,
    session_cookie,
    session_of,
)
from core.access.identity import OWNER_LASTS

SIGN_OUT_PATH = "/sign-out"
SIGNED_OUT_PATH = f"{SIGN_IN_PATH}/ended"
_LONGEST_PATH = 2_000
_USED = "This link has been used or has expired."


def enter_path(code: str, *, to_setup: bool = False) -> str:
    """Return the path of a link with a code of `Sessions.new_code`."""
    return f"{ENTER_PATH}/{code}{'?to=setup' if to_setup else ''}"


async def enter(request: web.Request) -> web.StreamResponse:
    """Exchange the code of a link for a session; a browser that has one may open a used link."""
    opened = web.HTTPSeeOther(SETUP_PATH if request.query.get("to") == "setup" else "/")
    secret = await request.app[PARTS].sessions.enter(request.match_info["code"])
    if secret is not None:
        begin_session(request, opened, secret, OWNER_LASTS)
    elif not is_owner(request):
        return error_page(request, 403, _USED, advice=HOW_TO_ENTER, title="Link used up")
    raise opened


async def sign_in(request: web.Request) -> web.StreamResponse:
    """Send the browser to the provider, with the text that it must bring back."""
    parts = request.app[PARTS]
    if parts.oidc is None:
        raise web.HTTPNotFound
    address, begun = await parts.oidc.begin(own_path(request.query.get("to", "/")))
    sent = web.HTTPSeeOther(address)
    sent.set_cookie(
        _begun_cookie(parts),
        begun,
        max_age=int(SIGN_IN_LASTS.total_seconds()),
        httponly=True,
        samesite="Lax",  # the way back is from another site
        secure=is_secure(request),
        path=SIGN_IN_PATH,
    )
    raise sent


async def finish_sign_in(request: web.Request) -> web.StreamResponse:
    """Begin a session of the person whom the provider sent back, and return to the page they asked for."""
    parts = request.app[PARTS]
    if parts.oidc is None:
        raise web.HTTPNotFound
    found, path = await parts.oidc.finish(request.cookies.get(_begun_cookie(parts), ""), request.query)
    author, shown = await known_as(parts, found)
    secret = await parts.sessions.begin(author, shown, found.role, parts.oidc.lasts)
    opened = web.HTTPSeeOther(own_path(path))
    begin_session(request, opened, secret, parts.oidc.lasts, samesite="Lax")  # links in chats open for who signed in
    opened.del_cookie(_begun_cookie(parts), path=SIGN_IN_PATH)
    raise opened


def own_path(text: str) -> str:
    """Return a path of this site; "/" for anything that a browser could take for another site's address."""
    is_own = text.startswith("/") and text[1:2] != "/" and "\\" not in text and text.isprintable()
    return text if is_own and len(text) <= _LONGEST_PATH and not text.startswith(SIGN_IN_PATH) else "/"


def _begun_cookie(parts: WebParts) -> str:
    return f"footnote_sign_in_{parts.sessions.service_id}"


async def sign_out(request: web.Request) -> web.StreamResponse:
    """End the session of this browser."""
    session = session_of(request)
    if session is not None:
        await request.app[PARTS].sessions.end(session)
    left = web.HTTPSeeOther(SIGNED_OUT_PATH if request.app[PARTS].oidc else "/")
    left.del_cookie(session_cookie(request.app[PARTS]), path="/")
    raise left


async def signed_out(request: web.Request) -> web.StreamResponse:
    """Say that the session ended; the next page would sign in again at once."""
    oidc = request.app[PARTS].oidc
    if oidc is None:
        raise web.HTTPNotFound
    sentence = f"This browser is signed out of Footnote. You may still be signed in at {oidc.provider}."
    return error_page(request, 200, sentence, title="Signed out")


ROUTES = (
    web.get(f"{ENTER_PATH}/{{code}}", enter, allow_head=False),  # a look ahead doesn't use the link up
    web.get(SIGN_IN_PATH, sign_in, allow_head=False),
    web.get(RETURN_PATH, finish_sign_in, allow_head=False),
    web.get(SIGNED_OUT_PATH, signed_out),
    web.post(SIGN_OUT_PATH, sign_out),
)
