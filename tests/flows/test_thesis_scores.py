"""The evaluator's scores of a run by the planner ``thesis``, over HTTP and in a SQLite store, become weights by the thesis's formulas."""

from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path

import pytest
from pydantic.types import JsonValue

from agent.execution.approval import AllowChangesApprover
from domain.event import EventRecord, RunFinished, WeightsLearned
from domain.tool import FINISH, ToolId
from graph.weights import WeightedEdge, compute_transition_weights, score_map
from tests.models.brain import Brain, advance_to, bind, move
from tests.models.openai_replies import ChatRequest, Says
from tests.models.openai_server import ModelServer, model_server
from tests.support.playground_process import running_playground
from tests.support.server_process import built
from wiring.container import Container, open_container
from wiring.runs import build_budget, build_run_deps, run_and_learn
from wiring.settings import Settings

WIND = "How strong is the wind in Vishalpur at the moment?"
BETA, GAMMA = 0.25, 1.0


def point(request: ChatRequest) -> Mapping[str, JsonValue]:
    """The coordinates out of the first step's response, where they stand in it."""
    places = [f"1.results[0].{name}" for name in ("latitude", "longitude")]
    return bind(*((place.rpartition(".")[2], 0, "step", place) for place in places))


def city(_: ChatRequest) -> Mapping[str, JsonValue]:
    return bind(("city", "Vishalpur", "request", "Vishalpur"))


@pytest.fixture
def place(tmp_path: Path) -> Generator[tuple[str, Path]]:
    """A running playground, and a store of its catalogue and trajectories."""
    with running_playground() as address:
        yield address, built(tmp_path, address).store


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    queries: list[JsonValue] = ["search for places by name", "current weather: temperature and wind"]
    brain = Brain(
        decompose=[{"reason": "one goal", "category": "", "queries": queries, "subtasks": []}],
        choose=[advance_to("search_places"), advance_to("get_current_weather"), move("finish")],
        arguments=[city, point],
        fields_to_keep=[{"numbers": [1, 2, 3]}],
        answer=[Says("37.2 [2].")],
        score=[{"scores": [0.5, 1]}],
    )
    async with model_server(brain) as server:
        yield server


async def weights_out_of(container: Container, tool: ToolId) -> dict[ToolId, WeightedEdge]:
    return {
        one.target: one
        for one in compute_transition_weights(await container.graph.get_out_edges(tool), container.weights)
    }


async def asked(container: Container) -> list[EventRecord]:
    deps = await build_run_deps(container, "llm", "http", "thesis", approver=AllowChangesApprover())
    return [record async for record in run_and_learn(WIND, deps, build_budget(container))]


@pytest.mark.timeout(120)
async def test_scores_of_the_evaluator_become_weights_by_the_formula(
    place: tuple[str, Path], server: ModelServer
) -> None:
    address, store = place
    settings = Settings(
        store=store, allow_hosts=frozenset({address.removeprefix("http://")}), model_url=server.url,
        model_name=server.model, weights="thesis", beta=BETA, gamma=GAMMA,
    )  # fmt: skip
    async with open_container(settings, store) as container:
        records = await asked(container)
        end, learned = records[-1].event, records[-2].event
        assert isinstance(end, RunFinished)
        assert isinstance(learned, WeightsLearned)
        assert (end.outcome, learned.error) == ("answered", "")
        assert end.usage.by_purpose["score"] == 1
        scored = {one.tool: one.scores for one in learned.tools}
        (places,) = (tool for tool in scored if tool.endswith("/search_places"))
        (weather,) = (tool for tool in scored if tool.endswith("/get_current_weather"))
        assert scored == {places: (0.5,), weather: (1.0,)}
        facts = await container.graph.get_facts([places, weather])
        assert (facts[places].quality, facts[weather].quality) == (0.5, 1.0)
        edges = await container.graph.get_out_edges(places)
        imported = sum(one.edge.imported for one in edges)
        total = sum(score_map(one.facts.quality) for one in edges)
        for one in edges:
            expected = BETA * one.edge.imported / imported + (1 - BETA) * score_map(one.facts.quality) / total
            assert (await weights_out_of(container, places))[one.edge.target].weight == pytest.approx(expected)
        assert score_map(facts[weather].quality) == 2.0
        reached = await weights_out_of(container, weather)
        assert reached[FINISH].edge.live == 1
        assert sum(one.weight for one in reached.values()) == pytest.approx(1.0)
