"""What the token of a program may do: each operation declares the scope that it needs, and one that declares none takes no token.

No scope covers what only a person is to do: approving calls, plans and tools, giving roles, inviting, setting passwords, ending sessions and
making tokens. A session that somebody opened with name and password is not bound by scopes.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from domain.errors import ForbiddenError
from server.storage.tokens import Scope

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_SCOPE = "__token_scope__"


def by_token(scope: Scope) -> Callable[[Endpoint], Endpoint]:
    """Declare that a program's token with ``scope`` may ask for this operation. It goes below the router's decorator."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SCOPE, scope)
        return endpoint

    return declare


def find_scope(endpoint: object) -> Scope | None:
    """Return the scope that an operation declares; None: no token may ask for it."""
    return getattr(endpoint, _SCOPE, None)


def check_scope(scopes: Collection[Scope] | None, needed: Scope | None) -> None:
    """Raise ``ForbiddenError`` unless a token with ``scopes`` may do what needs ``needed``. ``scopes`` None: somebody is logged in."""
    if scopes is None or needed in scopes:
        return
    if needed is None:
        raise ForbiddenError("no program's token may do this: log in with name and password, and do it yourself")
    raise ForbiddenError(
        f"this token lacks the scope {needed}: make one that has it on your account page, or by POST /api/v1/me/tokens"
    )
