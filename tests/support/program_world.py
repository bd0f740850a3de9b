"""Runs whose programs are given: a scripted author behind the real protocol, the real sandbox, and the small world's tools or the playground's."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.budget import Budget
from agent.conversation import EarlierRun
from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import Executor
from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.offer.tool_offer import OfferEntry, ToolOffer
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from agent.run import run
from agent.run_context import RunDeps
from domain.event import Event, EventRecord, RunFinished
from domain.tool import ToolDoc
from offline.policy import OfflinePolicy
from tests.models.brain import Brain, Line
from tests.models.openai_server import ModelServer, model_server
from tests.support.run_deps import build_deps
from tests.support.small_world import TOOLS, WALKS, finder, graph


def code(*lines: str) -> str:
    """A reply with a program in it."""
    return "```python\n" + "\n".join(lines) + "\n```"


@dataclass
class OffersAs:
    """Offers what it is told, one after the other. ``asked``: for which texts."""

    offers: Sequence[Sequence[ToolDoc]]
    asked: list[str] = field(default_factory=list[str])

    async def offer(self, request: str, limit: int) -> ToolOffer:
        self.asked.append(request)
        tools = self.offers[min(len(self.asked), len(self.offers)) - 1]
        return ToolOffer(request, tuple(OfferEntry(one.id, 1.0) for one in tools[:limit]), len(tools))


@dataclass
class World:
    deps: RunDeps
    server: ModelServer
    brain: Brain

    async def told(
        self,
        request: str,
        budget: Budget | None = None,
        past: Sequence[EventRecord] = (),
        earlier: Sequence[EarlierRun] = (),
    ) -> list[EventRecord]:
        return [
            one async for one in run(request, self.deps, budget, name="a run", past_events=past, earlier_runs=earlier)
        ]

    @property
    def written(self) -> int:
        """How many programs were asked for."""
        return self.brain.asked.count("program")


def the(records: Sequence[EventRecord], kind: type[Event]) -> list[Event]:
    return [one.event for one in records if isinstance(one.event, kind)]


def end(records: Sequence[EventRecord]) -> RunFinished:
    event = records[-1].event
    assert isinstance(event, RunFinished)
    return event


@asynccontextmanager
async def world(
    folder: Path,
    executor: Executor,
    *texts: Line,
    tools: Sequence[ToolDoc] = TOOLS,
    offers: OffersAs | None = None,
    planner: str = "program",
    limits: SandboxLimits | None = None,
    **script: list[Line],
) -> AsyncGenerator[World]:
    brain = Brain(**{**script, "program": list(texts)})
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(model_server(brain))
        model = LangchainModel(ModelParameters(server.url, server.model, attempts=1, timeout=10))
        stack.push_async_callback(model.close)
        sandbox = MontySandbox(limits or SandboxLimits(workers=2))
        stack.push_async_callback(sandbox.close)
        deps = build_deps(
            await graph(WALKS if tools is TOOLS else (), tools),
            await finder(folder, tools),
            FallbackPolicy(LlmPolicy(model), OfflinePolicy(), CircuitBreaker()),
            executor,
            approver=AllowChangesApprover(),
            offers=offers,
            sandbox=sandbox,
            planner=planner,
        )
        yield World(deps, server, brain)
