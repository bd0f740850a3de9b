"""Recorded searches that change something, made again: the ledger has an entry for each call that worked, and no more."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import httpx
import orjson
import pytest

from domain.trajectory import RecordedOutcome, Trajectory
from graph.importers.toolbench_trees import find_tree_files, parse_trajectory
from playground.calls import send
from playground.record import CATALOGUE, DATA, catalogue_tools
from tests.support.playground_process import running_playground

TOOLS = catalogue_tools(DATA / CATALOGUE)
FUNCTIONS = {doc.function: api for api, doc in TOOLS.items()}
READ_ONLY = {"quote_shipping"}
"""Operations that are posted because their input is nested, and change nothing."""
CHANGING = sorted(api for api, doc in TOOLS.items() if not doc.safe and api not in READ_ONLY)


@cache
def searches() -> list[Trajectory]:
    return [parse_trajectory(orjson.loads(path.read_bytes()), path.stem) for path in sorted(find_tree_files(DATA))]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running_playground() as address, httpx.Client(base_url=address, trust_env=False) as client:
        yield client


def made_again(client: httpx.Client, search: Trajectory) -> Counter[str]:
    """Make all calls of a search from a reset; returns the changing ones that worked."""
    client.post("/_reset").raise_for_status()
    worked: Counter[str] = Counter()
    for call in search.attempts:
        api = FUNCTIONS[call.function]
        keys = call.outcome is RecordedOutcome.OK
        answer = send(client, TOOLS[api], orjson.loads(call.arguments or "{}"), keys=keys)
        worked[api] += answer.is_success
    return Counter({api: count for api, count in worked.items() if api in CHANGING and count})


@pytest.mark.parametrize("api", [*CHANGING, *sorted(READ_ONLY)])
def test_each_leaves_one_entry(client: httpx.Client, api: str) -> None:
    search = next(
        one
        for one in searches()
        if any(FUNCTIONS[call.function] == api and call.outcome is RecordedOutcome.OK for call in one.attempts)
    )
    worked = made_again(client, search)
    effects = client.get("/_ledger").json()
    assert Counter(effect["tool"] for effect in effects) == worked
    assert (api in worked) is (api in CHANGING)
    assert [effect["at_seq"] for effect in effects] == list(range(1, len(effects) + 1))


def test_reading_leaves_none(client: httpx.Client) -> None:
    reading = [one for one in searches() if all(TOOLS[FUNCTIONS[call.function]].safe for call in one.attempts)]
    for search in reading[::100]:
        made_again(client, search)
        assert client.get("/_ledger").json() == []
