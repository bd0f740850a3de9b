"""Measured on the public data: binding arguments from the request, and replaying recorded calls."""

import gzip
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent.execution.replay import ReplayExecutor
from agent.policy.protocol import ArgumentsQuestion
from domain.tool import ToolDoc, make_tool_id
from domain.trajectory import RecordedCall
from graph.importers.jsonl import parse_recorded_call, parse_tool
from offline.slots.binding import bind
from tests.unit.agent.execution.test_replay import Kept

pytestmark = [pytest.mark.bench, pytest.mark.shared_data]


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path) as file:
        yield from map(orjson.loads, file)


def test_required_arguments_bound_from_the_request(shared_data: Path) -> None:
    """Share of recorded required values that stand literally in the request and are bound exactly so."""
    documents: defaultdict[str, list[ToolDoc]] = defaultdict(list)
    for line in _lines(shared_data / "toolbench" / "tools.jsonl.gz"):
        document = parse_tool(line)
        documents[document.function].append(document)
    counts: Counter[str] = Counter()
    for line in _lines(shared_data / "toolbench" / "trajectories.jsonl.gz"):
        for call in line["calls"]:
            named = documents.get(call["function"], [])
            if call["ok"] and isinstance(call["arguments"], dict) and len(named) == 1:
                counts += _compared(line["query"], named[0], call["arguments"])
    print(
        f"\nrequired arguments: {dict(counts)}; exact of those in the request: {counts['exact'] / counts['in request']:.3f}"
    )
    assert counts["exact"] > counts["in request"] / 2


def _compared(query: str, document: ToolDoc, recorded: dict[str, Any]) -> Counter[str]:
    found = bind(ArgumentsQuestion(query, document, ()))
    counts: Counter[str] = Counter()
    for parameter in document.required:
        value = str(recorded.get(parameter.name, "")).strip().lower()
        if value:
            here = value in query.lower()
            same = str(found.values.get(parameter.name, "")).strip().lower() == value
            counts.update(
                {"required": 1, "in request": here, "exact": here and same, "missing": parameter.name in found.missing}
            )
    return counts


async def test_replay_per_call(shared_data: Path) -> None:
    """Milliseconds a call with arguments that were never recorded, for the most recorded tools and for all."""
    calls: defaultdict[tuple[str, str], list[RecordedCall]] = defaultdict(list)
    for line in _lines(shared_data / "toolbench" / "calls.jsonl.gz"):
        call = parse_recorded_call(line)
        calls[call.toolset, call.function].append(call)
    document = ToolDoc(
        id=make_tool_id("Weather", "sky", "forecast"), category="", toolset="", api="forecast", function="forecast"
    )
    groups = sorted(calls.values(), key=len, reverse=True)
    for name, chosen in (("20 most recorded", groups[:20]), ("every 37th", groups[::37])):
        spent: list[float] = []
        for recorded in chosen:
            executor = ReplayExecutor(Kept(*recorded))
            started = time.perf_counter()
            result = await executor.call(document, {"text": "something that nobody recorded", "n": 7})
            spent.append(1_000 * (time.perf_counter() - started))
            assert result.note
        print(f"\nreplay, {name}: median {statistics.median(spent):.2f} ms, most {max(spent):.1f} ms")
