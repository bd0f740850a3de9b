"""Each request can be answered: its calls, made against the running playground, give the values that are expected."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from pydantic.types import JsonValue

from evaluation.asked import Asked, read_asked
from evaluation.rightness import absent_from_responses
from graph.importers.trees import trajectory, tree_files
from playground.child import running_playground
from playground.record import CATALOGUE, DATA, catalogue_tools
from tests.flows.gold import follow

FILES = sorted((Path(__file__).parents[2] / "playground" / "requests").glob("*.jsonl"))
ANSWERABLE = [one for one in read_asked(FILES) if one.answerable]
LARGEST_COUNT = 3_000
"""Whole numbers above are identifiers."""
TOOLS = catalogue_tools(DATA / CATALOGUE)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running_playground() as address, httpx.Client(base_url=address, timeout=20, trust_env=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def passed() -> str:
    """The arguments of every call in every trajectory."""
    trajectories = [trajectory(orjson.loads(path.read_bytes()), path.stem) for path in tree_files(DATA)]
    return "\n".join(call.arguments or "" for one in trajectories for call in one.attempts)


@pytest.mark.parametrize("one", ANSWERABLE, ids=lambda one: one.id)
def test_its_calls_give_what_is_expected(one: Asked, client: httpx.Client, passed: str) -> None:
    """And only all of them do; and no call of a trajectory has any of their arguments."""
    client.post("/_reset").raise_for_status()
    responses, arguments = follow(client, TOOLS, one)
    assert absent_from_responses(one.expect, responses) == []
    assert absent_from_responses(one.expect, responses[:-1]) != [], "the last call is not needed"
    values = [text for made in arguments for name, value in made.items() for text in literals(one, name, value)]
    assert [text for text in values if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", passed)] == []


def literals(one: Asked, name: str, value: JsonValue) -> Iterator[str]:
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
