"""A person's data as a file: their texts and actions, and notes about them.

Answers and messages of others are left out; exports of conversations have the readable ones.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

from core.access.scopes import Access
from core.domain.features import ExportedFile
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ThreadAddress
from core.domain.spending import MICRO
from core.errors import BadInput
from core.ports.service import PersonRecords
from core.text.markup import shown_in_json
from core.work.commands import Command, CommandCall, CommandResult

FILE_NAME = "footnote-my-data.json"
NOTE = (
    "What you wrote and did with Footnote in this workspace, and what it noted of you. For the answers, export their "
    "conversations."
)


async def export_person(
    records: PersonRecords,
    person: PersonOnPlatform,
    *,
    name: str = "",
    may_read: Callable[[ThreadAddress], Awaitable[bool]] | None = None,
) -> ExportedFile:
    """Return all records of a person as a JSON file; of an unknown person, its lists are empty.

    Messages are stored by people's names. The person's, by `name` and the names of their received messages, are in it
    if they `may_read` the thread now, since two people can have one name.
    """
    stored = await records.find(person)
    names = {person.id, name, *(row["name"] for row in stored["received"])}
    readable = set()
    for talk in stored["conversations"]:
        address = ThreadAddress(
            platform=person.platform, workspace=person.workspace, channel=talk["channel"], thread=talk["thread"]
        )
        if may_read is None or await may_read(address):
            readable.add(talk["id"])
    own = [row for row in stored["messages"] if row["author"] in names and row["conversation_id"] in readable]
    found = {kind: [_to_json(row) for row in rows] for kind, rows in {**stored, "messages": own}.items()}
    about = {"workspace": person.workspace, "platform": person.platform, "person": person.id}
    data = {"note": NOTE, **about, "exported_at": datetime.now(UTC).isoformat(), **found}
    text = shown_in_json(json.dumps(data, ensure_ascii=False, indent=2))
    return ExportedFile(name=FILE_NAME, content_type="application/json", data=text.encode("utf-8", "replace"))


def _to_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with times as text and money in dollars."""
    found = {name: _plain(value) for name, value in row.items() if name != "cost_micros"}
    if "cost_micros" in row:
        micros = row["cost_micros"]
        found["dollars"] = None if micros is None else int(micros) / MICRO
    return found


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return int(value) if isinstance(value, Decimal) else value  # PostgreSQL's sums of integers


def my_data_command(records: PersonRecords, access: Access) -> Command:
    """Return the row of /mydata."""

    async def run(call: CommandCall) -> CommandResult:
        if call.address is None:
            raise BadInput("Here, use `footnote person ID --platform PLATFORM`.")
        person = PersonOnPlatform(workspace=call.workspace, platform=call.address.platform, id=call.author)
        may_read = partial(access.reads, address=call.address, person=call.author)
        file = await export_person(records, person, name=call.author_name, may_read=may_read)
        return CommandResult(text=f"What is stored about you, as a file: {file.name}", file=file)

    return Command(
        name="mydata", usage="", help="get all that is stored about you, as a file", run=run, for_channels=True
    )
