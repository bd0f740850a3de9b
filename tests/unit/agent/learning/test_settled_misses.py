"""404s that one answer does not decide: what repetition makes of them, in every kind of embedded store."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.learning.learner import learn_from_run
from domain.plan import CallOutcome, StepResult
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import GraphBatch, ToolFacts
from graph.store import GraphStore
from graph.weights import compute_availability
from tests.unit.agent.learning.test_lesson import executed, finished, records


@pytest.fixture(params=["memory", "sqlite"])
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphStore]:
    store: GraphStore = InMemoryGraph() if request.param == "memory" else SqliteGraph(tmp_path / "graph.db")
    await store.setup()
    await store.put_tools([tool(name) for name in ("a", "b", "c", "d")])
    yield store
    await store.close()


def tool(name: str, path: str = "v1") -> ToolDoc:
    parameters = (Parameter(name="name", location="path"), Parameter(name="page", default=1))
    return ToolDoc(id=make_tool_id("Ports", "Harbour", name), category="Ports", toolset="Harbour", api=name, function=name,
                   url=f"https://harbour.example/{path}/{name}/{{name}}", parameters=parameters)  # fmt: skip


A = tool("a").id
_run = iter(range(10**9))


async def run(
    graph: GraphStore, outcome: CallOutcome, value: str = "", user: str = "", tool: ToolId = A, status: int = 404
) -> ToolFacts:
    """Learn from a run of one call; the tool's facts after it."""
    arguments = {"name": value} if value else {"page": 1}
    result = StepResult(
        tool=tool,
        arguments=dict(arguments),
        status="ok" if outcome == "ok" else "failed",
        outcome=outcome,
        attempts=1,
        http_status=200 if outcome == "ok" else status,
        response="{}",
    )
    told = records(*executed([result]), finished("answered" if outcome == "ok" else "gave_up"))
    learned = await learn_from_run(
        [one.model_copy(update={"run": f"run {next(_run)}"}) for one in told], graph, user=user
    )
    assert learned is None or not learned.error
    return (await graph.get_facts([tool]))[tool]


async def test_different_values_of_two_users_show_that_a_tool_that_never_answered_is_gone(graph: GraphStore) -> None:
    for n in range(20):
        assert await run(graph, "undecided", f"name {n}", "eve") == ToolFacts()
    assert (await run(graph, "undecided", "name 1", "bob")).gone == 1
    assert (compute_availability((await graph.get_facts([A]))[A]) or 0) < 0.1


async def test_the_same_value_shows_nothing_however_many_ask(graph: GraphStore) -> None:
    for n in range(40):
        assert await run(graph, "undecided", "anna", f"user {n}") == ToolFacts()


async def test_where_users_are_not_known_values_alone_count(graph: GraphStore) -> None:
    found = [(await run(graph, "undecided", value)).gone for value in ("anna", "anna", "bertha", "clara")]
    assert found == [0, 0, 0, 1]


async def test_five_hundred_misses_of_twenty_users_change_nothing_of_a_tool_that_has_answered(
    graph: GraphStore,
) -> None:
    before = await run(graph, "ok", "anna")
    edges = [edge async for edge in graph.stream_edges()]
    for n in range(500 if isinstance(graph, InMemoryGraph) else 60):
        assert await run(graph, "undecided", f"name {n}", f"user {n % 20}") == before
    assert [edge async for edge in graph.stream_edges()] == edges
    assert [key async for key in graph.stream_applied_keys() if key.startswith("miss:")] == []


async def test_what_was_imported_is_an_answer_too(graph: GraphStore) -> None:
    batch = GraphBatch("imported")
    batch.calls[A], batch.successes[A] = 2, 1
    await graph.apply(batch)
    before = (await graph.get_facts([A]))[A]
    for n in range(9):
        assert await run(graph, "undecided", f"name {n}", f"user {n}") == before


async def test_several_tools_of_an_api_that_never_answered_are_gone(graph: GraphStore) -> None:
    ids = [tool(name).id for name in ("a", "b", "c")]
    found = [(await run(graph, "undecided", "anna", "bob", one)).gone for one in ids]
    assert found == [0, 0, 1]
    facts = await graph.get_facts([*ids, tool("d").id])
    assert [facts[one].gone for one in ids] == [1, 1, 1]  # those that were missed before it was clear, too
    assert facts[tool("d").id] == ToolFacts()  # nobody has called it


async def test_an_api_of_which_a_tool_has_answered_is_there(graph: GraphStore) -> None:
    await run(graph, "ok", "anna", "bob", tool("d").id)
    ids = [tool(name).id for name in ("a", "b", "c")]
    assert [(await run(graph, "undecided", "anna", "bob", one)).gone for one in (*ids, *ids)] == [0] * 6


async def test_words_that_name_the_path_count_at_once_unless_the_tool_has_answered(graph: GraphStore) -> None:
    assert (await run(graph, "gone", "anna", "eve")).gone == 1
    other = tool("b").id
    await run(graph, "ok", "anna", "bob", other)
    for n in range(9):
        assert (await run(graph, "gone", f"name {n}", "eve", other)).gone == 0
    assert (await run(graph, "ok", "anna", "bob", other)).ok == 2
    assert (await run(graph, "gone", "name 1", "bob", other)).gone == 0  # those before the answer are void
    found = [await run(graph, "gone", f"name {n}", user, other) for n, user in ((2, "eve"), (3, "eve"))]
    assert [one.gone for one in found] == [0, 1]


async def test_a_404_without_values_and_a_410_count_at_once_as_ever(graph: GraphStore) -> None:
    await run(graph, "ok", "anna")
    assert (await run(graph, "gone")).gone == 1
    assert (await run(graph, "gone", "anna", status=410)).gone == 2


async def test_another_path_in_the_document_begins_anew(graph: GraphStore) -> None:
    for value in ("anna", "bertha"):
        await run(graph, "undecided", value)
    await graph.put_tools([tool("a", path="v2")])
    assert (await run(graph, "undecided", "clara")).gone == 0


async def test_neither_values_nor_users_are_kept(graph: GraphStore) -> None:
    for n in range(200):
        await run(graph, "undecided", f"secret name {n}", f"user {n}", tool(["a", "b"][n % 2]).id)
    keys = [key async for key in graph.stream_applied_keys() if key.startswith("miss:")]
    assert keys
    assert not any("secret" in key or "user 1" in key for key in keys)
    assert all(int(key.rpartition(":")[2]) < 256 for key in keys)
