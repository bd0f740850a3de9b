"""Learning over the playground: many runs at once on one store, and a broken tool that is left and found again."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from pathlib import Path

import httpx
import pytest

from agent.execution.approval import AllowChangesApprover
from domain.event import Event, WeightsLearned
from domain.tool import ToolId
from evaluation.learning import PREFERS, RETURNS, measure_swap
from playground.paraphrases import FIRST, SECOND, lines, pairs
from playground.swaps import swap_request
from tests.support.playground_process import running_playground
from tests.support.server_process import built
from wiring.container import Container, open_container
from wiring.runs import build_budget, build_run_deps, run_and_learn
from wiring.settings import Settings


@pytest.fixture
def copied(tmp_path: Path) -> Generator[tuple[str, Settings]]:
    """A running playground, and the settings of a store of its catalogue and trajectories."""
    with running_playground() as address:
        place = built(tmp_path, address)
        yield address, Settings(store=place.store, allow_hosts=frozenset({address.removeprefix("http://")}))


@pytest.fixture
async def place(copied: tuple[str, Settings]) -> AsyncGenerator[tuple[str, Container]]:
    address, settings = copied
    async with open_container(settings, settings.store) as container:
        yield address, container


async def events_of(container: Container, request: str, name: str) -> list[Event]:
    deps = await build_run_deps(
        container, "offline", await container.open_executor("http"), "dfs", approver=AllowChangesApprover()
    )
    return [record.event async for record in run_and_learn(request, deps, build_budget(container), name=name)]


@pytest.mark.timeout(180)
async def test_fifty_runs_at_once_add_up(place: tuple[str, Container]) -> None:
    _, container = place
    await events_of(container, swap_request("define_word", 0), "opens")  # what a process opens once
    before = {(edge.source, edge.target): edge.live async for edge in container.graph.stream_edges()}
    runs = await asyncio.gather(*(events_of(container, swap_request("search_places", n), f"r{n}") for n in range(50)))
    lessons = [event for events in runs for event in events if isinstance(event, WeightsLearned)]
    assert len(lessons) == 50
    assert [lesson.error for lesson in lessons if lesson.error] == []
    walked: Counter[tuple[ToolId, ToolId]] = Counter()
    outcomes: Counter[tuple[ToolId, str]] = Counter()
    for lesson in lessons:
        walked.update({(edge.source, edge.target): edge.walked for edge in lesson.transitions})
        outcomes.update((one.tool, outcome) for one in lesson.tools for outcome in one.outcomes)
    after = {(edge.source, edge.target): edge.live async for edge in container.graph.stream_edges()}
    assert {pair: live - before.get(pair, 0) for pair, live in after.items() if live > before.get(pair, 0)} == walked
    facts = await container.graph.get_facts({tool for tool, _ in outcomes})
    counted = {
        (tool, name): getattr(found, name) for tool, found in facts.items() for name in ("ok", "transient", "gone")
    }
    assert {key: count for key, count in counted.items() if count} == outcomes


@pytest.mark.timeout(180)
async def test_a_broken_tool_is_left_and_found_again(place: tuple[str, Container]) -> None:
    address, container = place
    pair = ("convert_currency", "fx_convert")
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:

        async def ask(at: int) -> Sequence[Event]:
            return await events_of(container, swap_request(pair[0], at), f"{pair[0]}-{at}")

        async def switch(operation: str, broken: bool) -> None:
            (await client.put(f"/_broken/{operation}", params={"on": broken})).raise_for_status()

        curve = await measure_swap(pair, ask, switch)
    assert curve is not None
    assert curve.preferred_after is not None
    assert curve.preferred_after <= PREFERS
    assert curve.back_after is not None
    assert curve.back_after <= RETURNS


def test_the_files_of_paraphrases_are_those_that_are_made() -> None:
    for path, requests in zip((FIRST, SECOND), pairs(), strict=True):
        assert path.read_bytes() == lines(requests)
        assert len(requests) == 50
    first, second = ({value for one in requests for value in one["entities"]} for requests in pairs())
    assert len(first & second) < len(second) / 2
