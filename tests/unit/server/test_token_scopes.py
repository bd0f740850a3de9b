"""The scopes of programs' tokens, by themselves; every operation is asked in ``tests/attacks/test_token_scopes.py``."""

from collections.abc import Collection

import pytest

from domain.errors import ForbiddenError
from server.storage.tokens import Scope
from server.token_scopes import by_token, check_scope, find_scope


def test_an_operation_is_declared_as_it_is() -> None:
    async def operation() -> None: ...

    assert by_token("run_changes")(operation) is operation
    assert find_scope(operation) == "run_changes"
    assert find_scope(operation.__call__) is None


@pytest.mark.parametrize("needed", ["read", "administer", None])
def test_who_is_logged_in_is_bound_by_no_scope(needed: Scope | None) -> None:
    check_scope(None, needed)


def test_a_token_does_what_its_scopes_name() -> None:
    check_scope({"ask", "read"}, "read")


@pytest.mark.parametrize(("scopes", "needed"), [({"ask"}, "read"), ((), "ask")])
def test_a_token_is_told_the_scope_that_it_lacks(scopes: Collection[Scope], needed: Scope) -> None:
    with pytest.raises(ForbiddenError, match=rf"\b{needed}\b"):
        check_scope(scopes, needed)


def test_no_scope_is_enough_for_what_a_person_is_to_do() -> None:
    with pytest.raises(ForbiddenError, match="password"):
        check_scope({"ask", "read", "run_changes", "administer"}, None)
