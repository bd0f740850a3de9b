"""One user's wrong key, used-up quota or mistyped symbol, and a stranger's server, against what all users share."""

import asyncio
import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from domain.event import CallFinished, EventRecord, RunFinished
from domain.plan import StepResult
from domain.tool import ToolId
from graph.facts import Edge, ToolFacts
from tests.attacks.hostile_tools import RIGHT, SPENT, Tools, hostile_tools
from tests.support.server_process import Client, Place, registered, serving
from wiring.container import open_container
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

PRICE = "What is the price of the stock with the symbol {}?"
NOTE = 'Create a note with the text "Water the lemon tree"'


@dataclass
class World:
    tools: Tools
    store: Path
    address: str

    def user(self, name: str, key: str) -> Client:
        client = registered(self.address, name)
        host = self.tools.address.removeprefix("http://")
        assert client.call("PUT", "/me/tool-keys/bourse_key", {"value": key, "hosts": [host]}).status_code == 200
        return client

    def graph(self) -> tuple[dict[ToolId, ToolFacts], list[Edge]]:
        """All that the store knows of tools' calls and of walks."""

        async def read() -> tuple[dict[ToolId, ToolFacts], list[Edge]]:
            async with open_container(Settings(store=self.store), self.store) as container:
                nodes = {tool: facts async for tool, facts in container.graph.stream_nodes()}
                return nodes, [edge async for edge in container.graph.stream_edges()]

        return asyncio.run(read())

    def facts(self) -> dict[str, ToolFacts]:
        """What the store knows of each tool's calls, by its name."""

        async def read() -> dict[str, ToolFacts]:
            async with open_container(Settings(store=self.store), self.store) as container:
                return {tool.rpartition("/")[2]: facts async for tool, facts in container.graph.stream_nodes()}

        return asyncio.run(read())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    folder = tmp_path_factory.mktemp("shared")
    with hostile_tools() as tools:
        catalogue, store = folder / "bourse.json", folder / "store"
        catalogue.write_text(json.dumps(tools.document), encoding="utf-8")
        asyncio.run(
            build(BuildOptions(tools=(catalogue,), store=store), lambda stage, done, total: None, Settings(store=store))
        )
        with serving(Place(tools.address, tools.address, store), folder / "home") as (address, _):
            yield World(tools, store, address)


def asked(client: Client, request: str) -> tuple[RunFinished, list[StepResult]]:
    """How a run of this request ended, and its calls; a change is allowed when it is asked about."""
    conversation, run = client.ask(request)
    assert conversation
    records = client.follow(run, until="input.needed")
    if records[-1].event.kind == "input.needed":
        question = records[-1].event.input  # type: ignore[union-attr]
        assert client.call("POST", f"/runs/{run}/inputs/{question}", {"decision": "allow"}).status_code < 300
        records += client.follow(run, after=records[-1].seq)
    return _end(records), [one.event.result for one in records if isinstance(one.event, CallFinished)]


def _end(records: list[EventRecord]) -> RunFinished:
    event = records[-1].event
    assert isinstance(event, RunFinished)
    return event


def test_one_users_faults_are_nobody_elses(world: World) -> None:
    bob, ada, eve = (world.user(name, key) for name, key in (("bob", RIGHT), ("ada", "wrong-key"), ("eve", SPENT)))
    end, _ = asked(bob, PRICE.format("ACME"))
    assert (end.outcome, "42.5" in end.answer) == ("answered", True)
    before = world.facts()["get_stock_price"]
    for client, symbol, outcome in ((ada, "ACME", "refused"), (eve, "ACME", "refused"), (bob, "NOPE", "absent")):
        end, calls = asked(client, PRICE.format(symbol))
        assert (end.outcome, [call.outcome for call in calls if call.attempts]) == ("gave_up", [outcome])
    _, [again, *_] = asked(eve, PRICE.format("ACME"))
    assert "asks not to be called for another" in again.note
    assert int(again.note.split("another ")[1].split()[0]) <= 300
    assert world.facts()["get_stock_price"] == before
    end, _ = asked(bob, PRICE.format("ACME"))  # no pause that eve was told holds for bob
    assert (end.outcome, "42.5" in end.answer) == ("answered", True)
    assert not any("cookie" in headers for _, headers in world.tools.requests)


def test_however_many_ask_for_what_is_not_there_the_graph_stays_as_it_was(world: World) -> None:
    """Two hundred of them are counted in ``tests/unit/agent/learning``; here each asks over real servers, of a tool that has answered."""
    users = [world.user(f"asker{n}", RIGHT) for n in range(4)]
    assert asked(users[0], PRICE.format("ACME"))[0].outcome == "answered"
    before = world.graph()
    for at in range(12):
        end, calls = asked(users[at % 4], PRICE.format(f"NONE{at}"))
        assert (end.outcome, [call.outcome for call in calls if call.attempts]) == ("gave_up", ["absent"])
    assert world.graph() == before


def test_a_write_whose_answer_is_nested_without_end_is_made_once_and_told(world: World) -> None:
    carol = world.user("carol", RIGHT)
    made = world.tools.notes
    end, [call] = asked(carol, NOTE)
    assert world.tools.notes == made + 1
    assert (call.status, call.outcome, call.http_status) == ("ok", "ok", 201)
    assert "nested deeper" in call.note
    assert (end.outcome, end.error) == ("answered", "")
    assert "Done: create note" in end.answer
