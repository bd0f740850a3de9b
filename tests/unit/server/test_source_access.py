"""For whom a source of tools is, decided by its row and the user's alone."""

from datetime import UTC, datetime

import pytest

from server.sources.visibility import may_use, view_as, viewer
from server.storage.accounts import Role, User
from server.storage.source_records import SourceAccess, Visibility

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _user(name: str, role: Role = "user", *, disabled: bool = False) -> User:
    return User(id=name, name=name, role=role, created_at=NOW, disabled_at=NOW if disabled else None)


def _source(
    visibility: Visibility, roles: tuple[Role, ...] = (), users: tuple[str, ...] = (), author_id: str | None = "ada"
) -> SourceAccess:
    return SourceAccess(id="s", author_id=author_id, visibility=visibility, roles=roles, users=users, keys_of="caller")


@pytest.mark.parametrize(
    ("source", "user", "allowed"),
    [
        (_source("everybody"), _user("eve"), True),
        (_source("roles", roles=("author",)), _user("eve", "author"), True),
        (_source("roles", roles=("author",), users=("eve",)), _user("eve"), False),
        (_source("users", users=("eve",)), _user("eve"), True),
        (_source("users", users=("eve",), roles=("author",)), _user("bob", "author"), False),
        (_source("users"), _user("ada", "author"), True),
        (_source("users"), _user("root", "admin"), True),
        (_source("users", author_id=None), _user("eve", "author"), False),
        (_source("everybody"), _user("eve", disabled=True), False),
        (_source("users"), _user("ada", "author", disabled=True), False),
        (_source("users"), _user("root", "admin", disabled=True), False),
    ],
)
def test_for_whom_a_source_is(source: SourceAccess, user: User, allowed: bool) -> None:
    assert may_use(source, user) is allowed


def test_the_stores_are_seen_as_who_asks() -> None:
    eve = _user("eve")
    view_as(eve)
    assert viewer() == eve
