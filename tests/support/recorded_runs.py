"""Keep what every run of the tests tells, to compare it with what the same runs tell after a change.

    python -m pytest -p tests.support.recorded_runs --record-runs=before tests/unit/agent tests/flows
    python -m tests.support.recorded_runs before after

Times, names that are drawn and the order of subtasks beside each other are left out. What differs between two recordings of the same
code is chance: name it as a third folder, ``python -m tests.support.recorded_runs before after before-again``, and it is not compared.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from pydantic.types import JsonValue

import agent.run
from domain.event import EventRecord

_HEX = re.compile(r"\b[0-9a-f]{12,40}\b")
_CHANCE = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"localhost:\d+"), "localhost:PORT"),
    (re.compile(r"/tmp/[\w./-]+"), "TMP"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*"), "TIME"),
    (re.compile(r"\d+(\.\d+)? (ms|s|seconds)\b"), "SECONDS"),
)
_TIMES = re.compile(r"seconds|latency|elapsed|duration|_ms$|^at$|^seq$|^run$")

_recorded: dict[str, list[dict[str, Any]]] = defaultdict(list)
_test = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-runs", default="", help="the folder that keeps what runs tell")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module has taken ``run`` by its name."""
    if config.getoption("--record-runs"):
        agent.run.run = _recording(agent.run.run)


def pytest_runtest_setup(item: pytest.Item) -> None:
    global _test  # pytest tells which test is at work in no other way
    _test = item.nodeid


def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.getoption("--record-runs")
    if folder and _recorded:
        Path(folder).mkdir(parents=True, exist_ok=True)
        worker = getattr(session.config, "workerinput", {}).get("workerid", "main")
        (Path(folder) / f"{worker}.json").write_text(json.dumps(_recorded, indent=0, sort_keys=True))


def _recording(run: Any) -> Any:
    @wraps(run)
    async def recorded(*args: Any, **kwargs: Any) -> AsyncGenerator[EventRecord]:
        stream: dict[str, Any] = {"events": [], "end": "closed"}
        _recorded[_test].append(stream)
        source = run(*args, **kwargs)
        try:
            async for record in source:
                stream["events"].append(record.model_dump(mode="json"))
                yield record
            stream["end"] = "over"
        except GeneratorExit:
            raise
        except BaseException as error:
            stream["end"] = type(error).__name__
            raise
        finally:
            await source.aclose()

    return recorded


def _read(folder: str) -> dict[str, list[Any]]:
    """Streams by test."""
    tests: dict[str, list[Any]] = {}
    for file in sorted(Path(folder).glob("*.json")):
        tests |= json.loads(file.read_text())
    return {test: [_comparable(stream) for stream in streams] for test, streams in tests.items()}


def _comparable(stream: dict[str, Any]) -> dict[str, Any]:
    """The stream without what chance decides: events by subtask."""
    lines: dict[int, list[str]] = defaultdict(list)
    for record in stream["events"]:
        if record["event"]["kind"] == "weights.learned":  # of what was learnt in other tests before
            continue
        text = json.dumps(_without_times(record["event"]), sort_keys=True)
        for pattern, word in _CHANCE:
            text = pattern.sub(word, text)
        lines[record["subtask"]].append(text)
    drawn: dict[str, str] = {}
    number = {
        subtask: [_HEX.sub(lambda one: drawn.setdefault(one[0], f"DRAWN{len(drawn)}"), text) for text in lines[subtask]]
        for subtask in sorted(lines)
    }
    return {"events": number, "end": stream["end"]}


def _without_times(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if not _TIMES.search(key)}
    if isinstance(value, list):
        return [_without_times(one) for one in value]
    return round(value, 3) if isinstance(value, float) else value  # vectors differ a little by the machine's load


def _compare(before: dict[str, list[Any]], after: dict[str, list[Any]], chance: set[str]) -> int:
    """Print every test whose streams differ, with the first event that does; how many there are."""
    compared = sorted(before.keys() & after.keys() - chance)
    different = [test for test in compared if before[test] != after[test]]
    for test in different:
        print(f"\n{test}")
        if len(before[test]) != len(after[test]):
            print(f"  {len(before[test])} runs, then {len(after[test])}")
        for old, new in zip(before[test], after[test], strict=False):
            _show(old, new)
    streams = sum(len(before[test]) for test in compared)
    print(f"\n{streams} runs of {len(compared)} tests compared, those of {len(different)} tests differ")
    print(f"{len(chance)} tests left to chance, {len(before.keys() - after.keys())} not run again")
    return len(different)


def _show(old: dict[str, Any], new: dict[str, Any]) -> None:
    if old["end"] != new["end"]:
        print(f"  ended {old['end']}, then {new['end']}")
    for subtask in sorted({*old["events"], *new["events"]}):
        one, other = old["events"].get(subtask, []), new["events"].get(subtask, [])
        if one != other:
            at = next((at for at, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1]), None)
            at = min(len(one), len(other)) if at is None else at
            print(f"  subtask {subtask}, event {at + 1} of {len(one)} / {len(other)}:")
            print(f"    before: {one[at][:1500] if at < len(one) else 'none'}")
            print(f"    after:  {other[at][:1500] if at < len(other) else 'none'}")
            return


if __name__ == "__main__":
    first, second, *third = map(_read, sys.argv[1:])
    drawn_lots = {test for again in third for test in first.keys() & again.keys() if first[test] != again[test]}
    sys.exit(bool(_compare(first, second, drawn_lots)))
