"""Coming in: registration, log-in with its lockout, and a new password."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Literal

from domain.client_addresses import get_rate_limit_key
from domain.errors import ConflictError, LockedOutError, RegistrationError, WrongPasswordError
from server.auth.password_rules import check_password
from server.auth.passwords import Passwords
from server.storage.accounts import User
from server.storage.audit import AuditedAction
from server.storage.identifiers import normalize_name
from server.storage.login_attempts import AttemptLimits
from server.storage.storage import Storage
from server.storage.tokens import TokenPair

Registration = Literal["open", "invited", "closed"]
_ADDRESS_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Accounts:
    """``attempts``: failed log-ins of an account before one has to wait; ``registrations``: accounts made from one address before that."""

    storage: Storage
    passwords: Passwords
    registration: Registration
    attempts: int = 5
    registrations: int = 20

    async def register(self, name: str, password: str, invitation: str = "", address: str = "") -> User:
        """Make an account.

        Raises:
            RegistrationError: nobody may, or not without an invitation that counts. ConflictError: the name is taken.
            WeakPasswordError: it is among the first that anybody would try. BusyError: too many accounts are being made.
            LockedOutError: too many accounts were made from this address, or invitations tried that did not count.
        """
        if self.registration == "closed":
            raise RegistrationError("registration is closed; an administrator makes accounts")
        if self.registration == "invited" and not invitation:
            raise RegistrationError("registration needs an invitation; ask an administrator for one")
        check_password(password, name, "body.password")
        place = get_rate_limit_key(address)
        if invitation:
            await self._count((f"invitation:{place}", self._limits_of_addresses))
        else:
            await self._count((f"registration:{place}", self._limits_of_newcomers))
        if await self.storage.users.find_by_name(name) is not None:  # before the work; the row decides
            raise ConflictError(f"the name {name} is taken; choose another")
        kept = await self.passwords.hash_of_newcomer(password)
        if invitation:
            user = await self.storage.invitations.redeem(invitation, name, kept)
            await self.storage.login_attempts.forgive(f"invitation:{place}")
        else:
            user = await self.storage.users.add(name, kept)
        await self.storage.login_places.remember(user.id, place)
        return user

    async def log_in(self, name: str, password: str, *, address: str = "", label: str = "") -> tuple[User, TokenPair]:
        """Open a session.

        Failures are counted apart for where the user has logged in before, so that nobody elsewhere locks them out there.

        Raises:
            WrongPasswordError: name and password do not belong together, or the account is disabled.
            LockedOutError: too many failures of this account or from this address.
        """
        where = get_rate_limit_key(address)
        known = await self.storage.login_places.is_known(name, where)
        account, place = f"account:{normalize_name(name)}" + (f" at {where}" if known else ""), f"address:{where}"
        await self._count((place, self._limits_of_addresses), (account, AttemptLimits(self.attempts)))
        found = await self.storage.users.find_by_name(name)
        user, kept = found or (None, None)
        good, fresh = await self.passwords.verify(password, kept)
        if user is None or not good or user.disabled_at is not None:
            raise WrongPasswordError("name and password do not belong together")
        # None of these rests on another: where the database is far away, all of them take as long as one.
        await asyncio.gather(
            self.storage.login_attempts.clear(account),
            self.storage.login_attempts.forgive(place),
            self.storage.login_places.remember(user.id, where),
        )
        if fresh is not None:
            await self.storage.users.set_password(user.id, fresh, replaces=kept)
        return user, await self.storage.tokens.open_session(user.id, label)

    async def change_password(self, user: User, session_id: str, old: str, new: str) -> None:
        """Set a new password and end the user's other sessions. Raises as :meth:`log_in`, and ``WeakPasswordError``."""
        check_password(new, user.name, "body.new")
        await self.confirm(user, old)
        await self.storage.users.set_password(user.id, await self.passwords.hash(new))
        await self.storage.tokens.revoke_all(user.id, "the password was changed", except_session=session_id)

    async def reset_password(self, secret: str, password: str, address: str = "") -> None:
        """Set the password that a link was made for, and end the user's sessions.

        Raises:
            RegistrationError: the link does not count. WeakPasswordError: as at registration. LockedOutError: too many that did not count were tried.
        """
        place = f"password reset:{get_rate_limit_key(address)}"
        await self._count((place, self._limits_of_addresses))
        user = await self.storage.password_resets.find_user(secret)
        check_password(password, user.name, "body.password")
        await self.storage.password_resets.redeem(secret, await self.passwords.hash(password))
        await self.storage.login_attempts.forgive(place)
        deed = AuditedAction(
            user_id=user.id, name=user.name, role=user.role, via="session", operation="reset_password",
            about="Set a new password by a link", said={},
        )  # fmt: skip
        await self.storage.audit_log.begin(deed, 204)

    async def confirm(self, user: User, password: str) -> None:
        """Ask for the password again, before something that a borrowed session must not do. Raises as :meth:`log_in`."""
        account = f"confirmation:{user.id}"  # only who is logged in fails at it, so that nobody else locks them out
        await self._count((account, AttemptLimits(self.attempts)))
        good, _ = await self.passwords.verify(password, await self.storage.users.get_password_hash(user.id))
        if not good:
            raise WrongPasswordError("this is not your password")
        await self.storage.login_attempts.clear(account)

    @property
    def _limits_of_addresses(self) -> AttemptLimits:
        """Many people may share an address, a page's server above all: more attempts, and a shorter memory."""
        minute = timedelta(minutes=1)
        return AttemptLimits(_ADDRESS_FACTOR * self.attempts, timedelta(seconds=5), minute, forgotten=15 * minute)

    @property
    def _limits_of_newcomers(self) -> AttemptLimits:
        """Every account counts, and is remembered for a day."""
        return AttemptLimits(self.registrations, timedelta(minutes=1), timedelta(hours=1))

    async def _count(self, *keys: tuple[str, AttemptLimits]) -> None:
        if wait := await self.storage.login_attempts.begin(*keys):
            raise LockedOutError(f"too many attempts; try again in {ceil(wait)} seconds", wait)
