"""Who may see which tools of sources, as the rows say it at this moment."""

from collections.abc import Iterable
from typing import Any

import pytest

from domain.tool import ToolDoc, ToolId
from domain.tool_source import make_source_mark
from server.sources.visibility import Visibility
from tests.support.graph_samples import document
from tests.support.server_world import World
from tests.support.source_samples import A_TOOL, source_of

TOOL = ToolId(A_TOOL)


class Graph:
    """The documents of a graph."""

    def __init__(self, **documents: str) -> None:
        self.sources = {ToolId(tool): source for tool, source in documents.items()}

    async def __call__(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        found = {tool: self.sources[tool] for tool in ids if tool in self.sources}
        return {tool: document(tool).model_copy(update={"source": source}) for tool, source in found.items()}


async def admitted(world: World, **values: Any) -> str:
    source = (await source_of("author", world, tested=True, **values))["source_id"]
    await world.services.sources.admit(source, [], world.people["author"])
    return source


async def blind(world: World, visibility: Visibility, graph: Graph) -> set[str]:
    """Those of the people from whom the tool is hidden, whether they ask or a run of theirs does."""
    hidden = {name for name, one in world.people.items() if TOOL in await visibility.hidden_tools(one, graph)}
    assert hidden == {name for name, one in world.people.items() if TOOL in await visibility.hidden_from(one.id, graph)}
    return hidden


@pytest.mark.parametrize(
    ("values", "hidden"),
    [
        ({}, set[str]()),
        ({"visibility": "roles", "roles": ["author"]}, {"user", "other"}),
        ({"visibility": "roles", "roles": ["user"]}, set[str]()),
        ({"visibility": "users", "users": []}, {"user", "other"}),
    ],
)
async def test_for_whom_a_source_is(world: World, values: Any, hidden: set[str]) -> None:
    """Its author and administrators see it always."""
    await admitted(world, **values)
    assert await blind(world, Visibility(world.services.storage), Graph()) == hidden


async def test_only_named_users_see_what_is_for_users(world: World) -> None:
    await admitted(world, visibility="users", users=[world.people["other"].id])
    assert await blind(world, Visibility(world.services.storage), Graph()) == {"user"}


async def test_every_step_counts_at_once(world: World) -> None:
    visibility, graph = Visibility(world.services.storage), Graph()
    source = await admitted(world)
    assert await blind(world, visibility, graph) == set()
    await world.services.sources.quarantine(source, [], world.people["author"], "stale")
    assert await blind(world, visibility, graph) == set(world.people)
    await world.services.sources.undo(source, world.people["author"])
    assert await blind(world, visibility, graph) == set()
    headers = await world.headers_of("author")
    for change, hidden in (
        ({"visibility": "roles", "roles": ["author"]}, {"user", "other"}),
        ({"visibility": "everybody"}, set[str]()),
    ):
        await world.client.patch(f"/api/v1/sources/{source}", json=change, headers=headers)
        assert await blind(world, visibility, graph) == hidden
    await world.client.delete(f"/api/v1/sources/{source}", headers=headers)
    assert await blind(world, visibility, graph) == set(world.people)


async def test_a_draft_hides_no_tool_that_an_import_gave(world: World) -> None:
    """An author cannot take a tool away from others by naming another one like it."""
    await source_of("author", world)
    visibility = Visibility(world.services.storage)
    assert await blind(world, visibility, Graph(**{A_TOOL: "tools.jsonl"})) == set()


async def test_a_run_of_anybody_keeps_a_tool_that_an_import_gave(world: World) -> None:
    await source_of("author", world)
    visibility = Visibility(world.services.storage)
    assert await visibility.hidden_from(world.people["user"].id, Graph(**{A_TOOL: "tools.jsonl"})) == frozenset()


async def test_while_there_is_no_graph_a_draft_is_hidden_and_afterwards_an_import_counts(world: World) -> None:
    visibility, user = Visibility(world.services.storage), world.people["user"]
    assert await visibility.hidden_tools(user, None) == frozenset(), "there is no source yet"
    await source_of("author", world)
    assert await visibility.hidden_tools(user, None) == {TOOL}
    assert await blind(world, visibility, Graph(**{A_TOOL: "tools.jsonl"})) == set()


async def test_a_document_of_a_source_that_is_no_longer_offered_is_hidden_while_the_graph_has_it(world: World) -> None:
    source = (await source_of("author", world))["source_id"]
    left = Graph(**{A_TOOL: make_source_mark(source)})
    assert await blind(world, Visibility(world.services.storage), left) == set(world.people)


async def test_an_account_that_is_gone_or_disabled_sees_none(world: World) -> None:
    await admitted(world)
    visibility = Visibility(world.services.storage)
    assert TOOL in await visibility.hidden_tools(None, Graph())
    assert TOOL in await visibility.hidden_from("nobody", Graph())
    off = world.people["user"].model_copy(update={"disabled_at": world.people["user"].created_at})
    assert TOOL in await visibility.hidden_tools(off, Graph())
