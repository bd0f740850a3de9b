"""What can be wrong with a server, an account, a database: a clear error that says what to do, never a trace."""

import asyncio

import pytest
from neo4j.exceptions import Neo4jError

from domain.errors import StoreRefusedError, StoreUnreachableError, StoreVersionError, UnavailableError, UsageError
from domain.tool import make_tool_id
from graph.backends import neo4j_connection
from graph.backends.neo4j_graph import Neo4jGraph
from tests.servers.neo4j.server import Neo4jServer
from tests.support.graph_samples import A, B, batch, document, walked

SECRET = "not-the-password"


async def refusal(url: str, user: str, password: str, database: str = "neo4j") -> str:
    """The message with which setup fails."""
    graph = Neo4jGraph(url, user, password, database)
    with pytest.raises(UnavailableError) as caught:
        await asyncio.wait_for(graph.setup(), 30)
    await graph.close()
    assert SECRET not in str(caught.value)
    return str(caught.value)


async def test_a_wrong_password(neo4j_server: Neo4jServer) -> None:
    message = await refusal(neo4j_server.url, "neo4j", SECRET)
    assert neo4j_server.url in message
    assert "FOOTPATH_GRAPH_PASSWORD" in message


async def test_the_rate_limit_that_others_set_off_passes(neo4j_server: Neo4jServer) -> None:
    """A server with a wrong password keeps trying: Neo4j locks the account for seconds, for those with the right one too."""
    for _ in range(4):
        await refusal(neo4j_server.url, "neo4j", SECRET)
    right = Neo4jGraph(neo4j_server.url, "neo4j", neo4j_server.password)
    with pytest.raises(StoreUnreachableError, match="AuthenticationRateLimit"):
        await right.setup()
    async with asyncio.timeout(30):
        while True:
            try:
                await right.setup()
                break
            except StoreUnreachableError:
                await asyncio.sleep(0.5)
    await right.close()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("Neo.DatabaseError.Transaction.TransactionStartFailed", StoreUnreachableError),
        ("Neo.DatabaseError.Transaction.TransactionCommitFailed", StoreUnreachableError),
        ("Neo.DatabaseError.General.UnknownError", StoreUnreachableError),
        ("Neo.DatabaseError.Statement.ExecutionFailed", StoreUnreachableError),
        ("Neo.TransientError.Database.DatabaseUnavailable", StoreUnreachableError),
        ("Neo.TransientError.Transaction.Terminated", StoreUnreachableError),  # for the driver, no transient one
        ("Neo.ClientError.Transaction.TransactionTimedOut", StoreUnreachableError),
        ("Neo.ClientError.Security.AuthenticationRateLimit", StoreUnreachableError),
        ("Neo.ClientError.Security.Unauthorized", StoreRefusedError),
        ("Neo.ClientError.Security.Forbidden", StoreRefusedError),
        ("Neo.ClientError.Database.DatabaseNotFound", StoreRefusedError),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", StoreUnreachableError),
        ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", StoreRefusedError),
        ("Neo.ClientError.Statement.SyntaxError", UnavailableError),
        ("Neo.ClientError.Schema.ConstraintValidationFailed", UnavailableError),
    ],
)
def test_whether_an_error_is_an_outage_or_a_refusal(code: str, kind: type[UnavailableError]) -> None:
    """As the driver makes it of what a server sends."""
    error = Neo4jError._hydrate_neo4j(code=code, message="as the server says")  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    assert neo4j_connection.get_error_class(error) is kind


async def test_no_account(neo4j_server: Neo4jServer) -> None:
    assert "FOOTPATH_GRAPH_USER" in await refusal(neo4j_server.url, "", "")


async def test_a_wrong_database(neo4j_server: Neo4jServer) -> None:
    message = await refusal(neo4j_server.url, "neo4j", neo4j_server.password, "elsewhere")
    assert "'elsewhere'" in message
    assert "FOOTPATH_GRAPH_DATABASE" in message


async def test_both_schemes_reach_the_server(neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer) -> None:
    await neo4j_graph.put_tools([document(A)])
    routed = Neo4jGraph(neo4j_server.url.replace("bolt:", "neo4j:"), "neo4j", neo4j_server.password)
    await routed.setup()
    assert list(await routed.get_tools([A])) == [A]
    assert await routed.apply(batch("k", {(A, B): 1}))
    await routed.close()


async def test_an_old_server(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neo4j_connection, "OLDEST_VERSION", (9999, 1))
    assert "needs 9999.1 or newer" in await refusal(neo4j_server.url, "neo4j", neo4j_server.password)


async def test_a_graph_of_another_format(neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer) -> None:
    with neo4j_server.driver() as driver:
        driver.execute_query("MATCH (n:Footpath) SET n.format = 99", database_="neo4j")
    with pytest.raises(StoreVersionError, match="format 99"):
        await neo4j_graph.setup()


async def test_a_database_that_holds_something_else(neo4j_server: Neo4jServer) -> None:
    await asyncio.to_thread(neo4j_server.wipe)
    with neo4j_server.driver() as driver:
        driver.execute_query("CREATE (:Person {name: 'Ada'})", database_="neo4j")
    assert "holds 1 nodes that are not Footpath's" in await refusal(neo4j_server.url, "neo4j", neo4j_server.password)


async def test_a_read_only_database_is_read_and_refuses_writes(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    """Community knows no roles: the whole database is made read-only, as an account without write access sees it."""
    await neo4j_graph.put_tools([document(A)])
    await neo4j_graph.close()
    await asyncio.to_thread(neo4j_server.stop)
    try:
        await asyncio.to_thread(neo4j_server.start, "server.databases.default_to_read_only=true")
        await neo4j_graph.setup()
        assert list(await neo4j_graph.get_tools([A])) == [A]
        for write in (
            neo4j_graph.put_tools([document(B)]),
            neo4j_graph.apply(batch("k", {(A, B): 1})),
            neo4j_graph.learn(walked("k", A, B)),
        ):
            with pytest.raises(UnavailableError, match="read-only"):
                await write
        assert (await neo4j_graph.compute_statistics()).nodes == 1
    finally:
        await asyncio.to_thread(neo4j_server.stop)
        await asyncio.to_thread(neo4j_server.start)


async def test_a_name_too_long_for_the_index(neo4j_graph: Neo4jGraph) -> None:
    for long in (document(make_tool_id("c", "t", "x" * 9000)), document(A, function="y" * 9000)):
        with pytest.raises(UsageError, match="at most 8000"):
            await neo4j_graph.put_tools([document(B), long])
    assert (await neo4j_graph.compute_statistics()).nodes == 0
    longest = document(make_tool_id("c", "t", "x" * 7990), function="y" * 8000)
    await neo4j_graph.put_tools([longest])
    assert await neo4j_graph.get_tools([longest.id]) == {longest.id: longest}


async def test_it_says_what_to_do_before_setup_and_after_close(neo4j_graph: Neo4jGraph) -> None:
    await neo4j_graph.close()
    with pytest.raises(UnavailableError, match=r"call setup\(\) first"):
        await neo4j_graph.get_facts([A])
    await neo4j_graph.setup()
    assert await neo4j_graph.get_facts([A]) == {}
