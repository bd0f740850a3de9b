"""What an export and an import take, and that their memory does not grow with the store."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench

ROOT = Path(__file__).resolve().parents[2]
DEGREE = 10

PROBE = """
import asyncio, json, resource, sys, time
from pathlib import Path
from wiring.store_transfer import export_store_file, import_store_file

def quiet(*_): pass

source, file, target = map(Path, sys.argv[1:])
start = time.perf_counter()
exported = asyncio.run(export_store_file(file, source, quiet))
middle = time.perf_counter()
if target.name != "none":
    asyncio.run(import_store_file(file, target, quiet, embed=False))
end = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"edges": exported.counts.edges, "mb": file.stat().st_size / 1e6, "export": middle - start,
                  "import": end - middle, "peak_mb": peak}))
"""


async def fill(folder: Path, edges: int) -> None:
    from domain.tool import ToolId
    from graph.backends.sqlite_graph import SqliteGraph
    from graph.facts import Edge, GraphState
    from wiring.store_folder import StoreFolder

    store = StoreFolder(folder)
    await asyncio.to_thread(store.open, create=True)
    graph = SqliteGraph(store.graph)
    await graph.setup()
    nodes = [ToolId(f"category{n % 50}/toolset{n % 5000}/api{n}") for n in range(edges // DEGREE)]
    for start in range(0, len(nodes), 1000):
        some = [
            Edge(nodes[n], nodes[(n * 7 + k * k) % len(nodes)], n % 9 + 1)
            for n in range(start, min(start + 1000, len(nodes)))
            for k in range(1, DEGREE + 1)
        ]
        await graph.restore(GraphState(edges=some, keys=[f"{start}-{n}" for n in range(500)]))
    await graph.close()


def test_memory_stays_flat(tmp_path: Path) -> None:
    peaks: dict[int, float] = {}
    for edges in (20_000, 1_000_000):
        asyncio.run(fill(tmp_path / f"store{edges}", edges))
        places = (tmp_path / f"store{edges}", tmp_path / f"{edges}.jsonl.gz", tmp_path / f"new{edges}")
        done = subprocess.run(
            [sys.executable, "-c", PROBE, *map(str, places)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        figures = json.loads(done.stdout)
        peaks[edges] = figures["peak_mb"]
        print(f"\n{figures['edges']:,} edges: " + ", ".join(f"{k} {v:.1f}" for k, v in figures.items() if k != "edges"))
    print(f"peak memory at 50x the edges: {peaks[1_000_000] / peaks[20_000]:.2f}x")
    assert peaks[1_000_000] < 1.5 * peaks[20_000]
