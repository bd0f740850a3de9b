"""Flows and kept fields: in a file of one machine, or on the graph's server for all; the same either way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolId, make_tool_id
from domain.trajectory import TakenValue
from graph.backends.neo4j_connection import GraphServer, Neo4jConnection
from graph.backends.neo4j_flows import Neo4jFieldChoices, Neo4jFlows
from graph.backends.sqlite_flows import SqliteFieldChoices, SqliteFlows
from graph.dataflow import FlowCount, FlowStore, KnownFlow
from graph.field_choices import FieldChoice, FieldChoiceStore
from tests.servers.neo4j.server import Neo4jServer
from wiring.container import open_container
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

FIND, CREDITS, PERSON = (make_tool_id("films ☔", "reel", name) for name in ("find", "credits", "person"))
TAKEN = [
    TakenValue(FIND, CREDITS, "movie_id", ("results[].id", "results[].näme")),
    TakenValue(FIND, CREDITS, "movie_id", ("results[].id",)),
    TakenValue(CREDITS, PERSON, "person_id", ("crew[].id",)),
]
Makes = tuple[Callable[[], FlowStore], Callable[[], FieldChoiceStore]]


@pytest.fixture(params=["sqlite", "neo4j"])
async def makes(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Makes]:
    """Makers of stores that share what they hold, as two machines would."""
    if request.param == "sqlite":
        yield (lambda: SqliteFlows(tmp_path / "flows.db")), (lambda: SqliteFieldChoices(tmp_path / "fields.db"))
        return
    neo4j: Neo4jServer = request.getfixturevalue("neo4j_server")
    await asyncio.to_thread(neo4j.wipe)

    def connection() -> Neo4jConnection:
        return Neo4jConnection(GraphServer(neo4j.url, neo4j.user, "neo4j"), neo4j.password, retry_seconds=5)

    yield (lambda: Neo4jFlows(connection())), (lambda: Neo4jFieldChoices(connection()))


async def test_flows_are_counted_once_and_seen_by_the_other_machine(makes: Makes) -> None:
    one, other = makes[0](), makes[0]()
    await one.setup()
    await other.setup()
    assert await one.add("k1", TAKEN)
    assert not await other.add("k1", TAKEN)
    assert await other.add("k2", TAKEN[2:])
    found = await one.find_flows_into([CREDITS, PERSON, FIND])
    assert found == {
        CREDITS: [
            KnownFlow(FIND, CREDITS, "results[].id", "movie_id", 2, 2),
            KnownFlow(FIND, CREDITS, "results[].näme", "movie_id", 1, 2),
        ],
        PERSON: [KnownFlow(CREDITS, PERSON, "crew[].id", "person_id", 2, 2)],
    }
    assert await other.find_flows_into([CREDITS, PERSON]) == found
    await one.close()
    await other.close()


async def test_what_a_tool_gave_and_took_is_forgotten_and_not_counted_again(makes: Makes) -> None:
    flows = makes[0]()
    await flows.setup()
    taken = [*TAKEN, TakenValue(FIND, PERSON, "id", ("c",))]
    await flows.add("one", taken)
    await flows.forget([CREDITS])
    assert not await flows.add("one", taken)
    known = await flows.find_flows_into([PERSON, CREDITS])
    left = [(one.target, one.source) for one in await flows.list_counts(("", "", ""), 9)]
    await flows.close()
    assert {tool: [flow.field for flow in found] for tool, found in known.items()} == {PERSON: ["c"]}
    assert left == [(PERSON, FIND)]


async def test_flows_are_paged_and_set_as_they_were(makes: Makes) -> None:
    flows = makes[0]()
    await flows.setup()
    counts = [
        FlowCount(ToolId(target), parameter, FIND, 2, (("a", 1), ("b", 2)))
        for target in ("A", "a", "ä")
        for parameter in ("P", "p")
    ]
    for _ in range(2):
        await flows.restore(["k3", "k1", "k2"], counts)
    assert await flows.list_keys("", 2) == ["k1", "k2"]
    assert await flows.list_keys("k2", 2) == ["k3"]
    pages = [await flows.list_counts(("", "", ""), 4), await flows.list_counts(counts[3].sort_key, 4)]
    assert [*pages[0], *pages[1]] == counts
    await flows.close()


async def test_a_choice_of_fields_is_seen_by_the_other_machine_and_replaced_whole(makes: Makes) -> None:
    one, other = makes[1](), makes[1]()
    choice = FieldChoice(("items[].näme", '["a.b"]'), ("items[].näme", '["a.b"]', "x"))
    assert await one.recall(FIND, "basis") is None
    await one.keep(FIND, "basis", choice)
    assert await other.recall(FIND, "basis") == choice
    assert await other.recall(FIND, "another basis") is None
    await other.keep(FIND, "basis", FieldChoice((), ("x",)))
    assert await one.recall(FIND, "basis") == FieldChoice((), ("x",))
    await one.close()
    await other.close()


async def test_what_one_machine_counted_before_comes_to_the_neo4j_server(
    tmp_path: Path, neo4j_server: Neo4jServer
) -> None:
    """A store of before: its flows lie on the machine that built it. The next machine has them too, from the server."""
    await asyncio.to_thread(neo4j_server.wipe)
    account: dict[str, Any] = {"graph_url": neo4j_server.url, "graph_user": neo4j_server.user}
    account["graph_password"] = neo4j_server.password
    mine = SqliteFlows(StoreFolder(tmp_path / "one").flows)
    await asyncio.to_thread(StoreFolder(tmp_path / "one").open, create=True)
    await mine.setup()
    await mine.add("k1", TAKEN)
    expected = await mine.find_flows_into([CREDITS, PERSON])
    await mine.close()
    for machine in ("one", "other"):
        async with open_container(Settings.model_validate({"store": tmp_path / machine, **account})) as container:
            assert await (await container.flows()).find_flows_into([CREDITS, PERSON]) == expected
