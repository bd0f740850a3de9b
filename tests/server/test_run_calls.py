"""What a run calls, as the page is told it: by program and by walk, with tools that are there and tools that are not."""

from server.storage.identifiers import generate_id
from server.storage.run_records import StoredEvent
from server.storage.runs import RunChoices
from tests.support.program_events import TEXT, broken, calls, ended, program, run_of
from tests.support.server_world import World, with_store


async def told(world: World) -> str:
    """A run of two programs, whose first one breaks off; its rows alone."""
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    run = await storage.runs.add(user, conversation.id, "a request", RunChoices(planner="program", policy="llm"))
    second = [program(number=2), *calls(2, first=3, number=2), ended(number=2)]
    records = run_of([program(), *calls(0), broken(), *second])
    await storage.events.append(
        [StoredEvent(run_id=run.id, seq=one.seq, kind=one.event.kind, body=one.model_dump_json()) for one in records]
    )
    return run.id


def places(*functions: str, cell: int) -> list[dict[str, int]]:
    return [{"cell": cell, "place": len(TEXT[: TEXT.index(f"{one}(")].encode())} for one in functions]


async def test_each_program_is_told_with_what_feeds_what(world: World) -> None:
    await with_store(world)
    run, headers = await told(world), await world.headers_of("user")
    answer = await world.client.get(f"/api/v1/runs/{run}/calls", headers=headers)
    assert answer.status_code == 200
    first, second = answer.json()["programs"]
    assert (first["subtask"], first["cells"], second["cells"]) == (1, [1], [2])
    search, colleagues, info = places("search", "colleagues", "info", cell=2)
    assert second["feeds"] == [{"source": search, "target": colleagues}, {"source": colleagues, "target": info}]
    assert second["answer"] == [info]
    assert answer.json()["tools"] == []  # they are gone since


async def test_a_server_without_tools_tells_what_its_programs_say(world: World) -> None:
    run, headers = await told(world), await world.headers_of("user")
    answer = await world.client.get(f"/api/v1/runs/{run}/calls", headers=headers)
    assert len(answer.json()["programs"]) == 2


async def test_of_no_run_nothing_is_told(world: World) -> None:
    headers = await world.headers_of("user")
    assert (await world.client.get(f"/api/v1/runs/{generate_id()}/calls", headers=headers)).status_code == 404
