"""The graph against a plain count of the public data, written from its description alone: none of our code counts here."""

import gzip
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from domain.tool import FINISH, ToolId
from graph.backends.sqlite_graph import SqliteGraph
from graph.weights import WeightParameters, compute_transition_weights
from tests.support import forked_commands

pytestmark = pytest.mark.shared_data
ROOT = Path(__file__).resolve().parents[2]
Edges = Counter[tuple[str, str]]


def build(store: Path, *options: str | Path) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "scripts" / "build_graph.py"), "--store", str(store), "--no-embed", "--json"]
    done = forked_commands.run([*command, *map(str, options)], timeout=190)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def read(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def node_of(call: dict[str, Any], by_function: dict[str, list[tuple[str, str, str]]]) -> str:
    """The node of a call, by function alone where that is enough, else by what the call says of its place."""
    place = (call.get("category"), call.get("tool_name"))
    found = by_function.get(call["function"], [])
    if len(found) > 1:
        found = [tool for tool in found if place[0] in (None, tool[0]) and place[1] in (None, tool[1])]
    if len(found) == 1:
        return "/".join(quote(part, safe="") for part in found[0])
    category, toolset = (quote(part or "", safe="") for part in place)
    return f"?{category}/{toolset}/{quote(call['function'], safe='')}"


def plain_edges(steps: list[tuple[str, str, bool]]) -> Edges | None:
    """Transitions of one trajectory's raw calls (function, node, failed); None where it is dropped."""
    if not steps or len(steps) > 8:
        return None
    good = [node for function, node, failed in steps if not failed and function != "ask_to_user"]
    path = [node for place, node in enumerate(good) if node not in good[place + 1 :]]
    return Counter(zip(path, [*path[1:], "Finish"], strict=True)) if path else None


async def stored_edges(store: Path, nodes: set[str]) -> Edges:
    """What the store holds, with the weights out of every node adding up to one on the way."""
    graph, edges = SqliteGraph(store / "graph.db"), Edges()
    await graph.setup()
    for node in nodes - {FINISH}:
        neighbours = await graph.get_out_edges(ToolId(node))
        edges.update({(node, n.edge.target): n.edge.imported for n in neighbours})
        weights = [weighted.weight for weighted in compute_transition_weights(neighbours, WeightParameters())]
        assert not weights or math.isclose(sum(weights), 1, abs_tol=1e-12)
    facts = await graph.compute_statistics()
    await graph.close()
    assert facts.transitions + facts.finish_transitions == len(edges)
    return edges


@pytest.mark.timeout(300)
async def test_the_public_trajectories(shared_data: Path, tmp_path: Path) -> None:
    data = shared_data / "toolbench"
    by_function: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for tool in read(data / "tools.jsonl.gz"):
        by_function[tool["function"]].append((tool["category"], tool["tool_name"], tool["api_name"]))
    edges, kept, evidence, joined, total = Edges(), 0, Counter[tuple[str, bool]](), 0, 0
    for record in read(data / "trajectories.jsonl.gz"):
        calls = [(call["function"], node_of(call, by_function), call["ok"]) for call in record["calls"]]
        total += len(calls)
        joined += sum(function in by_function for function, _, _ in calls)
        evidence.update((node, ok) for _, node, ok in calls if ok is not None)
        if record["finish"] in ("give_answer", "other"):
            found = plain_edges([(function, node, ok is False) for function, node, ok in calls])
            edges.update(found or {})
            kept += found is not None
    assert round(joined / total, 3) == 0.946  # As the description of the data says.

    summary = build(
        tmp_path / "store", "--tools", data / "tools.jsonl.gz", "--trajectories", data / "trajectories.jsonl.gz"
    )
    stored = await stored_edges(tmp_path / "store", {node for edge in edges for node in edge})
    assert stored == edges
    assert (summary["tools"], summary["trajectories"]["read"], summary["trajectories"]["kept"]) == (45_113, 6_263, kept)
    assert summary["transitions"] == sum(target != "Finish" for _, target in edges)
    assert summary["calls"]["read"] == total
    assert summary["calls"]["unresolved"] == total - joined
    assert summary["calls"]["known"] == evidence.total()
    assert summary["calls"]["ok"] == sum(n for (_, ok), n in evidence.items() if ok)
    await same_evidence(tmp_path / "store", evidence)


async def same_evidence(store: Path, evidence: Counter[tuple[str, bool]]) -> None:
    graph = SqliteGraph(store / "graph.db")
    await graph.setup()
    facts = await graph.get_facts({ToolId(node) for node, _ in evidence})
    await graph.close()
    assert {node: (f.calls, f.successes) for node, f in facts.items()} == {
        node: (evidence[node, True] + evidence[node, False], evidence[node, True]) for node, _ in evidence
    }


def leaves(node: dict[str, Any], branch: list[tuple[str, int]], name: str | None) -> Iterator[list[tuple[str, int]]]:
    """Every branch of a search tree as (function, code), by recursion."""
    if node["node_type"] == "Action":
        name = node["description"]
    elif node["node_type"] == "Action Input" and name:
        branch, name = [*branch, (name, node["observation_code"])], None
    if not node["children"]:
        yield branch
    for child in node["children"]:
        yield from leaves(child, branch, name)


async def test_the_official_example(shared_data: Path, tmp_path: Path) -> None:
    data = shared_data / "toolbench" / "official" / "data_example"
    edges, read_calls, ends = Edges(), 0, Counter[bool]()
    catalogue = {tool["function"]: tool for tool in read(shared_data / "toolbench" / "tools.jsonl.gz")}
    example = {
        (file.parent.name, record["tool_name"], api["name"])
        for file in data.glob("toolenv/tools/*/*.json")
        for record in [json.loads(file.read_bytes())]
        for api in record["api_list"]
    }
    for file in data.glob("answer/*/*.json"):
        record = json.loads(file.read_bytes())
        branches = list(leaves(record["tree"]["tree"], [], None))
        # Branches share their beginnings: a call node is told by the calls above it and its place among its siblings.
        read_calls += json.dumps(record["tree"]).count('"observation_code": ') - sum(
            branch[-1:] != [] and branch[-1][0] == "Finish" for branch in branches
        )
        won = [branch for branch in branches if branch and branch[-1] == ("Finish", 3)]
        ends[bool(won)] += 1
        for branch in won[:1]:
            steps: list[tuple[str, str, bool]] = []
            for function, code in branch[:-1]:
                tool = catalogue.get(function)
                place = (tool["category"], tool["tool_name"], tool["api_name"]) if tool else None
                found = {function: [place]} if place in example else {}
                steps.append((function, node_of({"function": function}, found), code != 0))
            edges.update(plain_edges(steps) or {})
    summary = build(tmp_path / "store", "--tools", data, "--trajectories", data)
    assert (summary["trajectories"]["read"], summary["trajectories"]["kept"]) == (ends.total(), ends[True])
    assert summary["calls"]["read"] == read_calls
    assert await stored_edges(tmp_path / "store", {node for edge in edges for node in edge}) == edges
