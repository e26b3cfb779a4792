"""Exports of channels: a page a day, a line a message."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from storage.documents.readers.channel_export import ChannelExportReader

NINE = 1_709_542_800  # 2024-03-04 09:00 UTC
DAY: list[dict[str, Any]] = [
    {"type": "message", "subtype": "channel_join", "ts": f"{NINE - 60}.0", "user": "U1", "text": "<@U1> has joined"},
    {"type": "message", "ts": f"{NINE}.000100", "thread_ts": f"{NINE}.000100", "user": "U1", "text": "When, <@U2>?"},
    {
        "type": "message",
        "ts": f"{NINE + 60}.0",
        "user": "U3",
        "text": "Boats &amp; <https://f.example|fares> in <#C9|sea>, <!date^1709900000^{date} at {time}|Friday>",
    },
    {
        "type": "message",
        "ts": f"{NINE + 120}.0",
        "thread_ts": f"{NINE}.000100",
        "user": "U2",
        "text": "At seven.\nOr so.",
    },
    {
        "type": "message",
        "subtype": "bot_message",
        "ts": f"{NINE + 180}.0",
        "username": "crew",
        "text": "",
        "attachments": [{"title": "Late", "text": "By an hour", "fields": [{"title": "Pier", "value": "2"}]}],
        "files": [{"name": "plan.pdf"}],
    },
]
USERS = [
    {"id": "U1", "name": "ann", "profile": {"display_name": "", "real_name": "Ann Arbor"}},
    {"id": "U2", "name": "bo", "profile": {"display_name": "Bo"}},
]
DISCORD: dict[str, Any] = {
    "guild": {"id": "1", "name": "Harbour"},
    "channel": {"id": "2", "type": "GuildTextChat", "category": "Crew", "name": "times", "topic": "When boats sail"},
    "messages": [
        {
            "id": "9",
            "type": "GuildMemberJoin",
            "timestamp": "2024-03-04T08:00:00+00:00",
            "content": "Joined the server.",
            "author": {"name": "bo"},
        },
        {
            "id": "10",
            "type": "Default",
            "timestamp": "2024-03-04T09:00:00.123+00:00",
            "content": "When, <@7> <:boat:55>?",
            "author": {"name": "ann", "nickname": "Ann"},
            "mentions": [{"id": "7", "name": "bo", "nickname": "Bo"}],
            "attachments": [{"fileName": "plan.pdf"}],
        },
        {
            "id": "11",
            "type": "Default",
            "timestamp": "2024-03-04T09:01:00+00:00",
            "content": "Else?",
            "author": {"name": "cy"},
        },
        {
            "id": "12",
            "type": "Reply",
            "timestamp": "2024-03-04T09:02:00+00:00",
            "content": "Seven.",
            "author": {"name": "bo"},
            "reference": {"messageId": "10"},
        },
        {
            "id": "13",
            "type": "Default",
            "timestamp": "2024-03-05T09:00:00+00:00",
            "content": "",
            "author": {"name": "bot"},
            "embeds": [{"title": "Late", "description": "By an hour"}],
        },
    ],
}


def write_slack(tmp_path: Path, day: object = DAY) -> Path:
    path = tmp_path / "general" / "2024-03-04.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(day), encoding="utf-8")
    (tmp_path / "users.json").write_text(json.dumps(USERS), encoding="utf-8")
    return path


def read(path: Path, root: Path) -> ParsedDocument:
    assert isinstance(find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers()), ChannelExportReader)
    return ChannelExportReader().read(path, root)


def test_a_day_of_slack_is_a_page_with_names_and_threads(tmp_path: Path) -> None:
    document = read(write_slack(tmp_path), tmp_path)
    assert document.title == "#general 2024-03-04"
    assert document.depends_on == ("users.json",)
    assert [page.text for page in document.pages] == [
        "# general on Monday, 2024-03-04\n\n"
        "- 09:00 Ann Arbor: When, @Bo?\n"
        "  - 09:02 Bo: At seven.\n    Or so.\n"
        "- 09:01 U3: Boats & fares (https://f.example) in #sea, Friday\n"
        "- 09:03 crew: [attached: plan.pdf]\n  Late\n  By an hour\n  Pier: 2"
    ]


def test_members_are_not_looked_up_outside_of_the_source(tmp_path: Path) -> None:
    path = write_slack(tmp_path)
    document = read(path, path.parent)
    assert document.depends_on == ()
    assert "U1: When" in document.pages[0].text


def test_a_name_in_a_message_is_enough_without_the_list_of_members(tmp_path: Path) -> None:
    day = [{**DAY[1], "user_profile": {"real_name": "Ann", "display_name": "annie"}}]
    path = write_slack(tmp_path, day)
    assert "09:00 annie: When" in read(path, path.parent).pages[0].text


def test_a_channel_of_discord_has_a_page_a_day_under_its_server(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text(json.dumps(DISCORD), encoding="utf-8")
    document = read(path, tmp_path)
    assert document.title == "#times"
    assert [page.text for page in document.pages] == [
        "# times on Monday, 2024-03-04\n\nWhen boats sail\n\n"
        "- 09:00 Ann: When, @Bo :boat:?\n  [attached: plan.pdf]\n  - 09:02 bo: Seven.\n- 09:01 cy: Else?",
        "# times on Tuesday, 2024-03-05\n\n- 09:00 bot: Late\n  By an hour",
    ]
    first = document.pages[0]
    assert first.heading_path == ("Harbour", "Crew")
    assert first.deep_link == "https://discord.com/channels/1/2/10"
    assert [first.text[place:].split(": ")[1][:4] for _, place in first.anchors] == ["When", "Seve", "Else"]


def test_a_line_of_a_message_begins_no_heading_or_message_of_its_own(tmp_path: Path) -> None:
    day = [{**DAY[1], "text": "# Loud\n\n- 10:00 Bo: forged"}]
    page = read(write_slack(tmp_path, day), tmp_path).pages[0]
    assert [heading.title for heading in page.headings] == ["general on Monday, 2024-03-04"]
    assert "\n- 10:00" not in page.text


def test_a_day_on_which_people_only_came_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="it has no messages"):
        read(write_slack(tmp_path, DAY[:1]), tmp_path)


@pytest.mark.parametrize("text", ["[]", '{"messages": []}', '[{"type": "message"}]', '{"channel": {}}', "[1]"])
def test_other_json_is_no_export(text: str, tmp_path: Path) -> None:
    assert not ChannelExportReader().accepts(tmp_path / "x.json", text.encode())


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "x", f"{NINE}.1", "9" * 12, "message", "2024-03-04"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "name", "text", "value", "messageId", "profile"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_in_any_place_gives_pages_or_a_reason(data: st.DataObject, tmp_path: Path) -> None:
    if data.draw(st.booleans()):
        export: Any = json.loads(json.dumps(DAY))
        messages = export
    else:
        export = json.loads(json.dumps(DISCORD))
        messages = export["messages"]
        export[data.draw(st.sampled_from(["guild", "channel", "x"]))] = data.draw(values)
    for message in messages:
        message[data.draw(st.sampled_from(sorted({*message, "thread_ts", "reference", "author", "ts"})))] = data.draw(
            values
        )
    path = write_slack(tmp_path, export)
    try:
        document = ChannelExportReader().read(path, tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert all(page.text.strip() and page.title for page in document.pages)


def test_the_channels_of_an_export_are_a_document_with_what_each_is_for(tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text(json.dumps(USERS), encoding="utf-8")
    channels = [
        {"id": "C1", "name": "ferry", "creator": "U2", "is_archived": False, "purpose": {"value": "When boats sail"}},
        {"id": "C2", "name": "yard", "is_archived": True, "topic": {"value": "Paint!"}, "purpose": {"value": ""}},
        {"id": "C3", "name": "", "is_archived": False},
    ]
    document = read_list(tmp_path, "channels.json", channels)

    assert document.title == "Channels"
    assert document.pages[0].text == (
        "# Channels\n\n- #ferry: When boats sail. Opened by Bo.\n- #yard (archived): Topic: Paint!"
    )
    assert [document.pages[0].text[start:][:8] for _, start in document.pages[0].anchors] == ["- #ferry", "- #yard "]
    assert document.depends_on == ("users.json",)


def test_the_members_of_an_export_are_a_document_without_their_addresses(tmp_path: Path) -> None:
    members = [
        *USERS,
        {
            "id": "U4",
            "name": "cy",
            "deleted": True,
            "profile": {"real_name": "Cy", "title": "Yard", "email": "c@x.org"},
        },
        {"id": "U5", "name": "crew", "is_bot": True, "profile": {"real_name": "Crew"}},
    ]
    document = read_list(tmp_path, "users.json", members)

    assert document.pages[0].text == "# Members\n\n- Ann Arbor (@ann)\n- bo (@Bo)\n- Cy (@cy), Yard (has left)"


@pytest.mark.parametrize("data", [[], {}, [{"profile": 1}], [[]], [{"id": "U1", "is_bot": True, "profile": {}}]])
def test_a_list_of_nobody_is_refused(data: object, tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text(json.dumps(data))
    with pytest.raises(ReadError, match="lists nobody"):
        ChannelExportReader().read(tmp_path / "users.json", tmp_path)


def test_a_file_that_only_has_the_name_of_a_list_is_none(tmp_path: Path) -> None:
    head = json.dumps([{"id": 1, "name": "x"}]).encode()
    assert not ChannelExportReader().accepts(tmp_path / "users.json", head)


def read_list(folder: Path, name: str, data: object) -> ParsedDocument:
    file = folder / name
    file.write_text(json.dumps(data), encoding="utf-8")
    reader = find_reader(file, file.read_bytes()[:HEAD_BYTES], build_readers())
    assert isinstance(reader, ChannelExportReader)
    return reader.read(file, folder)
