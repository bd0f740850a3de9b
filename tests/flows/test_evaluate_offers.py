"""``scripts/evaluate.py offers`` on a small store, as a user runs it."""

import asyncio
import importlib
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from domain.tool import FINISH, ToolDoc, make_tool_id
from domain.trajectory import SolvedRequest
from evaluation.graph_variants import Edges
from graph.facts import GraphBatch
from retriever.indexing import index_tools
from wiring.container import open_container
from wiring.measured_searches import prepare_measurement
from wiring.settings import Settings

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ROW = {"n", "all@8", "all@16", "all@24", "recall@8", "recall@16", "recall@24", "tokens@16"}


def document(api: str, description: str) -> ToolDoc:
    identity = make_tool_id("c", "Sky Net", api)
    return ToolDoc(id=identity, category="c", toolset="Sky Net", api=api, function=api, description=description)


FORECAST = document("Forecast", "weather forecast for a city")
AIR = document("Air", "air quality of a city")
OTHERS = [document(f"Rates{n}", f"exchange rates of bank {n}") for n in range(30)]
QUERY = "Will it rain in Rome? Show me the weather forecast."


def line(name: str, query: str, *relevant: str, group: str = "g") -> bytes:
    return orjson.dumps({"id": name, "query": query, "relevant": relevant, "group": group})


LINES = [
    line("1", QUERY, FORECAST.id, group="one"),
    line("2", "How is the air in Rome, and the weather forecast?", FORECAST.id, AIR.id),
    line("3", "Order a pizza for me, please.", "c/Pizza/Order"),
]


async def _build(folder: Path) -> None:
    async with open_container(Settings(store=folder), create=True) as container:
        await container.graph.put_tools([FORECAST, AIR, *OTHERS])
        await container.graph.apply(
            GraphBatch("k", Counter({(OTHERS[7].id, FORECAST.id): 9, (FORECAST.id, FINISH): 9}))
        )
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
        memory = await container.memory()
        await memory.keep_shared([SolvedRequest(request=QUERY, path=(OTHERS[9].id,))])
        await memory.embed()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offers") / "store"
    asyncio.run(_build(folder))
    return folder


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b"\n".join(LINES))
    return path


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])


def offers(store: Path, queries: Path, *more: object) -> Result:
    app = importlib.import_module("evaluate").app
    return CliRunner().invoke(app, ["offers", "--store", str(store), "--queries", str(queries), *map(str, more)])


def told(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    return orjson.loads(done.stdout)


def test_one_json_object(store: Path, queries: Path) -> None:
    found = told(offers(store, queries, "--json"))
    assert set(found["groups"]) == {"one", "g"}
    assert all(set(row) == ROW for row in (*found["groups"].values(), found["overall"], found["exact"]["overall"]))
    assert found["groups"]["one"]["all@8"] == 1
    assert found["overall"]["n"] == 3
    assert found["overall"]["all@8"] == pytest.approx(2 / 3)
    assert found["seconds_p50"] > 0
    assert found["intervals"]["overall"]["all@8"][1] == 1
    assert found["retrieval"]["overall"]["n"] == found["retrieval"]["difference"]["overall"]["n"] == 3
    assert (found["edges"], found["precedents"], found["skipped"], found["stopped"]) == ("real", True, [], False)
    assert found["unknown"] == {"c/Pizza/Order": 1}
    assert found["remembered_requests"] == 1
    assert found["evidence"]["a relevant API walked"]["n"] == 2
    assert found["retrieval"]["difference"]["evidence"]["no relevant API walked"]["n"] == 1
    assert found["places"]["3"] == {"c/Pizza/Order": None}


def test_for_people_with_what_is_missing_and_a_broken_line(store: Path, queries: Path) -> None:
    queries.write_bytes(b"\n".join([*LINES, b"{"]))
    done = offers(store, queries)
    assert done.exit_code == 1
    assert "q.jsonl:4" in done.stderr
    assert "no document: c/Pizza/Order, needed by 1 requests" in done.stderr
    assert "retrieval alone" in done.stdout
    assert "all@16" in done.stdout


def test_halves_are_of_the_lines_of_the_file(store: Path, queries: Path) -> None:
    assert list(told(offers(store, queries, "--lines", "odd", "--json"))["requests"]) == ["1", "3"]
    assert list(told(offers(store, queries, "--lines", "even", "--json"))["requests"]) == ["2"]


def test_against_another_evaluation(store: Path, queries: Path, tmp_path: Path) -> None:
    other = tmp_path / "none.json"
    other.write_text(offers(store, queries, "--edges", "none", "--json").stdout)
    found = told(offers(store, queries, "--against", other, "--json"))
    assert found["against"]["overall"]["n"] == 3
    assert found["against"]["overall"]["all@24"]["difference"] == 0
    assert offers(store, queries, "--against", queries).exit_code == 2


def test_an_interruption_tells_what_was_measured(store: Path, queries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during the third request: the first two are told."""
    command: Any = importlib.import_module("_evaluate_offers")
    measured = command.measure_all

    async def interrupted(requests: Any, *more: Any) -> None:
        await measured(list(requests)[:2], *more)
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(command, "measure_all", interrupted)
    done = offers(store, queries, "--json")
    assert done.exit_code == 130
    found = orjson.loads(done.stdout)
    assert (found["stopped"], found["overall"]["n"], found["retrieval"]["overall"]["n"]) == (True, 2, 2)


def test_wrong_use(store: Path, queries: Path, tmp_path: Path) -> None:
    assert offers(store, tmp_path / "none.jsonl").exit_code == 2
    assert offers(tmp_path / "no store", queries).exit_code == 3


def test_request_files_are_made_from_labels(store: Path, tmp_path: Path) -> None:
    """What is made is measured; what means no tool is named, with how many requests name it, and left out."""
    labels, out = tmp_path / "labels.jsonl", tmp_path / "made" / "q.jsonl"
    asked = [
        {"id": "a", "request": QUERY, "calls": [{"operation": "Forecast"}], "expect": {"texts": ["rain"]}},
        {"id": "b", "request": "Fly me there.", "calls": [{"operation": "Fly"}], "expect": {"texts": ["there"]}},
    ]
    labels.write_bytes(b"\n".join(map(orjson.dumps, asked)))
    script = importlib.import_module("make_offer_requests")
    app = Typer()
    app.command()(script.main)
    done = CliRunner().invoke(app, ["playground", "--requests", str(labels), "--out", str(out), "--store", str(store)])
    assert done.exit_code == 1
    assert "1 requests in" in done.stderr
    assert "left out: 1 (a name without one tool)" in done.stderr
    assert "by the name Fly, in 1 requests" in done.stderr
    assert told(offers(store, out, "--json"))["groups"]["labels"]["all@8"] == 1
    done = CliRunner().invoke(app, ["restbench", "--out", str(out), "--store", str(store)])
    assert (done.exit_code, "give --requests" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("edges", "precedents", "walked"),
    [("real", True, True), ("real", False, True), ("none", True, False), ("coupling", True, False)],
)
async def test_what_is_switched_off_is_off_for_the_search_too(
    store: Path, edges: Edges, precedents: bool, walked: bool
) -> None:
    """The re-ranker reads transitions and requests alike by the same object that is switched; that of the same request it never sees."""
    async with open_container(Settings(store=store)) as container:
        on = await prepare_measurement(container, edges, precedents=precedents)
        on.experience.begin_request("Is it going to rain in Rome?")
        (vector,) = await (await container.embedder()).embed(["rain in Rome"], "query")
        assert bool(await on.experience.find_transitions([FORECAST.id])) == walked
        assert bool(await on.experience.find_precedents(vector, 4)) == precedents
        offered: Any = await on.offers("Is it going to rain in Rome?", 24)
        kinds = {reason.kind for tool in offered for reason in tool.reasons}
        assert ("walked" in kinds, "served" in kinds) == (walked, precedents)
        on.experience.begin_request(QUERY)
        assert not await on.experience.find_precedents(vector, 4)
        assert on.experience.met == ({QUERY} if precedents else set())
