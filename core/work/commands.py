"""Chat commands: their options, their calls and their results."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from core.access.scopes import Access
from core.domain.answer import Citation, Provenance, QueryType
from core.domain.conversation import Conversation
from core.domain.corpus import SearchScope
from core.domain.features import ExportedFile
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.spending import Account
from core.errors import AccessDenied, BadInput

GIVEN = "true"  # the value of a flag that is set


class OptionKind(StrEnum):
    """The kind of a value: how a form shows it, and how it is completed."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    DOCUMENT = "document"
    JOURNAL = "journal"
    ADDED = "added"  # a document that was added by hand
    THREAD = "thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One value that a command takes."""

    name: str
    help: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()  # of kind CHOICE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command with its place.

    Platforms with forms set `options`; those with text set `argument`, which the table parses.
    """

    name: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    workspace: str
    conversation: Conversation | None  # of the thread it was given in; None: none has begun
    author: str  # the platform's id of the person
    author_name: str = ""  # how people see them; "" where `author` is that already
    address: ThreadAddress | None = None  # the thread; None: a private place
    is_admin: bool = False  # may change the settings of the channel
    is_moderator: bool = False  # may delete messages of others there
    may_add: bool = False  # may add and remove documents without being an admin
    may_review: bool = False  # may decide about proposals without being an admin
    role_error: str = ""  # a sentence: why the platform's roles are unknown, so that the person counts as without any
    sees_all: bool = False  # may see every conversation of the workspace: who sits at the machine
    direct: bool = False  # given in a channel of one person and the bot
    link: str | None = None  # to the thread on its platform
    # Threads of the channel that every member may read; None: all of them, or no channel.
    open_threads: Callable[[], Awaitable[frozenset[str]]] | None = None

    @property
    def account(self) -> Account:
        """The account that pays for its model calls."""
        platform = f"{self.address.platform}:" if self.address else ""
        return Account(
            workspace=self.workspace,
            channel=f"{platform}{self.address.channel}" if self.address else "",
            person=f"{platform}{self.author}" if self.author else "",
        )

    @property
    def may_moderate(self) -> bool:
        """Whether the author may stop, rename and delete questions and conversations of others."""
        return self.is_moderator or self.is_admin or self.sees_all

    @property
    def is_alone(self) -> bool:
        """Whether only the author reads the result."""
        return self.direct or self.address is None or self.address.private_to is not None

    def refuse(self, sentence: str) -> AccessDenied:
        """Return the refusal of a person without the role, or with an unknown role."""
        return AccessDenied(self.role_error or sentence)

    def option(self, name: str) -> str:
        """Its value without space around it; "" when it was not given."""
        return self.options.get(name, "").strip()

    def is_set(self, name: str) -> bool:
        return self.option(name).lower() == GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that a command puts: the adapter hands it to the inbox as if it had been written."""

    text: str
    query_type: QueryType = QueryType.QUESTION
    document: str | None = None
    journal: str | None = None
    strategy: str | None = None  # how it is to be answered; None: as the channel and the service are set
    private: bool = False  # its answer is for the asker's eyes only
    to_the_end: bool = False  # without any reading position; only in private contexts

    def on(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return the message with this question in it; origin and keys are unchanged."""
        return replace(
            incoming,
            text=self.text,
            query_type=self.query_type,
            document=self.document,
            journal=self.journal,
            strategy=self.strategy,
            private=self.private,
            to_the_end=self.to_the_end,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A conversation in a list."""

    id: str
    title: str
    owner: str  # the platform's id of the person
    message_count: int
    last_used_at: datetime
    address: ThreadAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source in a list, with its documents readable in that place."""

    name: str
    documents: int  # that can be read
    failures: tuple[tuple[str, str], ...] = ()  # path and reason of each that can't


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMenu:
    """Further choices: each runs a command with one value of its first option."""

    title: str
    command: str
    options: tuple[tuple[str, str], ...]  # label, value

    @property
    def line(self) -> str:
        """Return the menu for places that have none: `More, by task: `/help read`, …`"""
        return f"{self.title}: {', '.join(f'`/{self.command} {value}`' for _, value in self.options)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """Markdown to show, and follow-up actions for the adapter."""

    text: str
    ask: Question | None = None  # hand it to the inbox; `text` need not be shown then
    open_conversation: Conversation | None = None  # continue this one
    start_new: bool = False  # the next question begins a conversation
    file: ExportedFile | None = None  # send it; `text` describes it
    rows: tuple[ThreadRow, ...] | tuple[SourceRow, ...] = ()  # the list of `text`, for platforms with list layouts
    notice: str = ""  # of a list of sources: why nothing in them can be searched
    page: int = 1  # of the list; ask for another one with the option "page"
    pages: int = 1
    renamed: Conversation | None = None  # its thread is to be renamed on the platform
    deleted: Conversation | None = None  # its thread is empty now
    citation: Citation | None = None  # the footnote that `text` shows, for platforms that link it
    citations: tuple[Citation, ...] = ()  # listed by number in `text`
    messages: tuple[IncomingMessage, ...] = ()  # `[n]` of `text` links to the n-th
    is_public: bool = False  # show it to the whole thread; otherwise only to the caller
    # Besides `citation` and `citations`; a lasting post is taken back with it.
    rests_on: Provenance = field(default_factory=Provenance)
    quotes_people: bool = False  # other people than the caller
    menu: CommandMenu | None = None

    @property
    def full_text(self) -> str:
        """Return the text, with the menu as a line, for places without menus."""
        return f"{self.text}\n\n{self.menu.line}" if self.menu is not None else self.text

    @property
    def basis(self) -> Provenance:
        """All that it rests on."""
        cited = (*self.citations, *((self.citation,) if self.citation else ()))
        documents = dict.fromkeys((*self.rests_on.documents, *(item.document_id for item in cited)))
        return replace(self.rests_on, documents=tuple(documents))


Handler = Callable[[CommandCall], Awaitable[CommandResult]]
Parser = Callable[[Sequence[Option], str], Mapping[str, str]]

_OPTION = re.compile(r"""(?:(?<=\s)|^)--([a-z_]+)(?:[= ]+("[^"]*"|“[^“”]*+”|\S+))?""")


def parse(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """Parse the argument: `--name value` (quoted if it has spaces); the rest is the first option's value.

    Words after two dashes that name no option belong to the text.
    """
    known = {option.name: option for option in options[1:]}
    found: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        option = known.get(match[1])
        if option is None:
            return match[0]
        if option.kind is OptionKind.FLAG:
            found[option.name] = GIVEN
            return match[0][len(match[1]) + 2 :]
        if match[2] is None:
            raise BadInput(f"--{option.name} needs a value behind it: {option.help}.")
        found[option.name] = match[2].strip('"“”')
        return ""

    rest = _OPTION.sub(take, argument).strip()
    if options and rest:
        found[options[0].name] = rest
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    name: str
    usage: str  # its argument, as help shows it
    help: str
    run: Handler
    options: tuple[Option, ...] = ()
    control: bool = False  # answered at once, never queued behind a running question
    for_channels: bool = False  # about how it is where others write, too: not for a terminal
    parse: Parser = parse


def current(call: CommandCall) -> Conversation:
    """The conversation that the command is about. BadInput where none has begun."""
    if call.conversation is None:
        raise BadInput(f"/{call.name} needs a conversation. Ask a question first, or /open one.")
    return call.conversation


async def readable_by(call: CommandCall, access: Access, address: ThreadAddress | None = None) -> SearchScope:
    """Return the author's scope at the command's address, or at another one."""
    return await access.scope(call.workspace, address or call.address, reader=call.author, alone=call.is_alone)


def required(call: CommandCall, name: str, what: str) -> str:
    """Return the option's value. BadInput if it is missing; `what` describes it."""
    if not call.option(name):
        raise BadInput(f"Add {what} after /{call.name}.")
    return call.option(name)
