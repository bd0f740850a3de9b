"""With an account goes what is its user's own beside the rows, whoever removes it; others' stays."""

from pathlib import Path

import pytest

from tests.support.rights_matrix import a_shared_solution, a_solution
from tests.support.server_world import PASSWORD, serving


@pytest.mark.parametrize("who", ["user", "admin"])
async def test_solutions_of_a_removed_user_are_forgotten(who: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        own = (await a_solution(world))["solution_id"]
        shared = (await a_shared_solution(world))["solution_id"]
        store = await (await world.services.agents.get_container()).solution_store()
        assert {own, shared} <= {one.id async for one in store.stream_all()}
        headers = await world.headers_of(who)
        if who == "user":
            gone = await world.client.request("DELETE", "/api/v1/me", json={"password": PASSWORD}, headers=headers)
        else:
            gone = await world.client.delete(f"/api/v1/users/{world.people['user'].id}", headers=headers)
        assert (gone.status_code, bool(gone.json()["removed"]), bool(gone.json()["stays"])) == (200, True, True)
        assert {one.id async for one in store.stream_all()} == {shared}
