"""The lines of ``docs/files.md`` are read as it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.trajectory import RecordedOutcome, Trajectory
from evaluation.offer_requests import read_offer_requests
from evaluation.queries import read_queries
from graph.importers import jsonl
from graph.importers.records import RecordError

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "files.md"
TOOL, TRAJECTORY, CALL, NEEDED, QUERY = (
    json.loads(part.split("```")[0]) for part in DOCUMENT.read_text(encoding="utf-8").split("```json\n")[1:]
)


def test_a_tool() -> None:
    found = jsonl.parse_tool(TOOL)
    assert found.id == "Weather/Skyline/forecast"
    assert [(p.name, p.type, p.location, p.required, p.default) for p in found.parameters] == [
        ("city", "string", "path", True, None),
        ("days", "number", "query", False, 3),
    ]


def test_a_trajectory() -> None:
    found = jsonl.parse_trajectory(TRAJECTORY, "file")
    assert (found.finish, found.source, [call.function for call in found.path]) == (
        "give_answer",
        "file",
        [TOOL["function"]],
    )


def test_a_recorded_call() -> None:
    found = jsonl.parse_recorded_call(CALL)
    assert (found.function, found.outcome) == (TOOL["function"], RecordedOutcome.OK)


def test_a_request(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text(json.dumps(QUERY) + "\n")
    (found,), skipped = read_queries(file)
    assert (found.split, len(found.relevant), skipped) == ("mine", 1, [])


def walked(call: dict[str, Any]) -> Trajectory:
    return jsonl.parse_trajectory({**TRAJECTORY, "calls": [call]}, "")


def test_a_request_with_the_tools_that_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(json.dumps(NEEDED) + "\n")
    (found,), skipped = read_offer_requests(file)
    assert (found.id, found.relevant, found.group, skipped) == ("rain-1", ("Weather/Skyline/forecast",), "one tool", [])


@pytest.mark.parametrize(
    ("read", "line", "required"),
    [
        (jsonl.parse_tool, TOOL, ["category", "tool_name", "api_name", "function"]),
        (jsonl.parse_recorded_call, CALL, ["category", "tool_name", "api_name", "kind"]),
        (walked, TRAJECTORY["calls"][0], ["function"]),
    ],
)
def test_what_is_required_is_that_alone(read: Any, line: dict[str, Any], required: list[str]) -> None:
    assert read({name: line[name] for name in required})
    for name in required:
        with pytest.raises(RecordError, match=name):
            read({other: line[other] for other in line if other != name})
