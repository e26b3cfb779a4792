"""The workspace that a server or team reads."""

from datetime import timedelta

import pytest

from core.access.bindings import Bindings
from core.errors import Ambiguous, BadInput, FootnoteError, InvalidState, NotFound
from tests.fakes import ManualClock
from tests.stores import Stores

IDS = {"discord": r"\d{3,}", "slack": r"T\w+"}
CONFIGURED = {"discord": {"111": "crew"}}


@pytest.fixture
async def bindings() -> Bindings:
    made = Bindings(Stores().teams, CONFIGURED, IDS, ManualClock())
    await made.record_connected("discord", {"111": "Harbour", "222": "Twins", "333": "Twins", "444": "Club  House"})
    return made


async def test_the_configuration_comes_first_then_the_binding_then_its_own(bindings: Bindings) -> None:
    assert bindings.workspace_of("discord", "111") == "crew"
    assert bindings.workspace_of("discord", "222") == "discord-222"
    await bindings.bind("discord", "222", " club ")
    assert bindings.workspace_of("discord", "222") == "club"
    assert bindings.workspace_of("slack", "222") == "slack-222"
    with pytest.raises(InvalidState, match=r"“Harbour” \(Discord\) is bound to 'crew' in the configuration"):
        await bindings.bind("discord", "Harbour", "club")


async def test_a_binding_is_undone_and_both_times_are_kept(bindings: Bindings) -> None:
    assert bindings.changed_at("discord", "444") is None
    await bindings.bind("discord", "club house", "club")
    bound = bindings.changed_at("discord", "444")
    assert bound is not None
    bindings._clock.advance(60)  # type: ignore[attr-defined]
    await bindings.bind("discord", "444", "club")
    assert bindings.changed_at("discord", "444") == bound, "nothing changed"
    found = await bindings.unbind("discord", "Club House")
    changed = bindings.changed_at("discord", "444")
    assert (found.workspace, found.has_own) == ("discord-444", True)
    assert changed is not None
    assert changed > bound


async def test_another_process_sees_it_once_it_looks_again() -> None:
    teams = Stores().teams
    one, other = (Bindings(teams, {}, IDS, ManualClock()) for _ in range(2))
    await one.bind("slack", "T1", "club")
    assert other.workspace_of("slack", "T1") == "slack-T1"
    await other.load()
    assert other.workspace_of("slack", "T1") == "club"


async def test_a_workspace_is_abandoned_once_no_team_reads_it(bindings: Bindings) -> None:
    await bindings.bind("discord", "Club House", "discord-222")  # one of the twins' workspace
    gone_by = bindings._clock.now() + timedelta(seconds=1)
    await bindings.record_connected("discord", {"444": ""})
    assert bindings.abandoned(gone_by) == ["discord-333"]
    await bindings.unbind("discord", "Club House")
    assert bindings.abandoned(gone_by) == ["discord-222", "discord-333"]
    assert bindings.abandoned(bindings._clock.now()) == []
    await bindings.record_connected("discord", {"444": "", "333": ""})
    assert bindings.abandoned(gone_by) == ["discord-222"]


@pytest.mark.parametrize(
    ("platform", "wanted", "workspace", "kind", "words"),
    [
        ("discord", "Twins", "club", Ambiguous, "Use the ID: 222, 333"),
        ("discord", "Haven", "club", NotFound, "The bot knows “Club  House”, “Harbour”"),
        ("slack", "Acme", "club", NotFound, "has not been connected yet"),
        ("irc", "Harbour", "club", BadInput, "Use discord or slack"),
        ("discord", "222", " ", BadInput, "A workspace's name needs"),
        ("discord", "222", "a\nb", BadInput, "A workspace's name needs"),
    ],
)
async def test_what_can_not_be_bound_is_one_sentence(
    bindings: Bindings, platform: str, wanted: str, workspace: str, kind: type[FootnoteError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        await bindings.bind(platform, wanted, workspace)


async def test_one_is_bound_by_its_id_before_the_bot_is_invited(bindings: Bindings) -> None:
    bound = await bindings.bind("slack", "T0ACME", "crew")
    assert (bound.workspace, bound.team.is_connected) == ("crew", False)
    await bindings.record_connected("slack", {"T0ACME": "Acme"})
    assert [one.label for one in bindings.all() if one.workspace == "crew"] == ["“Harbour” (Discord)", "“Acme” (Slack)"]


async def test_names_that_are_known_are_not_written_again(bindings: Bindings) -> None:
    written = []

    async def record(platform: str, names: object, now: object) -> None:
        written.append(names)

    bindings._teams.record_connected = record  # type: ignore[method-assign]
    same = {"111": "Harbour", "222": "", "333": "Twins", "444": "Club  House"}
    await bindings.record_connected("discord", same)
    assert written == []
    await bindings.record_connected("discord", {**same, "444": "Clubhouse"})
    assert len(written) == 1
