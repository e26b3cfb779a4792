"""The contracts of InstallationRepository and OneTimeCodes, on every database."""

from dataclasses import replace

import pytest

from core.domain.service import Installation
from core.errors import ConfigError
from core.ports.identity import OneTimeCodes
from core.ports.service import InstallationRepository
from storage.database import Database
from storage.database.encryption import SecretCipher
from storage.database.repositories.installations import SqlInstallationRepository, SqlOneTimeCodes
from tests.builders import NOON
from tests.fakes import ManualClock

OLD, NEW = "an old key of more than 32 characters", "a new key of more than 32 characters"
ACME = Installation(
    platform="slack",
    team_id="T0ACME",
    team_name="Acme & Söhne",
    team_url="https://acme.slack.com/",
    bot_user_id="U0BOT",
    bot_id="B0BOT",
    token="xoxb-acme-secret",
    scopes=frozenset({"chat:write", "commands"}),
    installed_at=NOON,
    installed_by="U0ADA",
)
BRAVO = replace(ACME, team_id="T0BRAVO", team_name="Bravo", token="xoxb-bravo-secret", scopes=frozenset())

ON_DATABASES = pytest.mark.parametrize("database_location", ["sqlite", "postgres"], indirect=True)


def cipher(*keys: str) -> SecretCipher:
    return SecretCipher(keys, "FOOTNOTE_SLACK_KEY")


@pytest.fixture
def installations(database: Database) -> InstallationRepository:
    return SqlInstallationRepository(database, cipher(OLD))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def codes(database: Database, clock: ManualClock) -> OneTimeCodes:
    return SqlOneTimeCodes(database, clock)


async def test_installations_come_back_whole_and_by_team(installations: InstallationRepository) -> None:
    for one in (BRAVO, ACME, replace(ACME, platform="elsewhere")):
        await installations.save(one)

    assert await installations.list_installations("slack") == [ACME, BRAVO]
    assert await installations.find("slack", "T0BRAVO") == BRAVO


async def test_a_team_that_installs_again_has_its_new_token(installations: InstallationRepository) -> None:
    await installations.save(ACME)
    again = replace(ACME, token="xoxb-other", team_name="Acme", scopes=frozenset({"commands"}), installed_by="U0BEN")
    await installations.save(again)

    assert await installations.list_installations("slack") == [again]


async def test_a_removed_team_is_gone_and_unknown_ones_are_ignored(installations: InstallationRepository) -> None:
    for one in (ACME, BRAVO):
        await installations.save(one)
    await installations.remove("slack", "T0ACME")
    await installations.remove("slack", "T0ACME")
    await installations.remove("elsewhere", "T0BRAVO")

    assert await installations.find("slack", "T0ACME") is None
    assert await installations.list_installations("slack") == [BRAVO]


@ON_DATABASES
async def test_no_token_stands_in_the_database_in_clear(database: Database) -> None:
    assert database is not None
    await SqlInstallationRepository(database, cipher(OLD)).save(ACME)
    stored = await database.read(lambda at: [*map(str, at.exec_driver_sql("SELECT * FROM installation").one())])

    assert "T0ACME" in stored
    assert not any("secret" in value for value in stored)


@ON_DATABASES
async def test_a_key_that_does_not_fit_is_one_clear_sentence(database: Database) -> None:
    assert database is not None
    await SqlInstallationRepository(database, cipher(OLD)).save(ACME)
    other = SqlInstallationRepository(database, cipher(NEW))

    for reading in (other.find("slack", "T0ACME"), other.list_installations("slack"), other.reseal()):
        with pytest.raises(
            ConfigError, match=r"slack team T0ACME can't be decrypted with the key in FOOTNOTE_SLACK_KEY"
        ):
            await reading


@ON_DATABASES
async def test_a_new_key_takes_over_from_the_old_one(database: Database) -> None:
    assert database is not None
    await SqlInstallationRepository(database, cipher(OLD)).save(ACME)
    both, new = SqlInstallationRepository(database, cipher(NEW, OLD)), SqlInstallationRepository(database, cipher(NEW))
    await both.save(BRAVO)

    assert await both.reseal() == 1
    assert await both.reseal() == 0
    assert await new.list_installations("slack") == [ACME, BRAVO]


@ON_DATABASES
async def test_a_token_can_not_be_moved_to_another_team(database: Database) -> None:
    assert database is not None
    installations = SqlInstallationRepository(database, cipher(OLD))
    for one in (ACME, BRAVO):
        await installations.save(one)
    moving = (
        "UPDATE installation SET sealed_token = (SELECT sealed_token FROM installation WHERE team_id = 'T0BRAVO') "
        "WHERE team_id = 'T0ACME'"
    )
    await database.write(lambda at: at.exec_driver_sql(moving))

    with pytest.raises(ConfigError, match="T0ACME can't be decrypted"):
        await installations.find("slack", "T0ACME")


async def test_a_code_is_good_once_for_what_it_was_issued_for(codes: OneTimeCodes) -> None:
    code, other = await codes.issue("install", 600), await codes.issue("install", 600)

    assert code != other
    assert not await codes.consume("invite", code)
    assert await codes.consume("install", code)
    assert not await codes.consume("install", code)
    assert await codes.consume("install", other)


@pytest.mark.parametrize("made_up", ["", "abc", "\x00", "\ud800"])
async def test_a_made_up_code_is_refused(codes: OneTimeCodes, made_up: str) -> None:
    await codes.issue("install", 600)

    assert not await codes.consume("install", made_up)


async def test_a_code_runs_out(codes: OneTimeCodes, clock: ManualClock) -> None:
    code = await codes.issue("install", 600)
    clock.advance(600)
    later = await codes.issue("install", 600)

    assert not await codes.consume("install", code)
    assert await codes.consume("install", later)


@ON_DATABASES
async def test_only_the_hash_of_a_code_is_stored_and_old_ones_go(database: Database, clock: ManualClock) -> None:
    assert database is not None
    codes = SqlOneTimeCodes(database, clock)
    old = await codes.issue("install", 600)
    clock.advance(601)
    code = await codes.issue("install", 600)
    rows = await database.read(lambda at: at.exec_driver_sql("SELECT * FROM one_time_code").all())

    assert len(rows) == 1
    assert not any(one in str(rows) for one in (old, code))
