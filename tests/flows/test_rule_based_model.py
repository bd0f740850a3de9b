"""Playground requests that a rule-based model decides over a real socket, faultless and with a fifth of its replies spoilt."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from urllib.request import urlopen

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.run import run
from domain.event import CallStarted, Event, ProgramEnded, RunFinished
from evaluation.correctness import judge
from evaluation.evaluation_cases import read_evaluation_cases
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server
from tests.models.rule_based import OTHER, RuleBasedModel
from tests.support.playground_process import running_playground
from tests.support.server_process import built
from wiring.container import open_container
from wiring.runs import build_budget, build_run_deps
from wiring.settings import Settings

ROOT = Path(__file__).parents[2]
REQUESTS = [ROOT / "playground" / "requests" / name for name in ("one.jsonl", "two.jsonl", "three.jsonl")]
EASY = ("one-population", "one-inches", "two-wind", "two-author", "three-capital")
"""Some of each kind; which of them the rules get right is not theirs to promise, but for the first two."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Path]]:
    """A running playground, and a store of its catalogue and trajectories."""
    folder = tmp_path_factory.mktemp("rules")
    with running_playground() as address:
        yield address, built(folder, address).store


async def asked(world: tuple[str, Path], model: RuleBasedModel, planner: str = "program") -> dict[str, list[Event]]:
    """The events of every request, asked one by one."""
    address, store = world
    requests = [one for one in read_evaluation_cases(REQUESTS) if one.id in EASY]
    found: dict[str, list[Event]] = {}
    async with model_server(model) as server:
        settings = Settings(store=store, allow_hosts=frozenset({address.removeprefix("http://")}),
                            model_url=server.url, model_name=server.model)  # fmt: skip
        async with open_container(settings, store) as container:
            for one in requests:
                deps = await build_run_deps(container, "llm", "http", planner, approver=AllowChangesApprover())
                found[one.id] = [record.event async for record in run(one.request, deps, build_budget(container))]
    return found


def end_of(events: list[Event]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    return events[-1]


@pytest.mark.timeout(180)
async def test_a_model_that_errs_spoils_no_run_and_misquotes_no_step(world: tuple[str, Path]) -> None:
    model = RuleBasedModel(error_rate=0.2, seed=3)
    found = await asked(world, model, "react")
    assert sum(model.errors.values()) >= 3
    for events in found.values():
        assert end_of(events).outcome in ("answered", "gave_up")
        for event in events:
            if isinstance(event, CallStarted):
                assert set(event.arguments) == {binding.parameter for binding in event.provenance}
                quoted = {str(event.arguments[b.parameter]) for b in event.provenance if b.origin == "step"}
                assert not {"Springfield", "John Doe", "12345", "2020-01-01"} & quoted


@pytest.mark.timeout(240)
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
async def test_programs_are_written_checked_run_and_mended(world: tuple[str, Path], rate: float) -> None:
    model = RuleBasedModel(error_rate=rate, seed=4)
    found = await asked(world, model)
    assert rate or not model.errors
    assert rate < 0.2 or model.errors
    assert model.purposes["program"] >= len(EASY)
    by_id = {one.id: one for one in read_evaluation_cases(REQUESTS)}
    right = {name for name, events in found.items() if judge(by_id[name], events).right}
    assert {"one-population", "one-inches"} <= right
    for events in found.values():
        assert end_of(events).outcome in ("answered", "partly", "gave_up")
        usage = end_of(events).usage
        assert usage.model_calls == sum(usage.by_purpose.values()) > 0
        assert usage.prompt_tokens > 500
        assert not any(event.kind == "policy.fell_back" for event in events)
    assert sum(isinstance(event, ProgramEnded) for events in found.values() for event in events) >= 2


async def test_the_same_seed_errs_in_the_same_way(world: tuple[str, Path]) -> None:
    ends = [
        {name: end_of(events).answer for name, events in (await asked(world, RuleBasedModel(0.3, seed=5))).items()}
        for _ in range(2)
    ]
    assert ends[0] == ends[1]


def test_it_runs_alone() -> None:
    command = [
        sys.executable,
        "-u",
        "-m",
        "tests.models.rule_based",
        "--port",
        "0",
        "--error-rate",
        "0.1",
        "--seed",
        "1",
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            address = child.stdout.readline().strip()
            with urlopen(f"{address}/models") as answer:  # loopback
                assert b'"id": "rules"' in answer.read()
        finally:
            child.terminate()


def test_a_strangers_message_gets_an_answer() -> None:
    alone = ChatRequest("/v1/chat/completions", {}, {"messages": [{"role": "user", "content": "Say hello."}]})
    assert RuleBasedModel()(alone) == OTHER
