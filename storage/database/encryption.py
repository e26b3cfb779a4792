"""Secrets encrypted at rest: Fernet (AES-128-CBC and HMAC-SHA256), under keys that can be changed one by one.

An encrypted text names its owner, so that a tampered database can't pass one team's token off as another's.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from core.errors import ConfigError

SHORTEST_KEY = 32  # random characters, too many to guess


class SecretCipher:
    """A cipher that encrypts with the first of `keys` and decrypts with any; error messages name `setting`."""

    def __init__(self, keys: Sequence[str], setting: str) -> None:
        """Raise ConfigError without a key, or for one that is too short to be safe."""
        if not keys or any(len(key) < SHORTEST_KEY for key in keys):
            raise ConfigError(
                f"{setting} must be a key of at least {SHORTEST_KEY} random characters: make one with "
                "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`, and keep it."
            )
        self._setting = setting
        self._newest = _to_fernet(keys[0])
        self._any = MultiFernet([self._newest, *map(_to_fernet, keys[1:])])

    def encrypt(self, owner: str, secret: str) -> str:
        """Return the encrypted secret of an owner, whose name has no line break."""
        return self._newest.encrypt(f"{owner}\n{secret}".encode()).decode()

    def decrypt(self, owner: str, sealed: str) -> str:
        """Return the secret of an owner. Raises ConfigError when no key fits, or when it belongs to another."""
        try:
            whose, _, secret = self._any.decrypt(sealed.encode()).decode().partition("\n")
        except InvalidToken:
            whose, secret = "", ""
        if whose != owner:
            raise ConfigError(
                f"The stored token of {owner} can't be decrypted with the key in {self._setting}. Put the "
                "key back that it was stored with, behind the new one; if it is lost, see docs/slack.md."
            )
        return secret

    def is_current(self, sealed: str) -> bool:
        """Return whether the text was encrypted with the newest key."""
        try:
            self._newest.decrypt(sealed.encode())
        except InvalidToken:
            return False
        return True


def _to_fernet(key: str) -> Fernet:
    """Return a key made from any random text: its hash has the form that Fernet wants."""
    return Fernet(urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))
