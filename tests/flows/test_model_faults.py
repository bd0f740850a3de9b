"""Runs with a model that loops, contradicts itself, never stops talking or wants one tool for ever, and with a memory that is down."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.budget import Budget
from agent.execution.approval import AllowChangesApprover
from agent.llm.answer_text import MAX_ANSWER_CHARS
from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import ModelAllowance
from agent.memory.long_term import LongTermMemory
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.policy.protocol import Policy
from agent.run import run
from agent.transcript import RunTranscript
from domain.errors import UnavailableError
from domain.event import Event, MemoryRecalled, PathEnded, ReflectionMade, RunFinished, StepChosen
from domain.memory import Memory, RecalledMemory
from graph.backends.sqlite_memories import SqliteMemories
from offline.policy import OfflinePolicy
from tests.flows.small_world_bindings import CITY, POINT
from tests.models.brain import Brain, Line, Said, advance_to, judge, move
from tests.models.openai_replies import ChatRequest, Says
from tests.models.openai_server import model_server
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    WALKS,
    ScriptedExecutor,
    WordEmbedder,
    finder,
    graph,
)

WEATHER = "What is the weather forecast for Paris?"
HUGE = "la " * 70_000
BUDGET = Budget(decisions=40, model_calls=40, seconds=30)


def script(**changed: Sequence[Line]) -> Brain:
    usual: dict[str, Sequence[Line]] = {
        "choose": [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish", "all is served")],
        "arguments": [CITY, POINT],
        "answer": ["It will be 4.5 degrees [2]."],
    }
    return Brain(**{**usual, **changed})


@asynccontextmanager
async def decided_by(brain: Brain) -> AsyncGenerator[Policy]:
    async with model_server(brain) as server:
        model = LangchainModel(ModelParameters(server.url, server.model, attempts=1, timeout=10))
        yield FallbackPolicy(
            LlmPolicy(model, ModelAllowance(model_calls=BUDGET.model_calls)), OfflinePolicy(), CircuitBreaker()
        )
        await model.close()


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)


async def told(
    folder: Path, policy: Policy, executor: ScriptedExecutor, memory: LongTermMemory | None = None
) -> tuple[list[Event], RunFinished, RunTranscript]:
    deps = build_deps(
        await graph(WALKS), await finder(folder), policy, executor, memory=memory, approver=AllowChangesApprover()
    )
    records = [record async for record in run(WEATHER, deps, BUDGET)]
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return [record.event for record in records], end, RunTranscript.from_records(records)


def to_and_fro(request: ChatRequest) -> Said:
    """On where there is anything to go on to, and back again at once."""
    return move("backtrack", "no, not that") if "[[path so far" in request.prompt else advance_first(request)


def advance_first(request: ChatRequest) -> Said:
    lines = request.prompt.partition("[[candidates ")[2]
    return {"reason": "this one", "action": "advance", "number": 1} if lines else move("give_up", "none is left")


async def test_a_model_that_goes_to_and_fro_comes_to_an_end(tmp_path: Path) -> None:
    async with decided_by(script(choose=[to_and_fro])) as policy:
        events, end, _ = await told(tmp_path, policy, calls())
    chosen = [event.path for event in events if isinstance(event, StepChosen)]
    assert len(chosen) == len(set(chosen)), "nothing that was left is tried again"
    assert end.outcome == "gave_up"
    assert end.usage.decisions <= BUDGET.decisions


async def test_a_model_that_never_finishes_is_stopped_and_the_best_path_taken(tmp_path: Path) -> None:
    """Every advance is taken, none is ever the last: back only where nothing is left."""

    def on(request: ChatRequest) -> Said:
        lines = request.prompt.partition("[[candidates ")[2]
        return {"reason": "on and on", "action": "advance", "number": 1} if lines else move("backtrack", "a dead end")

    async with decided_by(script(choose=[on], reflect=[judge("partial", 1)])) as policy:
        events, end, _ = await told(tmp_path, policy, calls())
    assert len([event for event in events if isinstance(event, ReflectionMade) and event.resumed]) <= BUDGET.reflections
    assert end.usage.decisions <= BUDGET.decisions
    assert end.usage.model_calls <= BUDGET.model_calls
    assert end.outcome in ("gave_up", "budget")
    assert end.answer


async def test_a_model_that_finishes_and_calls_its_own_path_wrong_is_heard_three_times(tmp_path: Path) -> None:
    wants = [
        advance_to("search_places"),
        advance_to("get_daily_forecast"),
        move("finish"),
        advance_to("get_forecast"),
        move("finish"),
    ]
    brain = script(choose=wants, reflect=[judge("partial", 2), judge("total")], arguments=[CITY, POINT])
    async with decided_by(brain) as policy:
        events, end, _ = await told(tmp_path, policy, calls())
    made = [event for event in events if isinstance(event, ReflectionMade)]
    assert 1 <= len([event for event in made if event.resumed]) <= BUDGET.reflections
    assert end.outcome in ("answered", "gave_up")


async def test_a_model_that_takes_back_what_it_said_keeps_its_best_path(tmp_path: Path) -> None:
    wants = [
        advance_to("search_places"),
        advance_to("get_daily_forecast"),
        move("finish"),
        move("give_up", "it cannot be done"),
    ]
    brain = script(choose=wants, reflect=[judge("partial", 2), judge("total")])
    async with decided_by(brain) as policy:
        _, end, transcript = await told(tmp_path, policy, calls())
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert end.outcome == "answered"


@pytest.mark.parametrize("purpose", ["choose", "reflect", "arguments"])
async def test_200_kilobytes_are_no_decision(tmp_path: Path, purpose: str) -> None:
    began = time.monotonic()
    async with decided_by(script(**{purpose: [Says(HUGE)]})) as policy:
        _, end, _ = await told(tmp_path, policy, calls())
    assert end.outcome in ("answered", "gave_up")
    assert end.usage.by_purpose[purpose] >= 2, "it was told back once"
    assert time.monotonic() - began < BUDGET.seconds


async def test_an_answer_without_end_is_cut_and_counted(tmp_path: Path) -> None:
    async with decided_by(script(answer=[Says(HUGE, piece=512)])) as policy:
        _, end, _ = await told(tmp_path, policy, calls())
    assert len(end.answer) < MAX_ANSWER_CHARS + 500
    assert "(cut off after 16,000 characters)" in end.answer
    assert end.answer.rstrip().endswith("[2] Weather Set/get_daily_forecast")
    assert end.outcome == "answered"
    assert end.usage.completion_tokens > 1_000


async def test_thoughts_without_end_are_no_answer(tmp_path: Path) -> None:
    async with decided_by(script(answer=[Says(f"<think>{HUGE}", piece=2_048)])) as policy:
        events, end, _ = await told(tmp_path, policy, calls())
    assert "4.5" in end.answer, "the rules answer from the same calls"
    assert any(event.kind == "policy.fell_back" for event in events)


async def test_a_model_that_wants_one_tool_for_ever_calls_it_once(tmp_path: Path) -> None:
    executor = calls()
    brain = script(choose=[advance_to("search_places"), advance_to("search_places")], arguments=[CITY])
    async with decided_by(brain) as policy:
        _, end, _ = await told(tmp_path, policy, executor)
    assert executor.made.count(("search_places", {"city": "Paris"})) <= 1
    assert end.usage.decisions <= BUDGET.decisions


class Down(SqliteMemories):
    """A memory whose store is gone: it refuses, or it hangs."""

    def __init__(self, path: Path, *, hangs: bool = False) -> None:
        super().__init__(path)
        self._hangs = hangs

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        if self._hangs:
            await asyncio.sleep(60)
        raise UnavailableError("the memories cannot be read: the disk is gone")

    async def list_without_vector(self, identity: str, limit: int) -> list[Memory]:
        raise UnavailableError("the memories cannot be read: the disk is gone")


@pytest.mark.parametrize(("hangs", "said"), [(False, "the disk is gone"), (True, "did not answer within")])
async def test_a_run_goes_on_without_its_memory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: bool, said: str
) -> None:
    monkeypatch.setattr("agent.memory.recall.RECALL_TIMEOUT_SECONDS", 0.2)
    memory = LongTermMemory(Down(tmp_path / "memories.db", hangs=hangs), WordEmbedder())
    events, end, transcript = await told(tmp_path, OfflinePolicy(), calls(), memory)
    [recalled] = [event for event in events if isinstance(event, MemoryRecalled)]
    assert said in recalled.note
    assert recalled.memories == ()
    assert end.outcome == "answered"
    assert transcript.path == (GEOCODE.id, OLD_WEATHER.id)
    assert [event.how for event in events if isinstance(event, PathEnded)] == ["finished"]
