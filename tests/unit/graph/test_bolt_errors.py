"""Errors of the driver in the project's words; those that Neo4j Community cannot be made to raise included."""

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from domain.errors import UnavailableError
from graph.backends.neo4j_connection import GraphServer, check_version, explain_driver_error

SERVER = GraphServer("neo4j://graph.example:7687", "ada", "tools")


class RefusalError(Neo4jError):
    """An error with a code, as the server sends it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self._said = code

    @property
    def code(self) -> str:
        return self._said


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("Neo.ClientError.Security.Unauthorized", "FOOTPATH_GRAPH_PASSWORD"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", "wait"),
        ("Neo.ClientError.Security.CredentialsExpired", "ALTER CURRENT USER"),
        ("Neo.ClientError.Security.Forbidden", "user 'ada' may not do this in database 'tools'"),
        ("Neo.ClientError.Database.DatabaseNotFound", "no database 'tools'"),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", "read-only"),
        ("Neo.ClientError.Cluster.NotALeader", "takes no writes"),
        ("Neo.TransientError.Database.DatabaseUnavailable", "not running"),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "smaller batches"),
        ("Neo.ClientError.Statement.SomethingNew", "nothing of it was kept (Neo.ClientError.Statement.SomethingNew)"),
    ],
)
def test_each_refusal_says_what_to_do(code: str, words: str) -> None:
    assert words in explain_driver_error(RefusalError(code), SERVER)


def test_a_detail_with_braces_and_lines_is_shown_as_it_is() -> None:
    assert explain_driver_error(ServiceUnavailable("no {route}\n to it"), SERVER).endswith("(no {route} to it)")


def test_an_address_is_shown_without_account_and_password() -> None:
    assert str(GraphServer("bolt://ada:secret@graph.example:7687", "", "")) == "bolt://graph.example:7687"


@pytest.mark.parametrize("version", ["5.26.0", "5.26.30", "5.27", "2025.11.2"])
def test_servers_that_are_new_enough(version: str) -> None:
    check_version(version, SERVER)


@pytest.mark.parametrize("version", ["5.25.9", "4.4.40", "dev", ""])
def test_servers_that_are_too_old_or_something_else(version: str) -> None:
    with pytest.raises(UnavailableError, match=r"5\.26 or newer"):
        check_version(version, SERVER)
