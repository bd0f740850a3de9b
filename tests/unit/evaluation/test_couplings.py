"""Dependencies read from gold programs, and how feeds are held against them."""

import json
from pathlib import Path

import pytest

from domain.errors import BrokenInputError, UsageError
from domain.tool import Parameter, ToolDoc, make_tool_id
from evaluation.couplings import (
    FieldDependency,
    FunctionDocuments,
    compute_figures,
    count_verdicts,
    find_dependencies,
    judge_dependency,
    read_programs,
    read_verdicts,
)
from graph.links import FeedLink


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a = GET_x()\nGET_y(id=a.items[0].id)", ["GET_x items.id GET_y id"]),
        ('a = GET_x()\nGET_y(ids=",".join([i.id for i in a.items]))', ["GET_x items.id GET_y ids"]),
        ('a = GET_x()\nGET_y(id=[i.id for i in a.items if i.name == "n"][0])', ["GET_x items.id GET_y id"]),
        ('a = GET_x()\nGET_y(t=[{"uri": i.track.uri} for i in a.items])', ["GET_x items.track.uri GET_y t"]),
        ("a = GET_x()\nGET_y(ids=[p.id for p in i.artists for i in a.items])", ["GET_x items.artists.id GET_y ids"]),
        ("a = GET_x()\nGET_y(id=a.id))\nGET_z(id=a.id)", ["GET_x id GET_z id"]),
        ("GET_y(id=b.id)\nGET_y(id=1)\nGET_x()", []),
        ("a = GET_x()\nGET_y(a.id)", []),
    ],
    ids=[
        "place",
        "all",
        "one of",
        "objects",
        "loops in the wrong order",
        "a broken line",
        "no response",
        "by position",
    ],
)
def test_dependencies_of_a_program(program: str, expected: list[str]) -> None:
    found = [f"{one.source} {one.field} {one.target} {one.parameter}" for one in find_dependencies(program)]
    assert found == expected


def doc(method: str, path: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "s", f"{method} {path}"), category="c", toolset="s", api=path, function=path, method=method,
        url=f"https://s.example/v1{path}", parameters=parameters,
    )  # fmt: skip


SEARCH = doc("GET", "/search")
ALBUMS = doc("GET", "/artists/{id}/top-albums", Parameter(name="id", location="path"))
SAVE = doc("PUT", "/me/albums", Parameter(name="ids"), Parameter(name="body_ids", sent_as="ids"))
FUNCTIONS = FunctionDocuments([SEARCH, ALBUMS, SAVE])


def test_functions_are_found_by_their_names_whatever_their_paths_begin_with() -> None:
    assert FUNCTIONS.get("GET_artists__id__top_albums") is ALBUMS
    assert FUNCTIONS.get("GET_v1_me_albums") is None
    assert FUNCTIONS.get("PUT_me_albums") is SAVE


def test_a_feed_counts_by_its_field_and_under_the_name_that_is_sent() -> None:
    feeds = {SAVE.id: [FeedLink(SEARCH.id, SAVE.id, "albums.items[].id", "body_ids", 0.9)]}
    wanted = FieldDependency("GET_search", "albums.items.id", "PUT_me_albums", "ids")
    other = FieldDependency("GET_search", "items.id", "PUT_me_albums", "ids")
    lost = FieldDependency("GET_search", "id", "GET_lost", "id")
    judged = {one: judge_dependency(one, FUNCTIONS, feeds) for one in (wanted, other, lost)}
    assert [(one.known, one.fed, one.exact) for one in judged.values()] == [
        (True, True, True),
        (True, True, False),
        (False, False, False),
    ]
    edge = FieldDependency("GET_search", "albums.items[].id", "PUT_me_albums", "body_ids")
    assert count_verdicts({edge: "needed", lost: "wrong"}, FUNCTIONS, feeds) == {"needed": 1, "possible": 0, "wrong": 0}


def test_halves_are_by_row_and_what_is_in_both_counts_in_both(tmp_path: Path) -> None:
    rows = ["a = GET_x()\nGET_y(id=a.id)", "a = GET_x()\nGET_y(id=a.id)\nGET_z(id=a.id)"]
    for name, programs in (("train.jsonl", rows), ("valid.jsonl", [])):
        (tmp_path / name).write_text("".join(json.dumps({"output": one}) + "\n" for one in programs) + "{\n")
    programs, skipped = read_programs(tmp_path)
    judged = {one: judge_dependency(one, FUNCTIONS, {}) for program in programs for one in program.dependencies}
    assert {name: row["n"] for name, row in compute_figures(programs, judged).items()} == {
        "fitted": 1,
        "kept_back": 2,
        "overall": 2,
    }
    assert len(skipped) == 2
    with pytest.raises(UsageError, match=r"train\.jsonl is not there"):
        read_programs(tmp_path / "none")


def test_a_hundred_edges_were_judged() -> None:
    verdicts = read_verdicts(Path(__file__).parents[2] / "data" / "judged_couplings.jsonl")
    assert len(verdicts) == 100


def test_what_is_no_verdict_is_told(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(json.dumps({"source": "a", "field": "f", "target": "b", "parameter": "p", "verdict": "fine"}))
    with pytest.raises(BrokenInputError, match="'fine' is no verdict"):
        read_verdicts(path)
    with pytest.raises(UsageError):
        read_verdicts(tmp_path / "none")
