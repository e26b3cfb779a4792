"""`/help`: how to ask, and the other commands by task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.domain.corpus import Source
from core.domain.service import FollowUps
from core.text.notation import join_with_and
from core.work.commands import Command

FIRST = ("ask", "search", "threads")
ALL = "all"
MOST_SOURCES = 5  # named; the others are counted
MORE = "More, by task"


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that people want to do."""

    title: str
    commands: tuple[str, ...]


# By the word that `/help` takes.
TOPICS: Mapping[str, Topic] = {
    "read": Topic("Read the documents", ("sources", "search", "page", "source", "summary", "facts", "extract")),
    "spoilers": Topic("Books without spoilers", ("position",)),
    "threads": Topic(
        "My threads", ("threads", "open", "new", "rename", "recap", "export", "mydata", "delete", "forget")
    ),
    "keep": Topic("Add and keep", ("library", "keep", "inbox")),
    "trouble": Topic("When something is wrong", ("why", "jobs", "stop", "stale", "case")),
    "channel": Topic("This channel", ("catchup", "settings", "mute", "listen", "unmute")),
}


# How the threads of a channel continue.
_GOING_ON: Mapping[FollowUps, str] = {
    FollowUps.NAMED: "mention me there, too",
    FollowUps.ASKER: "there you can go on without a mention",
    FollowUps.ALL: "there, and in other threads I was called into, you can all go on without a mention",
}


def first_help(rows: Mapping[str, Command], sources: Sequence[Source], follow_ups: FollowUps | None) -> str:
    """Return how to ask, the readable sources, and the first commands; `follow_ups` of a channel, None elsewhere."""
    asking = "Write your question."
    if follow_ups is not None:
        asking = f"Mention me, or use `/ask`. I answer in a thread; {_GOING_ON[follow_ups]}."
    names = [f"**{source.name}**" for source in sources[:MOST_SOURCES]]
    if len(sources) > MOST_SOURCES:
        names.append(f"{len(sources) - MOST_SOURCES} more")
    read = join_with_and(names) if names else "nothing yet: `/sources` says why"
    first = _listed([rows[name] for name in FIRST if name in rows])
    return "\n\n".join([f"**Ask me what the documents say.** {asking}", f"Here I can read {read}.", first])


def topic_help(rows: Mapping[str, Command], topic: str) -> str:
    """Return the commands of a topic, or all of them."""
    if topic == ALL:
        return _listed(rows.values())
    chosen = TOPICS[topic]
    return f"**{chosen.title}**\n\n{_listed([rows[name] for name in chosen.commands if name in rows])}"


def topics_of(rows: Mapping[str, Command]) -> list[tuple[str, str]]:
    """Return title and word of each topic that has a command here, and of the whole list."""
    found = [(topic.title, word) for word, topic in TOPICS.items() if not rows.keys().isdisjoint(topic.commands)]
    return [*found, ("All commands", ALL)]


def _listed(rows: Iterable[Command]) -> str:
    return "\n".join(f"- `{f'/{row.name} {row.usage}'.strip()}`: {row.help}" for row in rows)
