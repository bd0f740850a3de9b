"""How often a run asks the graph: where it is a server far away, each question is a round trip before the next one."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, cast

import pytest

from agent.execution.approval import AllowChangesApprover
from domain.event import RunFinished
from graph.links import LinkedGraph
from playground.demo_requests import demo_requests
from scripts import _demo
from tests.support.playground_process import running_playground
from wiring.container import Container
from wiring.runs import build_budget, build_run_deps, run_and_learn

MOST = 17
"""Of a run that is planned, carried out and learnt from; a failed call that is gone around included."""


class Counting:
    """A graph that counts what is asked of it, by method. Streams are no part of a run."""

    def __init__(self, graph: LinkedGraph) -> None:
        self.asked: Counter[str] = Counter()
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._graph, name)
        return self._counted(name, method) if iscoroutinefunction(method) else method

    def _counted(self, name: str, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def counted(*given: Any, **named: Any) -> Any:
            self.asked[name] += 1
            return await method(*given, **named)

        return counted


@pytest.fixture
def address() -> Iterator[str]:
    with running_playground() as address:
        yield address


@pytest.mark.timeout(300)
async def test_a_run_asks_the_graph_a_dozen_times(address: str, tmp_path: Path) -> None:
    await _demo.build_demo(address, tmp_path / "store")
    async with _demo.opened(address, tmp_path / "store") as container:
        asked = {one.request: await questions(one.request, container) for one in demo_requests()}
    names = {name for counts in asked.values() for name in counts}
    assert names == {"load_neighbourhoods", "find_adjacent_edges", "get_tools", "learn", "learn_answers"}
    assert max(counts.total() for counts in asked.values()) <= MOST, asked
    assert sum(counts.total() for counts in asked.values()) <= 14 * len(asked), asked


async def questions(request: str, container: Container) -> Counter[str]:
    """What a run that answers a request asks of the graph."""
    graph, counting = container.graph, Counting(container.graph)
    container.graph = cast("LinkedGraph", counting)
    deps = await build_run_deps(container, "offline", "http", "dfs", approver=AllowChangesApprover())
    ends = [
        record.event
        async for record in run_and_learn(request, deps, build_budget(container))
        if isinstance(record.event, RunFinished)
    ]
    container.graph = graph
    assert [end.outcome for end in ends] == ["answered"]
    return counting.asked
