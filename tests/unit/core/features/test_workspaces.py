"""What is said about workspaces and who reads them."""

import pytest

from core.access.bindings import BoundTeam
from core.domain.service import PlatformTeam
from core.features.workspaces import WorkspaceState, describe_readers, find_unread

HARBOUR = PlatformTeam(platform="discord", id="7", name="Old Harbour", is_connected=True)
CLUB = PlatformTeam(platform="slack", id="T1", name="Club", is_connected=True)


def reads(team: PlatformTeam, workspace: str, *, configured: bool = False) -> BoundTeam:
    return BoundTeam(team=team, workspace=workspace, is_configured=configured)


def state(name: str, documents: int, *teams: BoundTeam) -> WorkspaceState:
    return WorkspaceState(name=name, documents=documents, is_default=name == "local", teams=teams)


ALONE = (state("local", 3),)
NEWCOMER = (state("local", 3), state("discord-7", 0, reads(HARBOUR, "discord-7")))
TWO = (*NEWCOMER, state("slack-T1", 0, reads(CLUB, "slack-T1")))
BOUND = (state("local", 3, reads(HARBOUR, "local")),)
SHELVED = (state("local", 0), state("crew", 2))
FIXED = (state("local", 3), state("crew", 0, reads(HARBOUR, "crew", configured=True)))
LEFT = (state("local", 0), state("crew", 2, reads(PlatformTeam(platform="discord", id="7", name="H"), "crew")))


@pytest.mark.parametrize(
    ("states", "workspace", "expected"),
    [
        (ALONE, "local", "Read by: the terminal and the web app."),
        (
            NEWCOMER,
            "local",
            "Read by: the terminal and the web app. No server or team reads it yet: "
            "`footnote workspaces bind discord 'Old Harbour' local`.",
        ),
        (
            TWO,
            "local",
            "Read by: the terminal and the web app. No server or team reads it yet: "
            "`footnote workspaces bind PLATFORM NAME local`.",
        ),
        (BOUND, "local", "Read by: the terminal, the web app and “Old Harbour” (Discord)."),
        (NEWCOMER, "discord-7", "Read by: “Old Harbour” (Discord)."),
        (
            SHELVED,
            "crew",
            "Nobody reads it yet. Let a server or team read it: `footnote workspaces bind PLATFORM NAME crew`.",
        ),
        (FIXED, "local", "Read by: the terminal and the web app."),
    ],
)
def test_after_an_ingest_it_says_who_reads_the_workspace(
    states: tuple[WorkspaceState, ...], workspace: str, expected: str
) -> None:
    assert describe_readers(states, workspace) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (ALONE, []),
        (BOUND, []),
        ((state("local", 0), state("discord-7", 0, reads(HARBOUR, "discord-7"))), []),
        (
            NEWCOMER,
            [
                "“Old Harbour” (Discord) has no documents to read. Add some: `footnote ingest PATH --workspace "
                "discord-7`. Or let it read another workspace: `footnote workspaces bind discord 'Old Harbour' local`."
            ],
        ),
        (
            SHELVED,
            [
                "Nobody can read the 2 documents in 'crew'. Let a server or team read them: "
                "`footnote workspaces bind PLATFORM NAME crew`."
            ],
        ),
        (
            LEFT,
            [
                "Nobody can read the 2 documents in 'crew'. Let a server or team read them: "
                "`footnote workspaces bind PLATFORM NAME crew`."
            ],
        ),
        (
            FIXED,
            [
                "“Old Harbour” (Discord) reads 'crew', which has no documents (set in config.toml). Add some: "
                "`footnote ingest PATH --workspace crew`."
            ],
        ),
    ],
)
def test_what_nobody_reads_is_a_finding_with_its_command(
    states: tuple[WorkspaceState, ...], expected: list[str]
) -> None:
    assert find_unread(states) == expected


def test_with_several_filled_workspaces_the_admin_chooses() -> None:
    found = find_unread((*NEWCOMER, state("crew", 1, reads(CLUB, "crew"))))
    assert [sentence.endswith("`footnote workspaces bind discord 'Old Harbour' WORKSPACE`.") for sentence in found] == [
        True
    ]
