"""What Slack remembers: teams, users, channels, messages, files, views and installations."""

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JSON = dict[str, Any]

STREAM_SECONDS = 5 * 60.0  # a stream has ended by itself then; public reports, not a document
STATUS_SECONDS = 2 * 60.0  # a status line has faded then
CANVAS = "application/vnd.slack-docs"  # the type of a canvas; it is downloaded as HTML
PANE = "assistant_app_thread"  # the subtype of the message that a thread in the assistant pane begins with
BOT_SCOPES = frozenset(
    "app_mentions:read assistant:write channels:history channels:join channels:read chat:write commands files:read"
    " files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:read"
    " reactions:write team:read usergroups:read users:read".split()
)


class Clock:
    """Real time, so that time stamps suit a bot that reads its own clock; tests may move it on."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._latest = 0

    def now(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    def stamp(self) -> str:
        """A message's `ts`: its time in microseconds, never the same twice."""
        self._latest = max(int(self.now() * 1_000_000), self._latest + 1)
        return f"{self._latest // 1_000_000}.{self._latest % 1_000_000:06d}"


class Kind(StrEnum):
    PUBLIC = "channel"
    PRIVATE = "group"
    DIRECT = "im"
    GROUP = "mpim"


@dataclass(kw_only=True, eq=False, slots=True)
class User:
    id: str
    name: str
    bot_id: str | None = None  # None: a human
    deleted: bool = False
    is_admin: bool = False  # of the team
    is_restricted: bool = False  # a guest
    is_ultra_restricted: bool = False  # a guest of one channel; Slack then says is_restricted, too
    team_id: str = ""  # of somebody from another organisation; "" of the team's own people
    takes_messages: bool = True  # from the bot


@dataclass(kw_only=True, eq=False, slots=True)
class Stream:
    started: float  # clock time
    mode: str  # how tasks are shown: "timeline" or "plan"
    ended: bool = False
    chunks: list[JSON] = field(default_factory=list)

    @property
    def title(self) -> str | None:
        """Of the plan, as last told."""
        return next((one["title"] for one in reversed(self.chunks) if one["type"] == "plan_update"), None)

    @property
    def tasks(self) -> list[JSON]:
        """As last told, in the order they were first told."""
        latest: dict[str, JSON] = {}
        for chunk in self.chunks:
            if chunk["type"] == "task_update":
                latest[chunk["id"]] = {**latest.get(chunk["id"], {}), **chunk}
        return list(latest.values())


@dataclass(kw_only=True, eq=False, slots=True)
class Message:
    ts: str
    channel: "Channel"
    user: str
    text: str = ""
    blocks: list[JSON] = field(default_factory=list)
    thread_ts: str | None = None  # of its thread; the parent's own `ts` once it has replies
    subtype: str | None = None
    bot_id: str | None = None  # None: by a human
    metadata: JSON | None = None
    files: list["File"] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)  # name -> user ids, first first
    only_to: str | None = None  # user id of the only reader of an ephemeral message
    edited: JSON | None = None
    stream: Stream | None = None
    edits: int = 0  # changes by chat.update and response_url
    deleted: bool = False

    @property
    def root(self) -> str:
        """The `ts` of the thread it is in, or would begin."""
        return self.thread_ts or self.ts

    @property
    def in_thread(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts


@dataclass(kw_only=True, eq=False, slots=True)
class Channel:
    id: str
    name: str
    kind: Kind
    team: "Team"
    members: list[str] = field(default_factory=list)  # user ids
    archived: bool = False
    is_external: bool = False  # another company shares it
    is_pending: bool = False  # another company was invited to it
    messages: dict[str, Message] = field(default_factory=dict)  # by ts, ephemeral ones too
    statuses: dict[str, JSON] = field(default_factory=dict)  # by thread: assistant.threads.setStatus
    titles: dict[str, str] = field(default_factory=dict)  # by thread
    prompts: dict[str, JSON] = field(default_factory=dict)  # by thread ("" where none was named)
    sessions: dict[str, JSON] = field(default_factory=dict)  # by thread: title, initiator, statuses
    panes: set[str] = field(default_factory=set)  # threads that began in the assistant pane

    @property
    def direct(self) -> bool:
        return self.kind in (Kind.DIRECT, Kind.GROUP)

    def thread(self, root: str) -> list[Message]:
        """The parent and its replies that everybody sees, oldest first."""
        shown = [one for one in self.messages.values() if one.root == root and one.only_to is None]
        return sorted(shown, key=lambda one: one.ts)

    def seen_by(self, user: str | None = None) -> list[Message]:
        """All messages, oldest first, with the ephemeral ones of this user."""
        shown = [one for one in self.messages.values() if one.only_to in (None, user)]
        return sorted(shown, key=lambda one: one.ts)


@dataclass(kw_only=True, eq=False, slots=True)
class File:
    id: str
    name: str
    data: bytes
    user: str
    mimetype: str = "application/octet-stream"
    title: str = ""
    shared_in: list[str] = field(default_factory=list)  # channel ids
    complete: bool = True  # False: uploaded, but not yet shared
    deleted: bool = False
    for_app: bool = False  # chosen in a modal of the app, which may read it then
    is_stub: bool = False  # of another company: events hold no more than its id

    @property
    def is_canvas(self) -> bool:
        return self.mimetype == CANVAS


@dataclass(kw_only=True, eq=False, slots=True)
class View:
    id: str
    user: str
    payload: JSON  # type, title, blocks, ... as the bot sent them, with ids filled in
    hash: str
    below: "View | None" = None  # the view it was pushed on
    open: bool = True

    @property
    def root(self) -> "View":
        return self if self.below is None else self.below.root


@dataclass(kw_only=True, eq=False, slots=True)
class Install:
    """The app in one team; `refusal` is what every call with its token gets from then on."""

    team: "Team"
    token: str
    bot: User
    scopes: set[str]
    is_agent: bool = False  # the app has the agent view; else the assistant view of apps before July 2026
    refusal: str | None = None  # "token_revoked", "account_inactive", "invalid_auth"


@dataclass(kw_only=True, eq=False, slots=True)
class Organisation:
    """Several teams with one installation: one token, and one bot user."""

    id: str
    name: str


@dataclass(kw_only=True, eq=False, slots=True)
class Team:
    id: str
    name: str
    organisation: Organisation | None = None
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)  # by user
    groups: dict[str, list[str]] = field(default_factory=dict)  # user ids, by the id of a user group
    install: Install | None = None

    @property
    def bot(self) -> User:
        assert self.install is not None, f"the app is not installed in {self.name!r}"
        return self.install.bot


@dataclass(kw_only=True, eq=False, slots=True)
class App:
    """One app, installed in any number of teams."""

    id: str = "A0FOOTNOTE"
    client_id: str = "111.222"
    client_secret: str = "client-secret"
    signing_secret: str = "signing-secret"
    token: str = "xapp-1-test"
    scopes: set[str] = field(default_factory=lambda: set(BOT_SCOPES))
    most_read: int | None = None  # messages in one page of a history
