"""Passwords: Argon2id (RFC 9106), in threads, a few at a time, and as much work for a name that nobody has.

They are hashed in one Unicode form (NFKC); those that were hashed as they were typed before stay good, and are hashed anew at log-in.
"""

import asyncio
from functools import cached_property

from pwdlib import PasswordHash
from pwdlib.exceptions import PwdlibError
from pwdlib.hashers.argon2 import Argon2Hasher

from domain.errors import BusyError
from server.auth.password_rules import normal
from server.watching.secrecy import conceal

_AT_ONCE = 4
"""Each takes its memory (64 MiB): a rush of log-ins must not take the machine's."""
_NEWCOMERS = 8
"""New accounts that wait for the one place they have: nobody who logs in waits for them."""


class Passwords:
    """The default parameters are pwdlib's recommendation (t=3, 64 MiB, p=4); hashes with others are renewed at log-in."""

    def __init__(self, hasher: Argon2Hasher | None = None) -> None:
        self._hash = PasswordHash((hasher or Argon2Hasher(),))
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._newcomers = asyncio.Semaphore(1)
        self._arriving = 0

    async def hash(self, password: str) -> str:
        """The hash to keep; a new salt each time."""
        conceal(password)
        async with self._turns:
            return await asyncio.to_thread(self._hash.hash, normal(password))

    async def hash_of_newcomer(self, password: str) -> str:
        """The same for an account that is being made. ``BusyError``: too many are."""
        conceal(password)
        if self._arriving > _NEWCOMERS:
            raise BusyError("many accounts are being made just now; try again in a moment")
        self._arriving += 1
        try:
            async with self._newcomers:
                return await asyncio.to_thread(self._hash.hash, normal(password))
        finally:
            self._arriving -= 1

    async def verify(self, password: str, kept: str | None) -> tuple[bool, str | None]:
        """Whether it is the one, and a hash to keep instead where the parameters have changed. ``kept`` None: no such account."""
        conceal(password)
        async with self._turns:
            return await asyncio.to_thread(self._verify, password, kept)

    def _verify(self, password: str, kept: str | None) -> tuple[bool, str | None]:
        form = normal(password)
        good, fresh = self._compared(form, kept)
        if good or form == password:
            return good, fresh
        good, _ = self._compared(password, kept)  # it was hashed as it was typed
        return good, self._hash.hash(form) if good else None

    def _compared(self, password: str, kept: str | None) -> tuple[bool, str | None]:
        try:
            good, fresh = self._hash.verify_and_update(password, self._nobody if kept is None else kept)
        except PwdlibError:  # what is kept is no hash of ours: it fits no password
            return False, None
        return (good, fresh) if kept is not None else (False, None)

    @cached_property
    def _nobody(self) -> str:
        """A hash that is compared with where there is no account."""
        return self._hash.hash("a password that nobody has")
