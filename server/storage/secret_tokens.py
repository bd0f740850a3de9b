"""Opaque secrets: random words that are given out once and kept as their hash only."""

import hashlib
import secrets


def new_secret(prefix: str) -> str:
    """256 random bits behind a prefix that says what it is, for whoever finds it lying about."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def hash_of(secret: str) -> str:
    """SHA-256 in hex: what is random needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
