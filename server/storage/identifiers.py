"""Ids of rows, secrets that are given out once and stored as hashes, and names as they are compared."""

import hashlib
import secrets
import threading
import time
import unicodedata
from uuid import UUID

_lock = threading.Lock()
_last = 0


def generate_id() -> str:
    """Return a new UUID of version 7.

    Within a process each is greater than the one before, even within a millisecond; 62 bits are random.
    """
    global _last  # keeps ids rising across calls
    with _lock:
        # 48 bits of milliseconds and 12 of fractions, counted up where the clock has not advanced.
        now = time.time_ns() * 4096 // 1_000_000
        _last = max(now, _last + 1)
        stamp = _last
    milliseconds, fraction = stamp >> 12, stamp & 0xFFF
    number = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def generate_secret(prefix: str) -> str:
    """Return 256 random bits after a prefix that tells what the secret is for, wherever it is found."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret in hex. Random secrets need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def normalize_name(name: str) -> str:
    """Return a name in the form in which names are compared."""
    return unicodedata.normalize("NFKC", name).strip().casefold()
