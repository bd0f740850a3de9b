"""Requests that a model splits: parts that build on each other, and splits that are none."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.run_context import RunDeps
from offline.policy import OfflinePolicy
from tests.flows.small_world_bindings import CITY, POINT
from tests.flows.test_subtasks import asked, end
from tests.models.brain import Brain, advance_to, move, split
from tests.models.openai_replies import Says
from tests.models.openai_server import ModelServer, model_server
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    WALKS,
    ScriptedExecutor,
    finder,
    graph,
)


@asynccontextmanager
async def model(brain: Brain, folder: Path, executor: ScriptedExecutor) -> AsyncGenerator[tuple[RunDeps, ModelServer]]:
    async with model_server(brain) as server:
        chat = LangchainModel(ModelParameters(server.url, server.model, attempts=1, timeout=5))
        policy = FallbackPolicy(LlmPolicy(chat), OfflinePolicy(), CircuitBreaker())
        yield (
            build_deps(await graph(WALKS), await finder(folder), policy, executor, approver=AllowChangesApprover()),
            server,
        )
        await chat.close()


CHAIN = "Find the city Paris. What will the temperature be there?"


def chained(*parts: str, choose: Sequence[object] = ()) -> Brain:
    moves = choose or [advance_to("search_places"), move("finish"), advance_to("get_daily_forecast"), move("finish")]
    return Brain(
        decompose=[split(*parts, after=(1,))],
        choose=moves,  # type: ignore[arg-type]
        arguments=[CITY, POINT],
        answer=[Says("It will be 4.5 degrees [2].")],
    )


async def test_a_models_second_part_builds_on_its_first(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST)
    brain = chained("Find the city Paris", "What will the temperature be in the city Paris?")
    async with model(brain, tmp_path, executor) as (given, server):
        _, transcript = await asked(CHAIN, given)
        prompts = [request.prompt for request in server.requests]
    assert end(transcript).outcome == "answered"
    assert end(transcript).answer.startswith("It will be 4.5 degrees [2].")
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert end(transcript).usage.by_purpose == {"decompose": 1, "choose": 4, "reflect": 2, "arguments": 2, "answer": 1}
    choosing = [p for p in prompts if "What will the temperature be in the city Paris?" in p and "[[path so far" in p]
    assert choosing, "what was done before is part of the path that the model is shown"


async def test_a_part_that_needs_no_call_of_its_own_is_done(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND)
    brain = chained("Find the city Paris", "Say where the city Paris is",
                    choose=[advance_to("search_places"), move("finish"), move("finish")])  # fmt: skip
    async with model(brain, tmp_path, executor) as (given, _):
        _, transcript = await asked(CHAIN, given)
    assert end(transcript).outcome == "answered"
    assert [name for name, _ in executor.made] == ["search_places"]


@pytest.mark.parametrize(
    "parts",
    [("Find", " find"), ("Find the city Paris", " "), ("Find the city Paris", "x" * 2_001)],
    ids=["twice the same", "without a description", "too long"],
)
async def test_a_split_that_cannot_be_served_is_none(tmp_path: Path, parts: tuple[str, ...]) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST)
    moves = [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish")]
    async with model(chained(*parts, choose=moves), tmp_path, executor) as (given, server):
        _, transcript = await asked(CHAIN, given)
        told_back = [r.messages[-1]["content"] for r in server.requests if len(r.messages) > 2]
    assert [one.description for one in transcript.ordered_subtasks] == [CHAIN]
    assert "subtask" in told_back[0]
    assert end(transcript).usage.by_purpose["decompose"] == 2
    assert end(transcript).outcome == "answered"
