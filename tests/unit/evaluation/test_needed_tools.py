"""Labels that name calls, read in the form of each benchmark and joined with the tools of a store."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.tool import ToolDoc, make_tool_id
from evaluation.corpora.needed_tools import (
    BenchmarkRequest,
    Form,
    ResolvedLabels,
    ToolNameIndex,
    read_benchmark_requests,
    resolve_labels,
)

BASE = "https://api.example/v1"


def tool(api: str, route: str, method: str = "GET", category: str = "Music") -> ToolDoc:
    identity = make_tool_id(category, "Player", api)
    return ToolDoc(
        id=identity,
        category=category,
        toolset="Player",
        api=api,
        function=f"{api}_for_player",
        method=method,
        url=BASE + route,
    )


SEARCH, ALBUM, TRACKS = (
    tool("search", "/search"),
    tool("get-album", "/albums/{id}"),
    tool("album tracks", "/albums/{id}/tracks"),
)
MINE, SAVE = tool("my-search", "/me/search"), tool("save", "/me/albums", "PUT")
NAMES = ToolNameIndex([SEARCH, ALBUM, TRACKS, MINE, SAVE])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("GET /search", SEARCH),  # though /me/search ends so too
        ("GET_me_search", MINE),
        ("GET_albums__id_", ALBUM),
        ("GET /albums/{album_id}/tracks", TRACKS),
        ("PUT /me/albums", SAVE),
        ("album tracks", TRACKS),
        ("save_for_player", SAVE),
        (SAVE.id, SAVE),
        (make_tool_id("Another", "player", "get_album"), ALBUM),
    ],
)
def test_a_name_means_one_tool(name: str, meant: ToolDoc) -> None:
    assert NAMES.find(name) == {meant.id}


@pytest.mark.parametrize("name", ["PUT /search", "GET /albums", "GET /tracks", "GET /", "", "x"])
def test_other_names_mean_none(name: str) -> None:
    assert NAMES.find(name) == set()


def test_a_name_of_two_tools_is_of_neither() -> None:
    names = ToolNameIndex([SEARCH, tool("search", "/other", category="Films")])
    found = resolve_labels(
        [BenchmarkRequest("1", "q", ("search",)), BenchmarkRequest("2", "q", ("GET /search",))], names
    )
    assert [one.id for one in found.requests] == ["2"]
    assert found.unmatched == {"search": 1}


def test_what_is_left_out_is_told() -> None:
    cases = [
        BenchmarkRequest("1", "q", ("search", "GET /albums/{id}", "search")),
        BenchmarkRequest("2", "q", ("nothing", "search")),
        BenchmarkRequest("3", "q", ()),
        BenchmarkRequest("4", "q", ("search",), left_out="cannot be answered"),
        BenchmarkRequest("5", "q", ("a/b/c",), group="g", certain=True),
    ]
    found = resolve_labels(cases, NAMES)
    assert [(one.id, one.relevant, one.group) for one in found.requests] == [
        ("1", (SEARCH.id, ALBUM.id), "two tools"),
        ("5", ("a/b/c",), "g"),
    ]
    assert found.unmatched == {"nothing": 1, "a/b/c": 1}
    assert found.left_out == {"a name without one tool": 1, "no recorded call": 1, "cannot be answered": 1}


CODE = "a = GET_search(q='x')\nb = [GET_albums__id_(id=i.id) for i in a.items if]\nPUT_me_albums(ids=GET_search(q='y'))"
RECORDS: dict[Form, dict[str, Any]] = {
    "restbench": {"query": "q", "solution": ["GET /search", "GET /albums/{id}", "PUT /me/albums"]},
    "graphqlrestbench": {"domain": "player", "utterance": "q", "output": CODE},
    "nestful": {"input": "q", "output": [{"name": "search"}, {"name": "get-album"}, {"name": "save"}, {"name": "var_result"}]},
    "playground": {"id": "own", "request": "q", "calls": [{"operation": "search"}, {"operation": "get-album"}, {"operation": "save"}]},
    "queries_dev": {
        "split": "G2_category", "query": "q",
        "relevant": [{"category": "Music", "tool": "Player", "api": api} for api in ("search", "Get-Album", "save")],
    },
}  # fmt: skip


@pytest.mark.parametrize("form", list(RECORDS))
def test_each_benchmark_is_read_in_its_form(form: Form, tmp_path: Path) -> None:
    found = made(form, tmp_path, RECORDS[form])
    (one,) = found.requests
    assert (one.query, one.relevant, found.unmatched, found.left_out) == ("q", (SEARCH.id, ALBUM.id, SAVE.id), {}, {})
    groups = {"graphqlrestbench": "file", "playground": "file", "queries_dev": "I2"}
    assert one.group == groups.get(form, "three tools")
    assert one.id == ("own" if form == "playground" else "file-1")


def test_a_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps({**RECORDS["graphqlrestbench"], "domain": name}) for name in ("films", "player"))
    )
    assert [case.id for case in read_benchmark_requests("graphqlrestbench", [path], "player")] == ["file-2"]


def test_the_playground_tells_what_cannot_stand_alone(tmp_path: Path) -> None:
    asked = RECORDS["playground"]
    conversation = {"id": "talk", "turns": [asked]}
    nowhere: dict[str, Any] = {**asked, "calls": [], "answerable": False}
    found = made("playground", tmp_path, {**asked, "before": ["And?"]}, nowhere, conversation)
    assert found.left_out == {"asked within a conversation": 2, "cannot be answered": 1}


def made(form: Form, folder: Path, *records: dict[str, Any]) -> ResolvedLabels:
    path = folder / "file.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return resolve_labels(read_benchmark_requests(form, [path]), NAMES)
