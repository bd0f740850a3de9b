"""What an offer costs beside the search alone, over 45,000 tools, in one run: the ratio of their medians.

The tools are those of the store whose folder ``FOOTPATH_BENCH_STORE`` names (it is copied), else made up, with transitions and links
between neighbours.
"""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from domain.tool import ToolId
from graph.facts import GraphBatch
from graph.links import FeedLink, ToolLinks
from tests.bench.test_retrieval_latency import STORE, catalogue, requests, told
from wiring.container import Container
from wiring.measured_searches import prepare_measurement

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
WARM, LIMIT, JOINED = 10, 24, 5
PORTION = 1_000

Work = Callable[[str], Awaitable[Any]]


async def join(container: Container) -> None:
    """Each made-up tool feeds and leads to a few that are near it by id."""
    tools: list[ToolId] = [document.id async for document in container.graph.stream_documents()]
    batch = GraphBatch("made up")
    links: list[ToolLinks] = []
    for place, tool in enumerate(tools):
        near = [tools[(place + step) % len(tools)] for step in range(1, JOINED + 1)]
        batch.transitions.update({(tool, other): step for step, other in enumerate(near, 1)})
        links.append(ToolLinks(tool, [FeedLink(other, tool, "id", "city", 0.5) for other in near]))
    await container.graph.apply(batch)
    for start in range(0, len(links), PORTION):
        await container.graph.put_links(links[start : start + PORTION])


async def test_an_offer_beside_the_search_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In turn, each of requests that the other has not asked: what a request comes to as a vector is remembered."""
    async with catalogue(tmp_path / "store") as container:
        if not STORE:
            await join(container)
        on = await prepare_measurement(container, "real", precedents=True)
        ways: dict[str, Work] = {
            "search alone": lambda text: on.retrieval(text, LIMIT),
            "offer": lambda text: on.offers(text, LIMIT),
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for text in requests():
            for number, (name, work) in enumerate(ways.items()):
                own = text.replace("trip", ("trip", "journey")[number])
                on.experience.begin_request(own)
                start = time.perf_counter()
                await work(own)
                spent[name].append(time.perf_counter() - start)
        seconds = {name: found[WARM:] for name, found in spent.items()}
        assert len(await on.offers(requests()[0], LIMIT)) == LIMIT
    ratio = np.median(seconds["offer"]) / np.median(seconds["search alone"])
    with capsys.disabled():
        print("\nfrom a request to 24 tools", *map(told, *zip(*seconds.items(), strict=True)), sep="\n")
        print(f"an offer takes {ratio:.2f} times as long as the search alone (medians)")
