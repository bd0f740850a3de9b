"""``scripts/evaluate.py`` on a small store, as a user runs it."""

import asyncio
import importlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from domain.tool import FINISH, ToolDoc, make_tool_id
from graph.facts import GraphBatch
from retriever.indexing import index_tools
from tests.support import forked_commands
from wiring.container import open_container
from wiring.settings import Settings

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "evaluate.py"
MEASURES = {
    "n", "ndcg@1", "ndcg@5", "ndcg@5 lenient (ToolGen)", "recall@5", "recall@10", "comp@5", "mrr", "intervals",
}  # fmt: skip


def document(toolset: str, api: str, description: str) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", toolset, api),
        category="c",
        toolset=toolset,
        api=api,
        function=api,
        description=description,
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
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate") / "store"
    asyncio.run(_build(folder))
    return folder


def evaluate(store: Path, queries: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "retrieval", "--store", str(store), "--queries", str(queries), *more]
    return forked_commands.run(command, timeout=60)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPT.parent), *sys.path])


def invoke(store: Path, *more: object) -> Result:
    """The same command in this process, which has read its libraries already."""
    app = importlib.import_module("evaluate").app
    return CliRunner().invoke(app, ["retrieval", "--store", str(store), *map(str, more)])


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_one_json_object(store: Path, tmp_path: Path) -> None:
    trained = write(tmp_path / "trained.jsonl", orjson.dumps(query("s", "money", "Bank", "Rates")))
    queries = write(tmp_path / "q.jsonl", *map(orjson.dumps, QUERIES))
    done = evaluate(store, queries, "--trained-on", str(trained), "--json")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert list(found["rows"]) == ["bm25", "dense", "fused", "reranked"]
    served = found["rows"]["reranked"]
    for name in ("groups", "splits", "seen", "unseen", "model", "seconds"):
        assert found[name] == served[name]
    fused = found["rows"]["fused"]
    assert set(fused["groups"]) == {"I1", "I3", "all"}
    assert set(fused["groups"]["I1"]) == MEASURES
    assert fused["groups"]["I1"]["ndcg@1"] == 1
    assert fused["groups"]["I3"]["ndcg@1"] == 0.5
    assert (found["missing"], found["relevant"], found["relevant_unseen"]) == (1, 3, 1)
    assert set(fused["seen"]) == {"I1", "I3", "all"}  # one was walked, one trained on
    assert fused["unseen"]["I3"]["n"] == fused["zero_shot"]["all"]["n"] == 1
    assert "minilm" in fused["model"]
    assert fused["against"]["row"] == "bm25"
    assert "against" not in found["rows"]["bm25"]


def test_for_people_and_a_broken_line(store: Path, tmp_path: Path) -> None:
    queries = write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]), *[b"{broken"] * 22)
    done = evaluate(store, queries, "--rows", "dense,bm25")
    assert done.returncode == 1
    assert "q.jsonl:2" in done.stderr
    assert "q.jsonl:22" not in done.stderr, "the first twenty are named"
    assert "skipped 2 more" in done.stderr
    assert "ndcg@1" in done.stdout
    assert "less dense" in done.stdout
    assert "fused" not in done.stdout


@pytest.mark.usefixtures("scripts")
def test_rows_of_another_store(store: Path, tmp_path: Path) -> None:
    """The same store under another name: the rows repeat, and differ by nothing."""
    copy = tmp_path / "base"
    shutil.copytree(store, copy)
    queries = write(tmp_path / "q.jsonl", *map(orjson.dumps, QUERIES))
    chosen = write(tmp_path / "base.env", b"FOOTPATH_ENCODER_THREADS=1\nFOOTPATH_ENCODER_FOLDR=mine")
    more = ("--queries", queries, "--rows", "fused", "--against", copy, "--against-settings", chosen, "--json")
    done = invoke(store, *more)
    assert done.exit_code == 0, done.stderr
    assert "FOOTPATH_ENCODER_FOLDR is no setting" in done.stderr
    rows = orjson.loads(done.stdout)["rows"]
    assert list(rows) == ["fused", "fused, base"]
    assert rows["fused, base"]["against"]["groups"]["all"]["ndcg@1"] == 0
    chosen.write_bytes(b"FOOTPATH_RERANK=false")
    done = invoke(store, "--queries", queries, "--rows", "fused,reranked", *more[4:])
    assert list(orjson.loads(done.stdout)["rows"]) == ["fused", "reranked", "fused, base"]
    assert "no row reranked, base" in done.stderr
    chosen.write_bytes(b"FOOTPATH_ENCODER_THREADS=none")
    done = invoke(store, *more)
    assert done.exit_code == 2
    assert "FOOTPATH_ENCODER_THREADS" in done.stderr


@pytest.mark.usefixtures("scripts")
def test_requests_of_trajectories(store: Path, tmp_path: Path) -> None:
    call = {"category": "c", "tool_name": "Sky Net", "function": "Forecast", "ok": True}
    body = {"id": "t", "source": "s", "query": "will it rain", "finish": "give_answer", "calls": [call]}
    done = invoke(store, "--trajectories", write(tmp_path / "t.jsonl", orjson.dumps(body), b"{broken"), "--json")
    assert done.exit_code == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert found["requests"] == 1
    assert list(found["rows"]["fused"]["splits"]) == ["one tool set"]
    assert "t.jsonl:2" in done.stderr
    others = write(tmp_path / "others.jsonl", orjson.dumps({**body, "calls": [{**call, "function": "another"}]}))
    done = invoke(store, "--trajectories", others)
    assert (done.exit_code, "none of the 1 trajectories" in done.stderr) == (2, True)


@pytest.mark.usefixtures("scripts")
def test_errors_to_read(store: Path, tmp_path: Path) -> None:
    """What the first tool of the last row is wrong for, and nothing else."""
    wrong = query("G1_tool", "weather forecast for a city", "Bank", "Rates")
    queries = write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]), orjson.dumps(wrong))
    done = invoke(store, "--queries", queries, "--rows", "fused", "--errors", 5, "--out", tmp_path / "wrong.jsonl")
    assert done.exit_code == 0, done.stderr
    (line,) = (tmp_path / "wrong.jsonl").read_bytes().splitlines()
    told = orjson.loads(line)
    assert told["found"][0]["id"] == DOCUMENTS[0].id
    assert told["relevant"][0]["document"] == DOCUMENTS[2].id
    assert "weather forecast for a city" in (tmp_path / "wrong.md").read_text(encoding="utf-8")
    assert "wrong.md" in done.stderr


@pytest.mark.usefixtures("scripts")
def test_an_interruption_tells_what_was_scored(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during the third request: the first two are told."""
    command: Any = importlib.import_module("_evaluate_retrieval")
    ranked = command.rank_all

    async def interrupted(queries: list[Any], searches: Any, into: Any, **_: Any) -> None:
        await ranked(queries[:2], searches, into)
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(command, "rank_all", interrupted)
    done = invoke(store, "--queries", write(tmp_path / "q.jsonl", *map(orjson.dumps, QUERIES)), "--json")
    assert done.exit_code == 130
    told = orjson.loads(done.stdout)
    assert told["stopped"] is True
    assert {row["groups"]["all"]["n"] for row in told["rows"].values()} == {2}


@pytest.mark.usefixtures("scripts")
def test_wrong_use(store: Path, tmp_path: Path) -> None:
    queries = write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]))
    done = invoke(store, "--queries", queries, "--rows", "bm25,best")
    assert done.exit_code == 2
    assert "no row is called best; there are: bm25" in done.stderr
    done = invoke(store, "--queries", queries, "--trajectories", queries)
    assert done.exit_code == 2
    assert "either --queries or --trajectories" in done.stderr
    assert "--errors and --out go together" in invoke(store, "--queries", queries, "--errors", 3).stderr


def test_no_store_and_no_file(store: Path, tmp_path: Path) -> None:
    queries = write(tmp_path / "q.jsonl", orjson.dumps(QUERIES[0]))
    done = evaluate(tmp_path / "none", queries, "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "holds no Footpath store" in done.stderr
    assert evaluate(store, tmp_path / "none.jsonl").returncode == 2
