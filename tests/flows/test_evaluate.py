"""``scripts/evaluate.py`` on a small store, as a user runs it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from domain.tool import FINISH, ToolDoc, tool_id
from graph.facts import GraphBatch
from retriever.indexing import index_tools
from wiring.container import open_container
from wiring.settings import Settings

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "evaluate.py"
MEASURES = {"n", "ndcg@1", "ndcg@5", "recall@5", "recall@10", "comp@5", "mrr"}


def document(toolset: str, api: str, description: str) -> ToolDoc:
    return ToolDoc(
        id=tool_id("c", toolset, api), category="c", toolset=toolset, api=api, function=api, description=description
    )


DOCUMENTS = [
    document("Sky Net", "Forecast", "weather forecast for a city"),
    document("Sky Net", "Air", "air quality of a city"),
    document("Bank", "Rates", "exchange rates between currencies"),
]


def query(split: str, text: str, tool: str, api: str) -> dict[str, object]:
    return {"split": split, "query": text, "relevant": [{"category": "c", "tool": tool, "api": api}]}


QUERIES = [
    query("G1_tool", "Will it rain in Rome? Show me the weather forecast.", "sky_net", "forecast"),
    query("G3_instruction", "How many euros are 100 dollars at today's exchange rates?", "Bank", "Rates"),
    query("G3_instruction", "Order a pizza for me, please.", "Pizza", "Order"),
]


async def _build(folder: Path) -> None:
    async with open_container(Settings(store=folder), create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        batch = GraphBatch("k")
        batch.transitions.update({(DOCUMENTS[0].id, FINISH): 1})
        await container.graph.apply(batch)
        await index_tools(container.graph.documents(), *await container.retrieval())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate") / "store"
    asyncio.run(_build(folder))
    return folder


def evaluate(store: Path, queries: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "retrieval", "--store", str(store), "--queries", str(queries), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_one_json_object(store: Path, tmp_path: Path) -> None:
    done = evaluate(store, write(tmp_path / "q.jsonl", *map(orjson.dumps, QUERIES)), "--json")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert set(found["groups"]) == {"I1", "I3"}
    assert set(found["groups"]["I1"]) == MEASURES
    assert found["groups"]["I1"]["ndcg@1"] == 1
    assert found["groups"]["I3"]["ndcg@1"] == 0.5
    assert (found["missing"], found["relevant"]) == (1, 3)
    assert set(found["seen"]) == {"I1"}
    assert found["unseen"]["I3"]["n"] == 2
    assert "MiniLM" in found["model"]


def test_for_people_and_a_broken_line(store: Path, tmp_path: Path) -> None:
    done = evaluate(store, write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]), b"{broken"))
    assert done.returncode == 1
    assert "q.jsonl:2" in done.stderr
    assert "ndcg@1" in done.stdout


def test_no_store_and_no_file(store: Path, tmp_path: Path) -> None:
    queries = write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]))
    done = evaluate(tmp_path / "none", queries, "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "holds no Footpath store" in done.stderr
    assert evaluate(store, tmp_path / "none.jsonl").returncode == 2
