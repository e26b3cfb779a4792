"""What a command is, how it is given, and what it gives back."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from core.access.scopes import Access
from core.domain.answer import Citation, QueryType
from core.domain.conversation import Conversation, IncomingMessage, ThreadAddress
from core.domain.corpus import SearchScope
from core.domain.features import ExportedFile
from core.errors import BadInput

GIVEN = "true"  # the value of a flag that is set


class OptionKind(StrEnum):
    """What a value is: how a form shows it, and what it is completed from."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    DOCUMENT = "document"
    JOURNAL = "journal"
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
    """A command as somebody gave it, and where.

    Platforms with forms give `options`, those with text the `argument`, which the table takes apart.
    """

    name: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    workspace: str
    conversation: Conversation | None  # of the thread it was given in; None: none has begun
    author: str  # the platform's id of the person
    author_name: str = ""  # how people see them; "" where `author` is that already
    address: ThreadAddress | None = None  # where it was given; None: nowhere that others see
    is_admin: bool = False  # may change the settings of the channel
    sees_all: bool = False  # may see every conversation of the workspace: who sits at the machine
    direct: bool = False  # given in a channel of one person and the bot
    link: str | None = None  # to the thread on its platform
    # The threads of the channel that everybody in it may read; None: all of them, or there is no channel.
    open_threads: Callable[[], Awaitable[frozenset[str]]] | None = None

    @property
    def is_alone(self) -> bool:
        """Whether nobody but the author reads what is told there."""
        return self.direct or self.address is None or self.address.private_to is not None

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
    to_the_end: bool = False  # without any reading position; only where nobody else reads

    def on(self, incoming: IncomingMessage) -> IncomingMessage:
        """The message with this question in it; where it came from and its keys stay."""
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
    """A source in a list, as far as it may be read where it is listed."""

    name: str
    documents: int  # that can be read
    failures: tuple[tuple[str, str], ...] = ()  # path and reason of each that can't


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """Markdown to show, and what the adapter does then."""

    text: str
    ask: Question | None = None  # hand it to the inbox; `text` need not be shown then
    open_conversation: Conversation | None = None  # go on in this one
    start_new: bool = False  # the next question begins a conversation
    file: ExportedFile | None = None  # hand it over; `text` says what it is
    rows: tuple[ThreadRow, ...] | tuple[SourceRow, ...] = ()  # what `text` lists, for platforms that show lists better
    page: int = 1  # of the list; ask for another one with the option "page"
    pages: int = 1
    renamed: Conversation | None = None  # its thread is to be renamed on the platform
    deleted: Conversation | None = None  # its thread holds nothing any more
    citation: Citation | None = None  # the footnote that `text` shows, for platforms that link it
    citations: tuple[Citation, ...] = ()  # those that `text` lists by number
    is_public: bool = False  # whoever is in the thread should see it; else it is for the one who gave the command


Handler = Callable[[CommandCall], Awaitable[CommandResult]]
Parser = Callable[[Sequence[Option], str], Mapping[str, str]]

_OPTION = re.compile(r"""(?:(?<=\s)|^)--([a-z_]+)(?:[= ]+("[^"]*"|“[^”]*”|\S+))?""")


def parse(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The argument as options: `--name value` (in quotation marks where it has spaces), all else is the first one's.

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
        raise BadInput(f"/{call.name} needs a conversation: ask something first, or /open one.")
    return call.conversation


async def readable_by(call: CommandCall, access: Access, address: ThreadAddress | None = None) -> SearchScope:
    """What the author may read where the command was given, or at another address."""
    return await access.scope(call.workspace, address or call.address, reader=call.author, alone=call.is_alone)


def required(call: CommandCall, name: str, what: str) -> str:
    """The option's value. BadInput when it is missing; `what` says in words what it is."""
    if not call.option(name):
        raise BadInput(f"/{call.name} needs {what} behind it.")
    return call.option(name)
