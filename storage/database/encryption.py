"""Secrets encrypted at rest: Fernet (AES-128-CBC and HMAC-SHA256), under keys that can be changed one by one.

A sealed text says whose it is, so that in a tampered database one team's token can't stand in for another's.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from core.errors import ConfigError

SHORTEST_KEY = 32  # characters; of random ones, that is more than anybody can try


class Sealer:
    """Seals with the first of `keys` and opens with any. `setting` names, for people, where the keys come from."""

    def __init__(self, keys: Sequence[str], setting: str) -> None:
        """Raises ConfigError without a key, or for one that is too short to be safe."""
        if not keys or any(len(key) < SHORTEST_KEY for key in keys):
            raise ConfigError(
                f"{setting} must be a key of at least {SHORTEST_KEY} random characters: make one with "
                "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`, and keep it."
            )
        self._setting = setting
        self._newest = _to_fernet(keys[0])
        self._any = MultiFernet([self._newest, *map(_to_fernet, keys[1:])])

    def seal(self, owner: str, secret: str) -> str:
        """`owner` holds no line break."""
        return self._newest.encrypt(f"{owner}\n{secret}".encode()).decode()

    def open(self, owner: str, sealed: str) -> str:
        """The secret of an owner. Raises ConfigError when no key fits, or when it is another's."""
        try:
            whose, _, secret = self._any.decrypt(sealed.encode()).decode().partition("\n")
        except InvalidToken:
            whose, secret = "", ""
        if whose != owner:
            raise ConfigError(
                f"What is stored for {owner} can't be decrypted with the key in {self._setting}: put the key back that "
                "it was stored with, behind the new one; if it is lost, docs/slack.md says what to do."
            )
        return secret

    def is_current(self, sealed: str) -> bool:
        """Whether it was sealed with the newest key."""
        try:
            self._newest.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True


def _to_fernet(key: str) -> Fernet:
    """Any random text will do as a key: its hash is in the form that Fernet wants."""
    return Fernet(urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))
