"""The set-up wizard in the browser, for the person who opened the one-time link of the terminal."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template
from multidict import MultiDictProxy

from bot.presentation.setup_screens import Answers, Field, FieldKind, Finding, Screen, SetupWizard, Tone
from bot.web.errors import error_page
from bot.web.pages.settings import OVERVIEW
from bot.web.pages.uploads import KINDS, UPLOADS, can_change, reader_choices
from bot.web.parts import WebParts
from bot.web.requests import visit
from bot.web.security import SETUP_PATH, may_set_up
from core.domain.readers import READER_FORMS
from core.errors import FootnoteError
from core.features.upload_files import size_words

DONE_PATH = f"{SETUP_PATH}/done"
NO_LINK = "The set-up pages open with a one-time link, for two hours, and only in the browser that opened it."
NEW_LINK = "For a new link, run “footnote link --setup” on the machine that Footnote runs on."
RESTART_AFTER_SECONDS = 1.0  # so that the browser shows the page that waits


@dataclass(kw_only=True)
class SetupRun:
    """The state of set-up that outlives a restart of the service; one for each process."""

    told: Sequence[str] = ()  # a sentence for each thing that is set up
    problem: str = ""  # why the service didn't start with it
    is_restarting: bool = False


@dataclass(frozen=True, kw_only=True)
class SetupParts:
    open_wizard: Callable[[], SetupWizard]
    run: SetupRun
    restart: Callable[[], None]  # of the service, with the new configuration

    @cached_property
    def wizard(self) -> SetupWizard:
        """The wizard, opened when it is first needed: its answers may be damaged, which is no reason not to serve."""
        return self.open_wizard()


SETUP = web.AppKey("setup", SetupParts)
Form = MultiDictProxy[str | bytes | bytearray | web.FileField]


def add_setup(app: web.Application, parts: WebParts, setup: SetupParts) -> None:
    """Add the routes of the wizard (a WebAddition)."""
    app[SETUP] = setup
    app.router.add_get(SETUP_PATH, show)
    app.router.add_post(SETUP_PATH, take)
    app.router.add_get(DONE_PATH, show_done)


async def show(request: web.Request) -> web.StreamResponse:
    """Show a step, with its checks; the script asks for it again and again."""
    setup = request.app[SETUP]
    if not may_set_up(request):
        return _refuse(request)
    screen = await setup.wizard.screen(request.query.get("step", ""))
    return _page(request, screen, screen.findings)


async def take(request: web.Request) -> web.StreamResponse:
    """Handle the form's buttons: continue, check, skip, later and finish."""
    setup = request.app[SETUP]
    if not may_set_up(request):
        return _refuse(request)
    form = await request.post()
    step, do = str(form.get("step", "")), form.get("do", "continue")
    if do == "finish":
        return await _finish(request, step)
    if do == "skip":
        await setup.wizard.skip(step)
        return _go(_next(setup.wizard, step))
    answers = to_answers(form)
    try:
        findings = await setup.wizard.submit(step, answers)
    except FootnoteError as error:
        findings = [Finding(tone=Tone.PROBLEM, sentence=str(error))]
    if do == "later":
        return _go("/")
    tones = {finding.tone for finding in findings}
    seen = "|".join(finding.sentence for finding in findings if finding.tone is Tone.WARNING)
    is_warned = Tone.WARNING in tones and form.get("seen") != seen
    if do == "check" or Tone.PROBLEM in tones or is_warned:
        return _page(request, _filled(await setup.wizard.screen(step), answers), findings, seen)
    return _go(_next(setup.wizard, step))


async def show_done(request: web.Request) -> web.StreamResponse:
    """Show the result of set-up; while the service starts again, a page that waits."""
    setup = request.app[SETUP]
    if not may_set_up(request):
        return _refuse(request)
    parts, scope = await visit(request)
    documents = await parts.library.documents(scope)
    waiting = len(request.app[UPLOADS].waiting(parts.workspace)) if UPLOADS in request.app else 0
    overview = await request.app[OVERVIEW]()
    context = {
        "run": setup.run,
        "read": sum(document.pages > 0 for document in documents),
        "failed": sum(bool(document.failed_reason) for document in documents),
        "reading": waiting + overview.reading,
        "overview": overview,
        "is_connecting": any(platform.is_on and not platform.is_connected for platform in overview.platforms),
    }
    return render_template("setup_done.html", request, context)


def to_answers(form: Form) -> Answers:
    """Return the entered values by the names of their fields, which the form has after their kinds.

    An empty secret is left out, so that the one entered before stays.
    """
    given: dict[str, str | Sequence[str]] = {}
    for key in form:
        kind, _, name = key.partition(".")
        values = [value.strip() for value in form.getall(key) if isinstance(value, str)]
        text = values[0] if values else ""
        if kind == FieldKind.CHOICES:
            given[name] = tuple(value for value in values if value)  # an empty one says that none is chosen
        elif kind == FieldKind.LINES:
            given[name] = tuple(line.strip() for line in text.splitlines() if line.strip())
        elif name and (text or kind != FieldKind.SECRET):
            given[name] = text
    return given


def _filled(screen: Screen, answers: Answers) -> Screen:
    """Return the screen with the entered values, except secrets."""

    def fill(field: Field) -> Field:
        if field.kind is FieldKind.SECRET or field.name not in answers:
            return field
        value = answers[field.name]
        return replace(field, value=value if isinstance(value, str) else tuple(value))

    return replace(screen, fields=tuple(map(fill, screen.fields)))


async def _finish(request: web.Request, step: str) -> web.StreamResponse:
    """Write the configuration and restart the service."""
    setup = request.app[SETUP]
    try:
        setup.run.told = tuple(await setup.wizard.finish())
    except FootnoteError as error:
        return _page(request, await setup.wizard.screen(step), [Finding(tone=Tone.PROBLEM, sentence=str(error))])
    setup.run.problem, setup.run.is_restarting = "", True
    asyncio.get_running_loop().call_later(RESTART_AFTER_SECONDS, setup.restart)
    return _go(DONE_PATH)


def _next(wizard: SetupWizard, step: str) -> str:
    """Return the address of the step after this one."""
    keys = [key for key, _ in wizard.steps]
    rest = keys[keys.index(step) + 1 :] if step in keys else []
    return step_path(rest[0]) if rest else SETUP_PATH


def step_path(step: str) -> str:
    return f"{SETUP_PATH}?{urlencode({'step': step})}"


def _page(request: web.Request, screen: Screen, findings: Sequence[Finding], seen: str = "") -> web.Response:
    steps = request.app[SETUP].wizard.steps
    before = [key for key, _ in steps[: screen.number - 1]]
    context = {
        "screen": screen,
        "findings": findings,
        "seen": seen,
        "steps": steps,
        "back": step_path(before[-1]) if before else None,
        "path": step_path,
        "can_upload": can_change(request),
        "kinds": KINDS,
        "upload_readers": "",  # the step asks for them
        "reader_choices": reader_choices(request),
        "reader_forms": READER_FORMS,
        "limit": size_words(request.app[UPLOADS].most_bytes) if UPLOADS in request.app else "",
        "has_problem": any(finding.tone is Tone.PROBLEM for finding in findings),
    }
    return render_template("setup.html", request, context)


def _go(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})


def _refuse(request: web.Request) -> web.Response:
    return error_page(request, 403, NO_LINK, advice=NEW_LINK)
