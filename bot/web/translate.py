"""Translation of posts on the chat page to messages for the inbox. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.answering.answers.stored import BOT_NAME
from core.domain.incoming import Circumstances, IncomingMessage, ThreadAddress, event_key, message_key
from core.errors import BadInput
from core.text.words import collapse
from core.work.questions import to_command

PLATFORM = "web"
CHANNEL_THREAD = ""  # the thread of the channel itself
MAX_NAME = 40  # characters of a person's name, which precedes each message
MAX_CHANNEL = 60
GUEST = "Guest"  # the name that others see of a person without one
NAMELESS_OWNER = "Owner"
RESERVED_NAMES = frozenset({BOT_NAME, "tools", GUEST.lower(), "you"})
_MENTION = re.compile(rf"(?<![\w@])@{BOT_NAME}\b[,:]?", re.IGNORECASE)
_BEFORE_MENTION = ", \t\r\n\xa0"
_OTHER_FIRST = re.compile(r"^\s*@(\w[\w.\-]*)")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}")
_MARK_LENGTH, _HEX = 16, frozenset("0123456789abcdef")  # of a person who signed in, behind their name
STRANGER = f"{GUEST} {16 * '0'}"  # a visitor who has no identity yet
_OWNER_ID = re.compile(rf"{NAMELESS_OWNER} [0-9a-f]{{12}}")
_GUEST_ID = re.compile(rf"{GUEST} (?:[0-9a-f]{{8}}|[0-9a-f]{{16}})")  # shorter before


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPost:
    """A message from the chat page. `thread` is empty for the channel itself."""

    workspace: str
    channel: str
    thread: str
    author: str
    text: str
    key: str  # made by the browser, the same on a retry
    others: Collection[str] = ()  # other authors in the thread


def _without_last_mention(text: str) -> str:
    """Remove a mention at the end with the comma before it: “Who, @footnote?” Linear in the length of any text."""
    body = text.rstrip()
    words = body.rstrip("?.!")
    signs, words = body[len(words) :], words.rstrip()
    place = len(words) - len(BOT_NAME) - 1
    if _MENTION.match(words, max(place, 0)) is None:
        return text
    return words[:place].rstrip(_BEFORE_MENTION) + signs


def to_incoming(post: WebPost) -> IncomingMessage:
    """Return the message of a post, without the mention, and its circumstances.

    Outside a thread, every post but a command is a question. It opens a thread named by the post's key, so that a
    retry finds the same thread.
    """
    text = _MENTION.sub("", _without_last_mention(post.text)).strip()
    is_command = to_command(text) is not None
    place = thread_address(post.workspace, post.channel, post.thread)
    opens = not post.thread and not is_command
    return IncomingMessage(
        address=thread_address(post.workspace, post.channel, post.key) if opens else place,
        author=post.author,
        text=text,
        event_key=event_key(place, post.key),
        message_key=message_key(place, post.key),
        circumstances=Circumstances(
            mentioned=is_command or opens or _MENTION.search(post.text) is not None,
            in_thread=bool(post.thread),
            in_our_thread=bool(post.thread),
            opened_by_us=bool(post.thread),  # people have no threads of their own here
            mentions_others=is_between_people(post.text, post.others),
        ),
    )


def thread_address(workspace: str, channel: str, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=channel, thread=thread)


def to_name(text: str) -> str:
    """Return a person's name on one line. BadInput if it is empty, too long, or the bot's."""
    name = collapse(text)
    if not any(character.isalnum() for character in name) or not name.isprintable():
        raise BadInput("Choose a name with at least one letter, so that others know who asks.")
    if len(name) > MAX_NAME:
        raise BadInput(f"The name has {len(name)} characters. Choose one with at most {MAX_NAME}.")
    if name.lower() in RESERVED_NAMES or is_nameless(name) or _is_signed(name):
        raise BadInput(f"The name {name!r} is taken. Choose another one.")
    return name


def is_guest(author: str) -> bool:
    return _GUEST_ID.fullmatch(author) is not None


def is_nameless(author: str) -> bool:
    """Return whether an author has no name that people chose: a guest, or the owner before they have one."""
    return is_guest(author) or _OWNER_ID.fullmatch(author) is not None


def shown_name(author: str, names: Mapping[str, str] | None = None) -> str:
    """Return the name that people see: the present one of `names`; guests are all called the same."""
    if is_nameless(author):
        return GUEST
    if names and author in names:
        return names[author]
    return author[: -_MARK_LENGTH - 1] if _is_signed(author) else author


def to_signed_name(name: str, identity: str) -> tuple[str, str]:
    """Return the author of a person who signed in, and the name that people see.

    The author ends with the first digits of `identity` (hexadecimal), because two people may have the same name.
    """
    shown = "".join(sign for sign in name if sign.isprintable())[:MAX_NAME].strip() or GUEST
    return f"{shown} {identity[:_MARK_LENGTH]}", shown


def signed_mark(author: str) -> str | None:
    """Return the mark behind the name of a person who signed in; None for anybody else."""
    mark = author[-_MARK_LENGTH:]
    is_signed = author[-_MARK_LENGTH - 1 : -_MARK_LENGTH] == " " and len(mark) == _MARK_LENGTH and set(mark) <= _HEX
    return mark if is_signed and not is_guest(author) else None


def _is_signed(author: str) -> bool:
    return signed_mark(author) is not None


def to_channel(text: str) -> str:
    """Return a channel's name for addresses: lower case, words joined by hyphens. BadInput if it is empty."""
    name = "-".join(re.findall(r"\w+", text.lower()))
    if not name or len(name) > MAX_CHANNEL:
        raise BadInput(f"A channel's name needs a letter or a digit and at most {MAX_CHANNEL} characters.")
    return name


def check_id(text: str, what: str) -> str:
    """Return `text` if it is a valid ID. BadInput for anything else, such as parts of paths."""
    if not _ID.fullmatch(text):
        raise BadInput(f"{what} {text[:80]!r} isn't an ID. Use letters, digits, hyphens and underscores.")
    return text


def is_between_people(text: str, others: Collection[str]) -> bool:
    """Return whether a message in a thread is for other people: it addresses one of them first, or has no words.

    `@ben …` always counts; `Ben, …` and `Ben: …` only when a Ben wrote in the thread.
    """
    if not any(character.isalnum() for character in text):
        return bool(text.strip())
    if _OTHER_FIRST.match(text):
        return True
    return any(re.match(rf"\s*{re.escape(name)}\s*[,:]", text, re.IGNORECASE) for name in others)
