"""Codes that nobody can guess, and what of them is kept."""

import hashlib
import secrets

_BYTES = 32


def new_code() -> str:
    """43 characters that are safe in URLs and cookies."""
    return secrets.token_urlsafe(_BYTES)


def hash_of(code: str) -> str:
    """SHA-256 in hex: enough for a code that is as random as a key."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
