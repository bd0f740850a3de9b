"""Who comes back to a run that has ended, with the number of its last event or a later one, is let go at once."""

import asyncio

import pytest

from tests.support.rights_matrix import an_ended_run
from tests.support.server_world import World


@pytest.mark.parametrize("beyond", [0, 1, 1000])
async def test_nothing_comes_after_the_end(world: World, beyond: int) -> None:
    place = f"/api/v1/runs/{(await an_ended_run(world))['run_id']}"
    headers = await world.headers_of("user")
    await world.client.get(f"{place}/events", headers=headers)  # to its last event
    last = (await world.client.get(place, headers=headers)).json()["last_event"]
    assert last
    async with asyncio.timeout(10):
        answer = await world.client.get(f"{place}/events", headers=headers | {"Last-Event-ID": str(last + beyond)})
    assert answer.text == "retry: 1000\n\n"
