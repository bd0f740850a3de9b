"""The committed trajectories: the official layout, varied, and the same bytes when made anew."""

from collections import Counter
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from domain.trajectory import RecordedOutcome, Trajectory
from graph.importers.toolbench_trees import find_tree_files, parse_trajectory
from playground.demo_requests import demo_requests
from playground.record import ANSWERS, CATALOGUE, DATA, all_scenarios, catalogue_tools, recorded
from playground.worlds.geography import COUNTRIES, cities
from playground.worlds.library import books
from playground.worlds.scholars import papers

FILES = sorted(find_tree_files(DATA))
TOOLS = catalogue_tools(DATA / CATALOGUE)
FUNCTIONS = {doc.function for doc in TOOLS.values()}


def read(path: Path) -> dict[str, Any]:
    return orjson.loads(path.read_bytes())


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return [parse_trajectory(cast(Any, read(path)), path.stem) for path in FILES]


def test_there_are_five_hundred_and_more(trajectories: list[Trajectory]) -> None:
    assert len(trajectories) >= 500
    assert sum(path.stat().st_size for path in FILES) < 12_000_000
    assert len({one.query for one in trajectories}) > 0.95 * len(trajectories)


def test_every_file_has_the_official_keys() -> None:
    for path in FILES:
        record = read(path)
        assert record.keys() == {"win", "tree", "forward_args", "compare_candidates", "answer_generation"}
        assert record["answer_generation"].keys() >= {"query", "function", "final_answer", "finish_type", "valid_data"}
        called = {one["name"] for one in record["answer_generation"]["function"]}
        for node in nodes(record["tree"]["tree"]):
            assert node["node_type"] in {"Action", "Action Input", "Thought"}
            assert node["child_count"] == len(node["children"])
            if node["node_type"] == "Action":
                assert node["description"] in called
            elif node["node_type"] == "Action Input" and node["depth"]:
                assert isinstance(orjson.loads(node["description"]), dict)
                assert isinstance(orjson.loads(node["observation"]), dict)


def nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(found for child in node["children"] for found in nodes(child))]


def test_they_join_the_catalogue(trajectories: list[Trajectory]) -> None:
    assert {call.function for one in trajectories for call in one.attempts} == FUNCTIONS


def test_most_answer_and_some_give_up(trajectories: list[Trajectory]) -> None:
    endings = Counter(one.finish for one in trajectories)
    assert endings["give_up"] >= 5
    assert endings["give_answer"] == len(trajectories) - endings["give_up"]
    assert all(one.path for one in trajectories if one.finish == "give_answer")


def test_paths_are_of_several_lengths(trajectories: list[Trajectory]) -> None:
    lengths = Counter(len(one.path) for one in trajectories if one.path)
    assert set(lengths) == {1, 2, 3, 4, 5}
    assert sum(n for length, n in lengths.items() if length > 1) > 0.8 * sum(lengths.values())


def test_some_turn_back_from_a_failing_api(trajectories: list[Trajectory]) -> None:
    around = [
        one
        for one in trajectories
        if one.finish == "give_answer"
        and {call.outcome for call in one.attempts} & {RecordedOutcome.FAILED, RecordedOutcome.CALLER_FAULT}
    ]
    assert len(around) >= 10
    assert all(call.outcome is RecordedOutcome.OK for one in around for call in one.path)


def test_the_old_forecast_worked_more_often_than_it_failed(trajectories: list[Trajectory]) -> None:
    """So that the past speaks for it: the walk has to find out, and go around it."""
    calls = [call.outcome for one in trajectories for call in one.attempts if "meteo_classic" in call.function]
    assert Counter(calls)[RecordedOutcome.OK] > Counter(calls)[RecordedOutcome.FAILED] >= 6


def test_the_demo_asks_about_nothing_that_was_recorded(trajectories: list[Trajectory]) -> None:
    names = {city.name for city in cities()} | {country.name for country in COUNTRIES}
    names |= {paper.title for paper in papers()} | {book.title for book in books()}
    asked = {name for name in names for request in demo_requests() if name in request.request}
    assert len(asked) >= 5
    recorded_queries = {one.query for one in trajectories}
    assert not [(name, query) for name in asked for query in recorded_queries if name in query]


def test_making_them_anew_gives_the_same_bytes() -> None:
    """A sample of every kind of search; the script makes them all. What is left out leaves its number out, too."""
    scenarios = all_scenarios()
    numbers = {int(path.name.split("_")[0]) for path in FILES}
    assert numbers <= set(range(1, len(scenarios) + 1))
    sample = [number for number in sorted(numbers) if number % 17 == 1]
    made = [content for _, content in recorded([scenarios[number - 1] for number in sample], TOOLS)]
    for number, content in zip(sample, made, strict=True):
        assert (DATA / ANSWERS / f"{number}_playground_DFS_woFilter_w2.json").read_bytes() == content
