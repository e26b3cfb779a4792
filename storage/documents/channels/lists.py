"""The lists at the root of a Slack export: its channels with what they are for, and its members. Pure.

Addresses, numbers and pictures of members are left out: they are nobody's question, and everybody's own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from storage.documents.channels.messages import text_of
from storage.documents.texts.structured import Value

CHANNEL_LISTS = ("channels.json", "groups.json")
PEOPLE_LISTS = ("users.json", "org_users.json")
# Lists beside them in which nothing is said: who writes to whom in private, what was installed.
MUTE_LISTS = (
    "dms.json",
    "mpims.json",
    "integration_logs.json",
    "canvases.json",
    "lists.json",
    "huddle_transcripts.json",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """A channel or a member: `id` is Slack's."""

    id: str
    text: str


def list_channels(value: Value, people: Mapping[str, str]) -> Iterator[ListEntry]:
    """`#ferry (archived): what it is for. Topic: ...; opened by Ann`."""
    for item in value if isinstance(value, list) else ():
        name = text_of(item, "name")
        if not name or not isinstance(item, dict):
            continue
        purpose, topic = text_of(item.get("purpose"), "value"), text_of(item.get("topic"), "value")
        creator = people.get(text_of(item, "creator"), "")
        parts = [purpose, f"Topic: {topic}" if topic else "", f"Opened by {creator}" if creator else ""]
        archived = " (archived)" if item.get("is_archived") is True else ""
        said = " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts if part)
        yield ListEntry(id=text_of(item, "id"), text=f"#{name}{archived}{f': {said}' if said else ''}")


def list_members(value: Value) -> Iterator[ListEntry]:
    """`Ann Arbor (@ann), Harbour master`; without bots. Who has left is listed, and said to have left."""
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict) or item.get("is_bot") is True or text_of(item, "id") == "USLACKBOT":
            continue
        profile = item.get("profile")
        name = text_of(profile, "real_name") or text_of(item, "real_name") or text_of(item, "name")
        handle = text_of(profile, "display_name") or text_of(item, "name")
        if name:
            known = f" (@{handle})" if handle and handle != name else ""
            title = f", {text_of(profile, 'title')}" if text_of(profile, "title") else ""
            left = " (has left)" if item.get("deleted") is True else ""
            yield ListEntry(id=text_of(item, "id"), text=f"{name}{known}{title}{left}")
