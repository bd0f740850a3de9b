"""A tool of a source that is for some: the others find it nowhere in the library, and can neither open, try nor mark it."""

from pathlib import Path

from tests.server.shelves import asks, library, place
from tests.support.server_world import with_store
from tests.support.source_samples import A_TOOL, source_of


async def test_a_sources_tool_is_in_the_library_of_those_whom_it_is_for(home: Path, tmp_path: Path) -> None:
    async with library(home, tmp_path, tmp_path / "store") as world:
        await with_store(world)
        named = [world.people["other"].id]
        source = (await source_of("author", world, tested=True, visibility="users", users=named))["source_id"]
        await world.services.sources.admit(source, [], world.people["author"])
        await world.services.agents.follower.follow()
        for who, sees in (("other", True), ("author", True), ("admin", True), ("user", False)):
            page = (await asks(world, "", who)).json()
            assert ([one["id"] for one in page["tools"]], page["total"]) == (([A_TOOL], 1) if sees else ([], 0)), who
            assert [one["source"] for one in page["tools"]] == [source] * sees
            found = (await asks(world, "", who, params={"query": "ships in the harbour"})).json()["tools"]
            assert [one["id"] for one in found] == [A_TOOL] * sees
            assert len((await asks(world, "/categories", who)).json()) == sees
            for rest in ("about", "neighbours", "recorded", "tried"):
                answer = await asks(world, place(A_TOOL, rest), who)
                assert answer.status_code == (200 if sees else 404), (who, rest)
        tried = await asks(world, place(A_TOOL, "try"), "user", "POST", json={"arguments": {}})
        assert tried.status_code == 404
