"""The committed requests: so many of each kind, about nothing that a trajectory mentions, in nobody else's words."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.trajectory import Trajectory
from evaluation.correctness import find_absent_from_answer
from evaluation.evaluation_cases import HELD_OUT, EvaluationCase, read_evaluation_cases
from graph.importers.toolbench_trees import find_tree_files, parse_trajectory
from playground.record import CATALOGUE, DATA, catalogue_tools
from playground.reserved import kept_in

REQUESTS = Path(__file__).parents[3] / "playground" / "requests"
BY_LENGTH = {"one": 17, "two": 17, "three": 16, HELD_OUT: 10, "unanswerable": 8}
BY_SHAPE = {"branching": 14, "failing": 12, "double": 14}
COUNTS = BY_LENGTH | BY_SHAPE
MOST_CALLS = 5
ASKED = read_evaluation_cases(REQUESTS / f"{group}.jsonl" for group in COUNTS)
ANSWERABLE = [one for one in ASKED if one.answerable]
TOOLS = catalogue_tools(DATA / CATALOGUE)
SHARED_WORDS = 6
"""Words in a row that two texts may not share: ``what is the population of`` are five."""

Sequence = tuple[str, ...]


@pytest.fixture(scope="module")
def recorded() -> str:
    """All files of trajectories as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in find_tree_files(DATA))


@pytest.fixture(scope="module")
def folded(recorded: str) -> str:
    """The same for those who look for words in any case: a pattern that ignores case takes long."""
    return recorded.casefold()


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return [parse_trajectory(orjson.loads(path.read_bytes()), path.stem) for path in find_tree_files(DATA)]


def length(one: EvaluationCase) -> str:
    return "three" if len(one.calls) > 2 else ("one", "two")[len(one.calls) - 1]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def runs(text: str, size: int) -> set[Sequence]:
    found = words(text)
    return {tuple(found[at : at + size]) for at in range(len(found) - size + 1)}


def operations(one: EvaluationCase) -> Sequence:
    return tuple(call.operation for call in one.calls)


def test_a_hundred_and_eight() -> None:
    assert Counter(one.group for one in ASKED) == COUNTS
    by_length = [one for one in ANSWERABLE if one.group in BY_LENGTH]
    assert Counter(length(one) for one in by_length) == {"one": 20, "two": 20, "three": 20}
    assert Counter(length(one) for one in ANSWERABLE if one.group == HELD_OUT) == {"one": 3, "two": 3, "three": 4}
    assert all(length(one) == one.group for one in by_length if one.group != HELD_OUT)
    assert [one.id for one in ASKED if one.answerable is (one.group == "unanswerable")] == []


def test_every_category_is_asked_about() -> None:
    used = {TOOLS[name].category for one in ANSWERABLE for name in operations(one)}
    assert used == {tool.category for tool in TOOLS.values()}


def test_no_two_ask_the_same() -> None:
    assert max(Counter(one.request.casefold() for one in ASKED).values()) == 1


def test_what_is_expected_does_not_stand_in_the_request() -> None:
    given = [
        one.id for one in ANSWERABLE if len(find_absent_from_answer(one.expect, one.request)) < len(one.expect.values)
    ]
    assert given == []


@pytest.mark.parametrize("one", ASKED, ids=lambda one: one.id)
def test_no_trajectory_mentions_what_it_is_about(one: EvaluationCase, folded: str) -> None:
    assert one.entities
    names = [name.casefold() for name in one.entities if name.casefold() in folded]  # most are nowhere at all
    shared = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded)]
    assert shared == []


@pytest.mark.parametrize("one", ANSWERABLE, ids=lambda one: one.id)
def test_the_entities_are_all_the_values_it_gives(one: EvaluationCase) -> None:
    """Every literal argument of its calls is declared, but for the choices that a document lists and bare counts."""
    undeclared: list[Any] = []
    for call in one.calls:
        parameters = {parameter.name: parameter for parameter in TOOLS[call.operation].parameters}
        for name, value in call.arguments.items():
            literal = isinstance(value, str) and value not in parameters[name].enum
            if literal and not any(str(value) in name or name in str(value) for name in one.entities):
                undeclared.append(value)
    assert undeclared == []


def test_no_text_is_shared_with_a_trajectory(trajectories: list[Trajectory]) -> None:
    recorded_runs = {run: one.query for one in trajectories for run in runs(one.query, SHARED_WORDS)}
    shared = [
        (one.id, recorded_runs[run]) for one in ASKED for run in runs(one.request, SHARED_WORDS) & recorded_runs.keys()
    ]
    assert shared == []


def ways(trajectories: list[Trajectory]) -> set[Sequence]:
    """The sequences of calls of the trajectories: each as a whole, and for more than one call what stands in a row in it."""
    apis = {doc.function: api for api, doc in TOOLS.items()}
    return parts([tuple(apis[call.function] for call in one.path) for one in trajectories])


def parts(paths: list[Sequence]) -> set[Sequence]:
    inside = {path[at:end] for path in paths for at in range(len(path)) for end in range(at + 2, len(path) + 1)}
    return inside | set(paths)


def test_what_is_held_out_walks_where_no_trajectory_and_no_other_request_does(
    trajectories: list[Trajectory],
) -> None:
    known = ways(trajectories) | parts([operations(one) for one in ANSWERABLE if one.group != HELD_OUT])
    held_out = [operations(one) for one in ANSWERABLE if one.group == HELD_OUT]
    assert [path for path in held_out if path in known] == []
    assert len(set(held_out)) == len(held_out)


@pytest.mark.parametrize("group", BY_SHAPE)
def test_branches_failures_and_pairs_walk_where_no_trajectory_does(group: str, trajectories: list[Trajectory]) -> None:
    known = ways(trajectories)
    asked = [one for one in ASKED if one.group == group]
    assert [one.id for one in asked if operations(one) in known] == []
    assert len({operations(one) for one in asked}) == len(asked)
    assert [one.id for one in asked if len(one.calls) > MOST_CALLS] == []


def test_no_trajectory_mentions_what_is_kept_back(recorded: str) -> None:
    assert kept_in(recorded) == []


def test_steps_in_a_row_build_on_each_other() -> None:
    """A request of several calls is no list of unrelated ones: each call but the last feeds a later one, or the request asks for it."""
    loose: list[str] = []
    for one in ANSWERABLE:
        arguments = [orjson.dumps(call.arguments).decode() for call in one.calls]
        for earlier, _ in pairwise(range(1, len(one.calls) + 1)):
            feeds = any(f'"from":"{earlier}.' in text for text in arguments)
            if not feeds and "and" not in words(one.request):
                loose.append(one.id)
    assert loose == []
