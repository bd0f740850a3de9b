"""Ids of rows, and secrets that are given out once and stored as hashes."""

import hashlib
import secrets
import threading
import time
import unicodedata
from uuid import UUID

_lock = threading.Lock()
_last = 0


def generate_id() -> str:
    """A new id. Within a process each is greater than the one before, even in the same millisecond; 62 bits are random."""
    global _last  # the one thing that makes them rise
    with _lock:
        # 48 bits of milliseconds and 12 of what comes below, counted up where the clock stands still.
        now = time.time_ns() * 4096 // 1_000_000
        _last = max(now, _last + 1)
        stamp = _last
    milliseconds, below = stamp >> 12, stamp & 0xFFF
    number = milliseconds << 80 | 0x7 << 76 | below << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def generate_secret(prefix: str) -> str:
    """256 random bits behind a prefix that says what it is, for whoever finds it lying about."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def hash_secret(secret: str) -> str:
    """SHA-256 in hex: what is random needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def normalize_name(name: str) -> str:
    """What names are compared by."""
    return unicodedata.normalize("NFKC", name).strip().casefold()
