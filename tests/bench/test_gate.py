"""What the gate costs: the server's memory while bombs are read, and how new tools are found among thousands of others."""

import asyncio
import gzip
import resource
import time
from itertools import islice
from pathlib import Path

import pytest

from admission.sandboxed_reader import read_document
from domain.errors import BrokenInputError
from domain.tool import ToolDoc
from graph.importers import jsonl
from graph.importers.records import load
from tests.attacks.test_hostile_sources import UNREADABLE
from tests.flows.test_findability import foretold
from tests.support.findable_sources import new_sources
from tests.support.indexed_store import indexed_store
from wiring.container import open_container
from wiring.settings import Settings

pytestmark = pytest.mark.bench
MANY = 5_000
FIFTY_MB = b'{"openapi": "3.0.0", "x": [' + b"{}," * 17_000_000 + b"1]}"


def _mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def test_the_memory_of_a_server_that_reads_bombs(capsys: pytest.CaptureFixture[str]) -> None:
    bombs = [
        FIFTY_MB[: 8 << 20],
        FIFTY_MB,
        *(
            bytes_of()
            for name in UNREADABLE
            if isinstance(UNREADABLE[name](), bytes)
            for bytes_of in [UNREADABLE[name]]
        ),
    ]
    before, started = _mebibytes(), time.perf_counter()
    for data in bombs:
        assert isinstance(data, bytes)
        with pytest.raises(BrokenInputError):
            await read_document(data, category="a", toolset="b")
    grown = _mebibytes() - before
    reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    with capsys.disabled():
        print(
            f"\n{len(bombs)} bombs in {time.perf_counter() - started:.1f} s: server +{grown:.0f} MiB, the largest reader {reader:.0f} MiB"
        )
    assert grown < 120
    assert reader < 800


@pytest.mark.shared_data
def test_forty_tools_among_thousands(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(shared_data / "toolbench" / "tools.jsonl.gz") as file:
        tools: list[ToolDoc] = [jsonl.parse_tool(load(line)) for line in islice(file, 0, 9 * MANY, 9)]
    sources = new_sources()

    async def measured() -> dict[str, int]:
        store = await indexed_store(tmp_path / "store", tools)
        async with open_container(Settings(), store) as container:
            places = {kind: await foretold(container, sources, kind) for kind in ("plain", "other")}
        return {kind: sum(place is not None for place in found.values()) for kind, found in places.items()}

    started = time.perf_counter()
    good = asyncio.run(measured())
    with capsys.disabled():
        print(
            f"\nof 40 tools among {len(tools)} others are found among the first five: {good} ({time.perf_counter() - started:.0f} s)"
        )
    assert good["plain"] >= 36
