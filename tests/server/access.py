"""What an operation answers to nobody, to whom a thing belongs, to another user, to an author and to an administrator."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.server_world import World

Things = Callable[[World], Awaitable[Mapping[str, str]]]


async def none(_: World) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Access:
    """Statuses by who asks. ``body`` is sent as JSON. ``once``: what it does can be done once on a server."""

    nobody: int
    user: int
    other: int
    author: int
    admin: int
    body: Any = None
    things: Things = field(default=none)
    once: bool = False

    def of(self, who: str) -> int:
        return getattr(self, who)


def everyone(status: int, body: Any = None) -> Access:
    return Access(status, status, status, status, status, body)


def for_oneself(status: int, body: Any = None) -> Access:
    return Access(401, status, status, status, status, body)


def own(status: int, things: Things, body: Any = None) -> Access:
    return Access(401, status, 404, 404, 404, body, things)


def for_authors(status: int, things: Things = none, body: Any = None) -> Access:
    """Those of the author, who is ``author``, and administrators."""
    return Access(401, 403, 403, status, status, body, things)


def for_admins(status: int, things: Things = none, body: Any = None) -> Access:
    return Access(401, 403, 403, 403, status, body, things)
