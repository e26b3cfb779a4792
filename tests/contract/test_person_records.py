"""What is stored about a person, on every database: all that is theirs, and nothing that others wrote."""

import json
from dataclasses import replace
from typing import Any

from core.domain.audit import AuditNote, Deed
from core.domain.conversation import Role
from core.domain.features import Feedback, Rating
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.replies import Usage
from core.domain.service import ACCEPTED, AutoAnswer, ChannelSettings, PersonAddress
from core.domain.spending import Account, Reservation
from core.features.personal_data import export_person
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.spending import SqlSpendingStore
from storage.database.stores import Stores
from tests.builders import NOON, build_conversation, build_message
from tests.contract.test_kept_answer_repository import KEPT
from tests.fakes import ManualClock

HERE = ThreadAddress(platform="discord", workspace="local", channel="7", thread="t1")
ADA = PersonOnPlatform(workspace="local", platform="discord", id="ada")


async def fill(database: Database, platform: str, person: str, other: str, mark: str) -> None:
    """Something of each kind by a person, in a conversation with another one."""
    stores, clock = Stores(database, lambda address: False), ManualClock()
    address = replace(HERE, platform=platform, thread=f"{mark} thread")
    talk = build_conversation(f"{mark} c", address=address, owner=person, title=f"{mark} title")
    await stores.conversations.add(talk)
    said = [
        build_message(f"{mark} q", f"{mark} question", conversation_id=talk.id, author=f"Name of {person}"),
        build_message(f"{mark} a", "SECRET answer", conversation_id=talk.id, role=Role.ASSISTANT, author="bot"),
        build_message(f"{mark} o", "SECRET talk", conversation_id=talk.id, author=f"Name of {other}"),
    ]
    await stores.conversations.append(talk.id, said)
    inbox = SqlInboxStore(database, clock)
    for who, text in ((person, f"{mark} received"), (other, "SECRET received")):
        key = f"{mark} {who}"
        asked = IncomingMessage(address=address, author=who, text=text, event_key=key, metadata={"token": "SECRET"})
        await inbox.accept(replace(asked, author_name=f"Name of {who}"), ACCEPTED)
    await stores.feedback.save(Feedback(message_id=f"{mark} a", author=person, rating=Rating.UP, created_at=NOON))
    shadow = ChannelSettings(auto_answer=AutoAnswer.SHADOW, auto_answer_by=person, auto_answer_since=NOON)
    await stores.settings.save_channel(replace(ChannelAddress.of(address), channel=f"{mark} channel"), shadow)
    await stores.settings.save_position(PersonAddress(workspace="local", person=person), f"{mark} document", 3)
    for id, who, text in ((f"{mark} k1", person, f"{mark} kept"), (f"{mark} k2", "bot", "SECRET kept")):
        kept = replace(KEPT, id=id, said_by=who, said_by_name=who, author=person, text=text, address=address)
        await stores.kept.add(replace(kept, decided_by="", answer_id=id, document_id=id))
    account = Account(workspace="local", person=f"{platform}:{person}")
    spending = SqlSpendingStore(database, clock)
    for number in (1, 2):
        call = Reservation(id=f"{mark} {number}", account=account, model="mill", tokens=500, micros=900)
        await spending.reserve(call, (), 60)
        await spending.settle(call.id, Usage(input_tokens=400, output_tokens=100), 600)
    await stores.audit.add(AuditNote(workspace="local", actor=person, deed=Deed.SETTING, about=f"{mark} setting"))


async def exported(database: Database, person: PersonOnPlatform) -> dict[str, Any]:
    file = await export_person(Stores(database, lambda address: False).people, person)
    assert (file.name, file.content_type) == ("footnote-my-data.json", "application/json")
    found: dict[str, Any] = json.loads(file.data)
    return found


async def test_a_persons_file_has_all_that_is_theirs_and_nothing_of_others(database: Database) -> None:
    await fill(database, "discord", "ada", "ben", "mine")
    await fill(database, "discord", "ben", "ada2", "bens")
    await fill(database, "slack", "ada", "eve", "namesake")
    found = await exported(database, ADA)
    text = json.dumps({name: rows for name, rows in found.items() if name not in ("reading_positions", "audit_log")})

    assert "SECRET" not in text and "bens" not in text and "namesake" not in text
    assert [row["title"] for row in found["conversations"]] == ["mine title"]
    assert [row["content"] for row in found["messages"]] == ["mine question"]
    assert [(row["text"], row["code"]) for row in found["received"]] == [("mine received", "accepted")]
    assert [(row["message_id"], row["rating"]) for row in found["ratings"]] == [("mine a", "up")]
    assert {"document_id": "mine document", "last_page": 3, "channel": ""} in found["reading_positions"]
    assert [(row["channel"], row["auto_answer"]) for row in found["shadow_modes"]] == [("mine channel", "shadow")]
    assert [row["text"] for row in found["said_and_kept"]] == ["mine kept"]
    assert [row["id"] for row in found["proposed_or_decided"]] == ["mine k1", "mine k2"]
    [calls] = found["model_calls"]
    assert (calls["model"], calls["calls"], calls["tokens"], calls["dollars"]) == ("mill", 2, 1000, 0.0012)
    assert "mine setting" in [row["about"] for row in found["audit_log"]]


async def test_of_somebody_unknown_or_of_another_workspace_there_is_nothing(database: Database) -> None:
    await fill(database, "discord", "ada", "ben", "mine")

    for person in (replace(ADA, id="nobody"), replace(ADA, workspace="elsewhere"), replace(ADA, id="\x00\ud800")):
        lists = {name: rows for name, rows in (await exported(database, person)).items() if isinstance(rows, list)}
        assert len(lists) == 13 and not any(lists.values())


async def test_messages_of_a_thread_that_the_person_left_are_not_in_it(database: Database) -> None:
    await fill(database, "discord", "ada", "ben", "mine")
    asked: list[ThreadAddress] = []

    async def refuse(address: ThreadAddress) -> bool:
        asked.append(address)
        return False

    file = await export_person(Stores(database, lambda address: False).people, ADA, may_read=refuse)
    found = json.loads(file.data)

    assert asked == [replace(HERE, thread="mine thread")]
    assert (found["messages"], [row["text"] for row in found["received"]]) == ([], ["mine received"])
