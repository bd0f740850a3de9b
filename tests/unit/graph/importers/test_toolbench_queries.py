"""ToolBench's ``instruction/G*_query.json``: the APIs of many requests, each once, however long the file."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolDoc
from graph.importers.json_arrays import read_items
from graph.importers.records import RecordError, SkippedInput
from graph.input_files import read_tools


def api(name: str, **given: Any) -> dict[str, Any]:
    return {"category_name": "Logistics", "tool_name": "SQUAKE", "api_name": name, **given}


def written(path: Path, *records: Any, indent: int | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(list(records), indent=indent), encoding="utf-8")
    return path


def request(*apis: Any) -> dict[str, Any]:
    return {"api_list": list(apis), "query": "Check the health", "relevant APIs": [], "query_id": 1}


CITY = {"name": "city", "type": "STRING", "description": "A city", "default": ""}


def test_the_apis_of_all_requests_are_read_once_and_merged(tmp_path: Path) -> None:
    bare = api("Health", api_description=" ", required_parameters=[], optional_parameters=[])
    full = api("Health", api_description="Is it up?", method="POST", required_parameters=[CITY],
        template_response={"ok": "bool", "ids": ["list of int with length 5"], "rows": [{"at": "float", "_list_length": 2}], "x": "NoneType"})  # fmt: skip
    written(tmp_path / "instruction" / "G1_query.json", request(bare, api("Projects", method="GET")), indent=4)
    written(tmp_path / "instruction" / "G2_query.json", request(api("Projects", method="PUT"), full))
    for folder in (tmp_path / "instruction", tmp_path):
        health, projects = read_tools(folder)
        assert isinstance(health, ToolDoc)
        assert isinstance(projects, ToolDoc)
        assert (health.id, health.method, health.description, health.url) == (
            "Logistics/SQUAKE/Health", "POST", "Is it up?", "",
        )  # fmt: skip
        assert [(one.name, one.required, one.location) for one in health.parameters] == [("city", True, "body")]
        assert json.loads(health.response_schema or "") == {
            "type": "object",
            "properties": {
                "ok": {"type": "boolean"},
                "ids": {"type": "array", "items": {"type": "integer"}},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "number"}}}},
                "x": {"type": "null"},
            },
        }
        assert (projects.method, projects.source) == ("GET", "toolbench")


def test_what_is_broken_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "queries.json", request(api("a")), 7, request(api(""), 8, api("b")), {"query": "none"})
    *told, first, second = read_tools(path)
    assert [one.api for one in (first, second) if isinstance(one, ToolDoc)] == ["a", "b"]
    assert [one.reason.split(":")[0] for one in told if isinstance(one, SkippedInput)] == [
        "request 2",
        "request 3",
        "request 3",
    ]
    cut = tmp_path / "G1_query.json"
    cut.write_text(path.read_text(encoding="utf-8")[:-10], encoding="utf-8")
    told, *tools = read_tools(cut)
    reasons = [one.reason for one in (told, *tools) if isinstance(one, SkippedInput)]
    assert any("the 3 requests before it were read" in reason for reason in reasons)


@pytest.mark.parametrize("text", ['[1, "a,]\\"", {"b": [2]}, 3.25]', '\ufeff [ 1 ,\n"a,]\\"",{"b":[2]},3.25 ] '])
def test_items_of_an_array(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert list(read_items(path)) == [1, 'a,]"', {"b": [2]}, 3.25]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no JSON array"),
        (b"{}", "no JSON array"),
        (b"[1 2]", "comma is missing"),
        (b"[1", "item 1 is not JSON"),
        (b"[1,", "cut off"),
        (b"[1, nonsense]", "item 2 is not JSON"),
        (b'["\xff"]', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_array_is_said(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=why):
        list(read_items(path))


def test_a_long_file_takes_the_memory_of_its_items_and_long_items_are_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "G1_query.json", *(request(api("é" * 200_000, n=n)) for n in range(60)))
    assert path.stat().st_size > 60_000_000
    tracemalloc.start()
    assert sum(1 for _ in read_items(path)) == 60
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_the_official_example(shared_data: Path) -> None:
    found = list(read_tools(shared_data / "toolbench" / "official" / "data_example" / "instruction"))
    assert len(found) == 26
    assert all(isinstance(one, ToolDoc) for one in found)
