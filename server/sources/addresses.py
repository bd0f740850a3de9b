"""Addresses of sources that are not public: what whoever gave one can do about it."""

from collections.abc import Generator
from contextlib import contextmanager

from domain.errors import ForbiddenAddressError
from server.storage.accounts import User

_ADMIN = "where it is meant, allow it for the whole server: add {place} to the setting FOOTPATH_ALLOW_HOSTS, and start the server anew"
_OTHERS = "where it is meant, ask an administrator of this server to allow {place} by the setting FOOTPATH_ALLOW_HOSTS, or give a public address"


@contextmanager
def refused_for(user: User) -> Generator[None]:
    """An address that is refused in here is told with what this user can do: an administrator allows it, others ask one.

    Raises ``ForbiddenAddressError``; one that nothing allows is told as it is.
    """
    try:
        yield
    except ForbiddenAddressError as error:
        if not error.place:
            raise
        advice = (_ADMIN if user.role == "admin" else _OTHERS).format(place=error.place)
        raise ForbiddenAddressError(error.reason, place=error.place, advice=advice) from error
