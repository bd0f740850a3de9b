"""Footpath beside graph-tool-call on the same catalogues and requests, each by its own recommended ways: needed tools among the first 5 and 16, length of
what a model is given, time, memory.

``FOOTPATH_PEER_PYTHON`` names a Python that has ``graph-tool-call`` installed; ``FOOTPATH_PEER_EMBEDDING`` what its ``enable_embedding`` is given
(``sentence-transformers//path/of/all-MiniLM-L6-v2``); ``FOOTPATH_PEER_CATALOGUES`` a folder of more catalogues: ``NAME.json`` (OpenAPI) beside
``NAME.jsonl`` (lines of ``query`` and ``solution``, a list of ``METHOD /path``). Weights of ours were fitted on even lines: odd ones are told apart.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.corpora.needed_tools import Form, ToolNameIndex, read_benchmark_requests, resolve_labels
from playground.record import CATALOGUE, DATA
from wiring.container import open_container

ROOT = Path(__file__).parents[2]
PEER = os.environ.get("FOOTPATH_PEER_PYTHON", "")  # read here: no test sees FOOTPATH_ variables
EMBEDDING = os.environ.get("FOOTPATH_PEER_EMBEDDING", "")
MORE = os.environ.get("FOOTPATH_PEER_CATALOGUES", "")
NAMES = (
    "TMDB",
    "Spotify",
    "playground",
    "all three",
    *(sorted(one.stem for one in Path(MORE).glob("*.json")) if MORE else ()),
)
SIZES = (5, 16)
LARGE = 500
"""From so many tools on ``tune_for_scale`` of the peer does something."""
TOKEN = 4
"""Characters that count as a token, on both sides."""
Documents = tuple[Path, ...]
Requests = tuple[tuple[Form, Path], ...]
pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """OpenAPI documents and the files of requests that their tools serve. ``walks``: recorded, for a way of ours of its own."""

    name: str
    documents: Documents
    requests: Requests
    walks: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with the routes that it needs, and the number of its line."""

    query: str
    needed: frozenset[str]
    line: int


@dataclass(frozen=True, slots=True)
class Way:
    """What one way offered for each request. ``tools``: routes by name. ``built``: seconds of CPU until it could be asked."""

    name: str
    tools: dict[str, str]
    rows: list[dict[str, Any]]
    asked: Sequence[Asked]
    built: float
    peak_mb: float

    def recall(self, size: int, part: str = "all") -> tuple[float, float]:
        """Mean share of the needed tools among the first so many, and share of the requests with all of them."""
        shares = [
            len({self.tools.get(name) for name in row[str(size)]["tools"]} & one.needed) / len(one.needed)
            for one, row in zip(self.asked, self.rows, strict=True)
            if part == "all" or one.line % 2
        ]
        return float(np.mean(shares)), float(np.mean([share == 1 for share in shares]))

    def tokens(self, size: int) -> float:
        return float(np.mean([row[str(size)]["characters"] for row in self.rows])) / TOKEN

    def told(self) -> str:
        pairs = [self.recall(size, part) for part in ("all", "odd") for size in SIZES]
        cells = " | ".join(f"{share:.3f} / {whole:.3f}" for share, whole in pairs)
        p50, p99 = np.percentile([row["seconds"] for row in self.rows], [50, 99]) * 1e3
        length = f"{self.tokens(5):.0f} / {self.tokens(16):.0f}"
        return f"| {self.name} | {cells} | {length} | {self.built:.1f} s | {p50:.0f} / {p99:.0f} ms | {self.peak_mb:.0f} MB |"


def catalogues(data: Path) -> Iterator[Catalogue]:
    """RestBench's two, the playground's, the three as one, and those of the folder."""
    rest = data / "benchmarks" / "restbench"
    tmdb: tuple[Documents, Requests] = (rest / "tmdb_oas.json",), (("restbench", rest / "tmdb_dev.jsonl"),)
    spotify: tuple[Documents, Requests] = (rest / "spotify_oas.json",), (("restbench", rest / "spotify_dev.jsonl"),)
    asked = sorted((ROOT / "playground" / "requests").glob("*.jsonl"))
    town: tuple[Documents, Requests] = (DATA / CATALOGUE,), tuple(("playground", path) for path in asked)
    yield Catalogue("TMDB", *tmdb)
    yield Catalogue("Spotify", *spotify)
    yield Catalogue("playground", *town, walks=(DATA,))
    yield Catalogue("all three", tmdb[0] + spotify[0] + town[0], tmdb[1] + spotify[1] + town[1])
    for document in sorted(Path(MORE).glob("*.json")) if MORE else ():
        yield Catalogue(document.stem, (document,), (("restbench", document.with_suffix(".jsonl")),))


def asked_of(python: str, program: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a program of this folder answers, in a process of its own."""
    path = {**os.environ, "PYTHONPATH": str(ROOT)} if program == "peer_ours.py" else dict(os.environ)
    command = [python, str(Path(__file__).with_name(program))]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, env=path, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


async def requests_of(catalogue: Catalogue, store: Path) -> list[Asked]:
    """Those whose tools the store knows, with the routes of them."""
    async with open_container(store=store) as container:
        documents = [document async for document in container.graph.stream_documents()]
    routes = {document.id: f"{document.method} {document.url}" for document in documents}
    names, found = ToolNameIndex(documents), list[Asked]()
    for form, path in catalogue.requests:
        cases = list(read_benchmark_requests(form, [path]))
        lines = {case.id: line for line, case in enumerate(cases, 1)}
        for one in resolve_labels(cases, names).requests:
            found.append(Asked(one.query, frozenset(routes[tool] for tool in one.relevant), lines[one.id]))
    return found


async def ours(catalogue: Catalogue, folder: Path, walks: Sequence[Path]) -> list[Way]:
    """An offer, and the search alone. ``walks``: recorded ones, that the store is built with."""
    store = folder / ("walked" if walks else "plain")
    ask = partial(asked_of, sys.executable, "peer_ours.py")
    documents = [str(one) for one in catalogue.documents]
    built = ask({"step": "build", "store": str(store), "documents": documents, "trajectories": [str(w) for w in walks]})
    asked = await requests_of(catalogue, store)
    answer = ask({"step": "ask", "store": str(store), "requests": [one.query for one in asked], "sizes": SIZES})
    seconds, peak = built["seconds"] + answer["seconds"], max(built["peak_mb"], answer["peak_mb"])
    names = {way: f"Footpath, {way}{', recorded walks' if walks else ''}" for way in answer["ways"]}
    return [Way(names[way], answer["tools"], rows, asked, seconds, peak) for way, rows in answer["ways"].items()]


def theirs(catalogue: Catalogue, way: str, asked: Sequence[Asked]) -> tuple[Way, str]:
    """With the version of what is installed."""
    given = {"documents": [str(one) for one in catalogue.documents], "requests": [one.query for one in asked]}
    answer = asked_of(PEER, "peer_theirs.py", {**given, "way": way, "embedding": EMBEDDING, "sizes": SIZES})
    rows = answer["ways"][way]
    return Way(f"peer, {way}", answer["tools"], rows, asked, answer["seconds"], answer["peak_mb"]), answer["version"]


@pytest.mark.skipif(not PEER, reason="no peer: set FOOTPATH_PEER_PYTHON to a Python that has graph-tool-call")
@pytest.mark.parametrize("name", NAMES)
async def test_beside_graph_tool_call(name: str, shared_data: Path, tmp_path: Path) -> None:
    """Prints a table; what is held to is that no way of the peer has more of the needed tools among the first 16."""
    [catalogue] = [one for one in catalogues(shared_data) if one.name == name]
    print(f"\n{name}\n| way | at 5 | at 16 | odd at 5 | odd at 16 | tokens 5 / 16 | built | p50 / p99 | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    offer, search = await ours(catalogue, tmp_path, ())
    walked = await ours(catalogue, tmp_path, catalogue.walks) if catalogue.walks else []
    for way in (offer, search, *walked):
        print(way.told(), flush=True)
    best = 0.0
    for kind in ("keywords", *(("embedding",) if EMBEDDING else ()), *(("scale",) if len(offer.tools) >= LARGE else ()), "bundle"):  # fmt: skip
        way, version = theirs(catalogue, kind, offer.asked)
        best = max(best, way.recall(16)[0])
        print(way.told(), flush=True)
        print(f"  {len(way.asked)} requests, {len(offer.tools)} and {len(way.tools)} tools, graph-tool-call {version}")
    assert offer.recall(16)[0] >= best
