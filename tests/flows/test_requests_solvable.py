"""Each request can be answered: its calls, made against the running playground, give the values that are expected."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from pydantic.types import JsonValue

from evaluation.correctness import find_absent_from_responses
from evaluation.evaluation_cases import EvaluationCase, read_evaluation_cases
from graph.importers.toolbench_trees import find_tree_files, parse_trajectory
from playground.calls import send
from playground.record import CATALOGUE, DATA, catalogue_tools
from tests.flows.gold import follow
from tests.support.playground_process import running_playground

FILES = sorted((Path(__file__).parents[2] / "playground" / "requests").glob("*.jsonl"))
ANSWERABLE = [one for one in read_evaluation_cases(FILES) if one.answerable]
LARGEST_COUNT = 3_000
"""Whole numbers above are identifiers."""
TOOLS = catalogue_tools(DATA / CATALOGUE)
DEAD = {401, 403, 404, 410, 503}
STUMBLES = {408, 429, 500}
FIRST_WAYS: dict[str, tuple[str, dict[str, JsonValue]]] = {
    "fail-officers": ("get_company_officers", {"company_id": "cmp_63bba97d"}),
    "fail-dividends": ("get_dividends", {"symbol": "SILB"}),
    "fail-visit": ("get_place_forecast", {"place_id": "plc_b824a9dd"}),
    "fail-match": ("get_place_forecast", {"place_id": "plc_b783bb6f"}),
    "fail-parcel": ("track_parcel", {}),
    "fail-fares": ("find_cheap_flights", {"from_airport": "BOA", "to_airport": "CAM", "travel_date": "2026-06-20"}),
    "fail-terminals": ("find_cheap_flights", {"from_airport": "SIL", "to_airport": "NOR", "travel_date": "2026-06-19"}),
    "fail-quotes": ("get_stock_quote", {}),
    "fail-director": ("person_movie_credits", {}),
    "fail-points": ("getStandings", {}),
    "fail-heavier": ("track_parcel", {}),
    "fail-keyless": ("get_currency_quote", {"from_currency": "BUD", "to_currency": "CLD", "amount": 2750}),
}
"""The operation that suggests itself for each request of ``failing.jsonl``. With arguments: it always fails, and other operations
lead to the answer. With none: one of the calls that lead to the answer, it fails on the way and works when it is repeated.
"""


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running_playground() as address, httpx.Client(base_url=address, timeout=20, trust_env=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def passed() -> str:
    """The arguments of every call in every trajectory."""
    trajectories = [parse_trajectory(orjson.loads(path.read_bytes()), path.stem) for path in find_tree_files(DATA)]
    return "\n".join(call.arguments or "" for one in trajectories for call in one.attempts)


@pytest.mark.parametrize("one", ANSWERABLE, ids=lambda one: one.id)
def test_its_calls_give_what_is_expected(one: EvaluationCase, client: httpx.Client, passed: str) -> None:
    """And only all of them do; and no call of a trajectory has any of their arguments."""
    client.post("/_reset").raise_for_status()
    responses, arguments = follow(client, TOOLS, one)
    assert find_absent_from_responses(one.expect, responses) == []
    assert find_absent_from_responses(one.expect, responses[:-1]) != [], "the last call is not needed"
    values = [text for made in arguments for name, value in made.items() for text in literals(one, name, value)]
    assert [text for text in values if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", passed)] == []


def test_every_request_of_failing_has_a_first_way() -> None:
    assert {one.id for one in ANSWERABLE if one.group == "failing"} == FIRST_WAYS.keys()


@pytest.mark.parametrize("one", [one for one in ANSWERABLE if one.id in FIRST_WAYS], ids=lambda one: one.id)
def test_its_first_way_fails(one: EvaluationCase, client: httpx.Client) -> None:
    client.post("/_reset").raise_for_status()
    operation, arguments = FIRST_WAYS[one.id]
    used = {call.operation for call in one.calls}
    if arguments:
        assert operation not in used
        assert {send(client, TOOLS[operation], arguments).status_code for _ in range(3)} <= DEAD
        return
    assert operation in used
    assert one.alone
    met: list[int] = []

    def watch(response: httpx.Response) -> None:
        met.append(response.status_code)

    hooks = {"response": [watch]}
    with httpx.Client(base_url=client.base_url, timeout=20, trust_env=False, event_hooks=hooks) as watched:
        follow(watched, TOOLS, one)
    assert STUMBLES & set(met)


def literals(one: EvaluationCase, name: str, value: JsonValue) -> Iterator[str]:
    """The texts and identifiers among the arguments: neither counts nor choices that a document lists."""
    choices: set[object] = {
        str(choice)
        for call in one.calls
        for parameter in TOOLS[call.operation].parameters
        if parameter.name == name
        for choice in parameter.enum
    }
    match value:
        case str() if value not in choices:
            yield value
        case int() if value > LARGEST_COUNT:
            yield str(value)
        case list():
            for item in value:
                yield from literals(one, name, item)
        case dict():
            for item in value.values():
                yield from literals(one, name, item)
        case _:
            return
