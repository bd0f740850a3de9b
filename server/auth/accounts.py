"""Coming in: registration, log-in with its lockout, and a new password."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Literal

from domain.errors import LockedOutError, RegistrationError, WrongPasswordError
from server.auth.passwords import Passwords
from server.storage.attempts import Patience
from server.storage.storage import Storage
from server.storage.tokens import TokenPair
from server.storage.users import User, name_key

Registration = Literal["open", "invited", "closed"]
_ADDRESS_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Accounts:
    """``attempts``: failed log-ins of an account before one has to wait."""

    storage: Storage
    passwords: Passwords
    registration: Registration
    attempts: int = 5

    async def register(self, name: str, password: str, invitation: str = "", address: str = "") -> User:
        """Make an account.

        Raises:
            RegistrationError: nobody may, or not without an invitation that counts. ConflictError: the name is taken.
            LockedOutError: too many invitations from this address that did not count.
        """
        if self.registration == "closed":
            raise RegistrationError("registration is closed; an administrator makes accounts")
        if self.registration == "invited" and not invitation:
            raise RegistrationError("registration needs an invitation; ask an administrator for one")
        if not invitation:
            return await self.storage.users.add(name, await self.passwords.hash(password))
        place = f"invitation:{address}"
        await self._count(place, self._patience_with_addresses)
        user = await self.storage.invitations.redeem(invitation, name, await self.passwords.hash(password))
        await self.storage.attempts.forgive(place)
        return user

    async def log_in(self, name: str, password: str, *, address: str = "", label: str = "") -> tuple[User, TokenPair]:
        """Open a session.

        Raises:
            WrongPasswordError: name and password do not belong together, or the account is disabled.
            LockedOutError: too many failures of this account or from this address.
        """
        account, place = f"account:{name_key(name)}", f"address:{address}"
        await self._count(place, self._patience_with_addresses)
        await self._count(account, Patience(self.attempts))
        found = await self.storage.users.by_name(name)
        user, kept = found or (None, None)
        good, fresh = await self.passwords.verify(password, kept)
        if user is None or not good or user.disabled_at is not None:
            raise WrongPasswordError("name and password do not belong together")
        await self.storage.attempts.clear(account)
        await self.storage.attempts.forgive(place)
        if fresh is not None:
            await self.storage.users.set_password(user.id, fresh, instead_of=kept)
        return user, await self.storage.tokens.open(user.id, label)

    async def change_password(self, user: User, session_id: str, old: str, new: str) -> None:
        """Set a new password and end the user's other sessions. Raises as :meth:`log_in`."""
        await self.confirm(user, old)
        await self.storage.users.set_password(user.id, await self.passwords.hash(new))
        await self.storage.tokens.revoke_all(user.id, "the password was changed", but=session_id)

    async def confirm(self, user: User, password: str) -> None:
        """Ask for the password again, before something that a borrowed session must not do. Raises as :meth:`log_in`."""
        account = f"account:{name_key(user.name)}"
        await self._count(account, Patience(self.attempts))
        good, _ = await self.passwords.verify(password, await self.storage.users.password_hash(user.id))
        if not good:
            raise WrongPasswordError("this is not your password")
        await self.storage.attempts.clear(account)

    @property
    def _patience_with_addresses(self) -> Patience:
        """Many people may share an address, a page's server above all: more attempts, and a shorter memory."""
        minute = timedelta(minutes=1)
        return Patience(_ADDRESS_FACTOR * self.attempts, timedelta(seconds=5), minute, forgotten=15 * minute)

    async def _count(self, key: str, patience: Patience) -> None:
        if wait := await self.storage.attempts.begin(key, patience):
            raise LockedOutError(f"too many attempts; try again in {ceil(wait)} seconds", wait)
