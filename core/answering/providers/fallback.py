"""Several providers in order: while one is down or over its limit, the next one answers.

A question goes to a `Run`, which stays with one provider until that one fails. A request in one form (with or without
tools, with or without the provider's own citations) moves to the next provider only if that one works alike; else
ProviderChanged tells the caller to ask again. A refusal is an answer, and doesn't move on.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.domain.chat import Capabilities, ChatMessage, ChatRequest
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse
from core.errors import (
    ProviderAuthError,
    ProviderChanged,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderTimeout,
)
from core.ports import ChatProvider, Clock, LearningProvider
from core.work.steps import NO_STEPS, Step, pass_on

logger = logging.getLogger(__name__)

# How long a provider that failed is left out: long enough that not every question waits for it, short enough that
# people get the better model back soon.
REST_SECONDS = 60.0
KEY_REST_SECONDS = 300.0  # a key or an account has to be fixed by a person
LONGEST_REST_SECONDS = 600.0  # also if a rate limit asks for more
STEP = "another provider"  # the name of the job that tells of a change

_DOWN = (ProviderOverloaded, ProviderTimeout, ProviderConnectionError, ProviderRateLimited, ProviderAuthError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A provider under the name the configuration knows it by."""

    label: str
    provider: ChatProvider


@dataclass(frozen=True, slots=True)
class _Own:
    """A provider's own form of a turn."""

    place: int
    native: object


class FallbackProvider:
    """ChatProvider over others, in order of preference; it closes none of them, they are their opener's.

    A change is a job (implements core.work.steps.RecordedProvider, as `Run` does).

    By itself each request is a run of its own; `begin` gives a run for all requests of a question.
    """

    def __init__(self, choices: Sequence[Choice], clock: Clock) -> None:
        self.choices = tuple(choices)
        self._clock = clock
        self._rested = [clock.monotonic()] * len(self.choices)  # when each may be asked again

    @property
    def name(self) -> str:
        return self.choices[self.first].provider.name

    @property
    def capabilities(self) -> Capabilities:
        return self.choices[self.first].provider.capabilities

    @property
    def first(self) -> int:
        """The place of the one to ask now: the first that is not left out, else the one whose rest ends first."""
        now = self._clock.monotonic()
        ready = [place for place, until in enumerate(self._rested) if until <= now]
        return ready[0] if ready else self._rested.index(min(self._rested))

    def begin(self) -> "Run":
        """A provider for one question."""
        return Run(self)

    async def learn(self) -> Capabilities:
        """The capabilities of the first that can be asked for them. Raises the last one's ProviderError."""
        for _ in self.choices[1:]:
            place = self.first
            try:
                return await learned(self.choices[place].provider)
            except _DOWN as error:
                self.leave_out(place, error)
        return await learned(self.choices[self.first].provider)

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """See ChatProvider. Raises ProviderChanged as `Run` does."""
        return await self.begin().complete(request, on_text)

    async def complete_below(
        self, parent: Step, request: ChatRequest, on_text: Callable[[str], None] | None = None
    ) -> ChatResponse:
        return await self.begin().complete_below(parent, request, on_text)

    async def close(self) -> None:
        """Do nothing: it holds no connection."""

    def leave_out(self, place: int, error: ProviderError) -> None:
        """A provider failed: it is not asked for a while."""
        seconds = KEY_REST_SECONDS if isinstance(error, ProviderAuthError) else REST_SECONDS
        if isinstance(error, ProviderRateLimited) and error.retry_after_seconds:
            seconds = min(error.retry_after_seconds, LONGEST_REST_SECONDS)
        self._rested[place] = self._clock.monotonic() + seconds
        logger.warning("%s is left out for %.0f s: %s", self.choices[place].label, seconds, error)

    def after(self, tried: set[int]) -> int | None:
        """The next one to try, in order of preference, those left out last."""
        left = [place for place in range(len(self.choices)) if place not in tried]
        now = self._clock.monotonic()
        return min(left, key=lambda place: (self._rested[place] > now, place), default=None)


class Run:
    """ChatProvider for one question: it stays with a provider until that one is down."""

    def __init__(self, providers: FallbackProvider) -> None:
        self._providers = providers
        self._place = providers.first

    @property
    def _choice(self) -> Choice:
        return self._providers.choices[self._place]

    @property
    def name(self) -> str:
        return self._choice.provider.name

    @property
    def capabilities(self) -> Capabilities:
        return self._choice.provider.capabilities

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        return await self.complete_below(NO_STEPS, request, on_text)

    async def complete_below(
        self, parent: Step, request: ChatRequest, on_text: Callable[[str], None] | None = None
    ) -> ChatResponse:
        """One turn of the first provider that gives one. Once text was shown, an error is raised as it is.

        Raises ProviderChanged when the next provider works differently: this run is with it from then on.
        """
        tried: set[int] = set()
        heard = _Heard(on_text)
        while True:
            tried.add(self._place)
            asked = self._for_this_place(request)
            try:
                response = await pass_on(self._choice.provider, asked, parent, heard.listener)
            except _DOWN as error:
                self._providers.leave_out(self._place, error)
                following = self._providers.after(tried)
                if following is None or heard.any:
                    raise
                await self._move(following, request, error, parent)
            else:
                native = _Own(self._place, response.native) if response.native is not None else None
                return replace(response, native=native)

    async def close(self) -> None:
        """Do nothing: it holds no connection."""

    async def _move(self, place: int, request: ChatRequest, error: ProviderError, parent: Step) -> None:
        """Continue with another provider, and say so in the job tree."""
        before, now = self._choice, self._providers.choices[place]
        self._place = place
        async with parent.step(JobKind.PLANNING, STEP, input={"from": before.label, "to": now.label}) as job:
            job.output = {"reason": str(error)}
            capabilities = await learned(now.provider)
        if not _alike(before.provider.capabilities, capabilities, request):
            raise ProviderChanged(f"{error} {now.label!r} answers instead.") from error

    def _for_this_place(self, request: ChatRequest) -> ChatRequest:
        """Restore this provider's own forms of earlier turns; a requested model name is for the first provider."""
        messages = tuple(map(self._own, request.messages))
        return replace(request, messages=messages, model=request.model if self._place == 0 else None)

    def _own(self, message: ChatMessage) -> ChatMessage:
        if not isinstance(message.native, _Own):
            return message
        return replace(message, native=message.native.native if message.native.place == self._place else None)


class _Heard:
    """Passes text on, and knows whether there was any."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self.any = False

    @property
    def listener(self) -> Callable[[str], None] | None:
        return self._hear if self._on_text is not None else None

    def _hear(self, piece: str) -> None:
        self.any = self.any or bool(piece)
        if self._on_text is not None:
            self._on_text(piece)


async def learned(provider: ChatProvider) -> Capabilities:
    """Return a provider's capabilities, asked for if necessary. Raises ProviderError."""
    return await provider.learn() if isinstance(provider, LearningProvider) else provider.capabilities


def _alike(before: Capabilities, now: Capabilities, request: ChatRequest) -> bool:
    """Whether a request that was made for the one can be put to the other."""
    if request.output_schema is not None and not now.structured:
        return False
    return (before.tools, before.citations, before.quotes_only) == (now.tools, now.citations, now.quotes_only)
