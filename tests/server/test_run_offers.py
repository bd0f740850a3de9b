"""Why a tool was, or was not, offered to a run: what is asked of a server that has no store, and of a tool that nobody knows."""

from tests.server.of_runs import a_finished_run
from tests.support.server_world import World, with_store


async def test_without_a_store_it_says_how_one_is_made(world: World) -> None:
    about, headers = await a_finished_run(world), await world.headers_of("user")
    answer = await world.client.get(f"/api/v1/runs/{about['run_id']}/offer/a/b/c", headers=headers)
    assert answer.status_code == 503
    assert "scripts/build_graph.py" in answer.json()["detail"]


async def test_of_a_tool_that_nobody_knows_there_is_nothing_to_say(world: World) -> None:
    await with_store(world)
    about, headers = await a_finished_run(world), await world.headers_of("user")
    answer = await world.client.get(f"/api/v1/runs/{about['run_id']}/offer/a/b/c", headers=headers)
    assert (answer.status_code, "a/b/c" in answer.json()["detail"]) == (400, True)
