"""Secrets at rest: what is sealed says nothing, opens for its owner alone, and outlives a change of keys."""

from collections.abc import Callable

import pytest

from core.errors import ConfigError
from storage.database.encryption import SHORTEST_KEY, SecretCipher

KEY, OTHER = "k" * SHORTEST_KEY, "o" * SHORTEST_KEY


def test_a_secret_comes_back_for_its_owner() -> None:
    sealed = SecretCipher([KEY], "KEY").encrypt("team one", "xoxb-secret\nin two lines")

    assert "secret" not in sealed
    assert SecretCipher([OTHER, KEY], "KEY").decrypt("team one", sealed) == "xoxb-secret\nin two lines"
    assert SecretCipher([KEY], "KEY").encrypt("team one", "xoxb-secret\nin two lines") != sealed


@pytest.mark.parametrize(
    ("owner", "keys", "change"),
    [
        ("team two", [KEY], lambda sealed: sealed),
        ("team one", [OTHER], lambda sealed: sealed),
        ("team one", [KEY], lambda sealed: sealed[:-6] + "AAAA=="),
        ("team one", [KEY], lambda sealed: "no token at all"),
        ("team one", [KEY], lambda sealed: ""),
    ],
)
def test_what_does_not_fit_is_one_sentence_that_names_owner_and_setting(
    owner: str, keys: list[str], change: Callable[[str], str]
) -> None:
    sealed = SecretCipher([KEY], "KEY").encrypt("team one", "xoxb-secret")
    with pytest.raises(ConfigError) as caught:
        SecretCipher(keys, "THE SETTING").decrypt(owner, change(sealed))

    assert owner in str(caught.value)
    assert "THE SETTING" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("keys", [[], [""], ["short"], [KEY, "short"], [KEY[:-1]]])
def test_a_key_that_can_be_guessed_is_refused_with_how_to_make_one(keys: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"THE SETTING must be a key of at least 32 .*token_urlsafe"):
        SecretCipher(keys, "THE SETTING")


def test_a_seal_of_an_older_key_is_told_from_one_of_the_newest() -> None:
    sealed = SecretCipher([KEY], "KEY").encrypt("team one", "xoxb-secret")

    assert SecretCipher([KEY, OTHER], "KEY").is_current(sealed)
    assert not SecretCipher([OTHER, KEY], "KEY").is_current(sealed)


def test_keys_are_not_shown() -> None:
    assert KEY not in repr(SecretCipher([KEY], "KEY").__dict__)
