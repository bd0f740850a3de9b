"""Answers evaluated apart: services started for the purpose, one for each run that is going on, over a store built for it."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self

import httpx
from _demo import build_demo, catalogue_at, host_of, quietly
from rich.console import Console
from rich.progress import Progress

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import Executor
from agent.programs.program_types import ProgramForm
from agent.run_context import RunDeps
from domain.errors import UsageError
from domain.event import Event
from evaluation.answers import AnswerEvaluation, report
from evaluation.correctness import AnswerVerdict
from evaluation.evaluation_cases import EvaluationCase, ServiceChange, group_conversations
from evaluation.isolated_runs import IsolatedService, RedirectingExecutor, evaluate_isolated
from evaluation.planted_slips import SlipPlantingPolicy
from evaluation.result_files import VerdictFile
from playground.child import running_playground
from playground.worlds.clock import TODAY
from wiring.container import Container, open_container
from wiring.program_forms import get_form, read_forms
from wiring.runs import build_budget, build_run_deps
from wiring.settings import Settings, read_settings
from wiring.store_build import BuildOptions, build

console = Console(stderr=True)
_FRESH = httpx.Limits(max_keepalive_connections=0)
"""A connection that rested while a run was going on may be closed by the service in the moment it is used again."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is measured. ``schemas`` False: no document tells what a tool answers. ``offer_tokens``: as the setting; None: as that has it.
    ``slips``: the share of requests whose first program gets a slip. ``solutions``: a store whose library is known from the start; empty: there is none. ``model`` and ``form``: who writes programs and in what; empty without
    a model.
    """

    policy: str = "offline"
    planner: str = "dfs"
    schemas: bool = True
    offer_tokens: int | None = None
    slips: float = 0.0
    solutions: str = ""
    model: str = ""
    form: ProgramForm | Literal[""] = ""

    def with_model(self) -> Self:
        """The same with the model of the settings, and what it is known to write programs in."""
        if self.policy == "offline":
            return self
        settings = read_settings()
        return replace(self, model=settings.model_name, form=get_form(settings, read_forms(settings)))


@dataclass(frozen=True, slots=True)
class Pace:
    """``patience``: seconds that one answer of a model may take, and twenty times that for a run; None: as the settings have it."""

    at_once: int = 4
    patience: float | None = None


class StartedService:
    """One child process with its switches, for one run at a time."""

    def __init__(self, client: httpx.AsyncClient, container: Container, executor: Executor, who: Conditions) -> None:
        self._client, self._container, self._executor, self._who = client, container, executor, who

    async def reset(self) -> None:
        (await self._client.post("/_reset")).raise_for_status()

    async def list_changes(self) -> list[ServiceChange]:
        effects = (await self._client.get("/_ledger")).raise_for_status().json()
        return [ServiceChange(operation=effect["tool"], arguments=effect["arguments"]) for effect in effects]

    async def deps(self) -> RunDeps:
        hosts = self._container.settings.allow_hosts
        found = await build_run_deps(
            self._container, self._who.policy, self._executor, self._who.planner, approver=AllowChangesApprover(hosts)
        )
        slips = self._who.slips
        return found.with_policy(SlipPlantingPolicy(found.planning.policy, slips)) if slips else found


def answers_apart(
    asked: Sequence[EvaluationCase], who: Conditions, pace: Pace, results: Path | None, *, show_held_out: bool
) -> tuple[dict[str, Any], bool]:
    """The report, and whether it was interrupted, in which case it is of what was done. ``results``: where verdicts are kept; what
    is there already is not asked again.

    Raises:
        UsageError: no such policy or planner, or ``results`` of other conditions. UnavailableError: a service did not start.
    """
    who = who.with_model()
    kept = VerdictFile(results, asdict(who))
    done = kept.read(asked)
    left = [one for talk in group_conversations(asked) if any(one.id not in done for one in talk) for one in talk]
    stopped = asyncio.run(_ask(left, who, pace, kept, done))
    verdicts = tuple(done[one.id] for one in asked if one.id in done)
    figures = report(AnswerEvaluation(verdicts), show_held_out=show_held_out)
    return {**asdict(who), "asked": len(asked), "done": len(verdicts), **figures}, stopped


async def _ask(
    asked: Sequence[EvaluationCase], who: Conditions, pace: Pace, kept: VerdictFile, done: dict[str, AnswerVerdict]
) -> bool:
    """Run what is left; whether it was interrupted."""
    if not asked:
        return False
    async with _places(asked, who, pace) as (places, budget):
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("requests", total=len(asked))

            def noted(verdict: AnswerVerdict, events: Sequence[Event]) -> None:
                kept.add(verdict, events)
                done[verdict.case.id] = verdict
                bars.advance(task)

            work = asyncio.ensure_future(evaluate_isolated(asked, places, budget, noted, pace.at_once))
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, work.cancel)
            try:
                await work
            except asyncio.CancelledError:
                return True
    return False


@asynccontextmanager
async def _places(
    asked: Sequence[EvaluationCase], who: Conditions, pace: Pace
) -> AsyncGenerator[tuple[dict[str, list[IsolatedService]], Any]]:
    """As many running services of each kind as can be in use at once, over one store of each kind."""
    with ExitStack() as children, TemporaryDirectory(prefix="footpath-evaluation-") as folder:
        async with AsyncExitStack() as opened:
            places: dict[str, list[IsolatedService]] = {}
            budget: Any = None
            for service in sorted({one.service for one in asked}):
                count = min(pace.at_once, sum(one.service == service and one.turn <= 1 for one in asked))
                workshop = service == "workshop"
                started = [children.enter_context(running_playground(workshop=workshop)) for _ in range(count)]
                store = Path(folder) / service
                await (build_bare(started[0], store) if workshop else build_demo(started[0], store))
                container = await opened.enter_async_context(
                    open_container(settings_for(started, store, who, pace), store)
                )
                if not who.schemas:
                    await without_schemas(container)
                if who.solutions:
                    await with_solutions(container, Path(who.solutions))
                places[service] = [await place_at(opened, container, started[0], one, who) for one in started]
                budget = build_budget(container)
            yield places, budget


async def place_at(
    opened: AsyncExitStack, container: Container, named: str, address: str, who: Conditions
) -> StartedService:
    """A started service as a place. ``named``: the address that the store's documents have."""
    client = await opened.enter_async_context(
        httpx.AsyncClient(base_url=address, timeout=10, trust_env=False, limits=_FRESH)
    )
    executor = RedirectingExecutor(await container.open_executor("http"), named, address)
    return StartedService(client, container, executor, who)


def settings_for(addresses: Iterable[str], store: Path, who: Conditions, pace: Pace) -> Settings:
    """The settings of an evaluation on services at these addresses."""
    chosen: dict[str, Any] = {}
    if pace.patience is not None:
        chosen = {"model_timeout": pace.patience, "max_seconds": 20 * pace.patience}
    if who.offer_tokens is not None:
        chosen["offer_tokens"] = who.offer_tokens
    if who.form:  # what was found out lies beside the usual store
        chosen["program_form"] = who.form
    return Settings(store=store, today=TODAY, allow_hosts=frozenset(map(host_of, addresses)), **chosen)


async def build_bare(address: str, store: Path) -> None:
    """A store of the service's own document, and nothing else."""
    with TemporaryDirectory() as folder:
        catalogue = Path(folder) / "openapi.json"
        catalogue.write_bytes(await catalogue_at(address))
        await build(BuildOptions(tools=(catalogue,), store=store), quietly)


async def with_solutions(container: Container, store: Path) -> None:
    """Keep all solutions of another store as if they were shared and checked here, those whose tools are here."""
    async with open_container(store=store) as other:
        known = [one async for one in (await other.solution_store()).stream_all()]
    there = await container.graph.get_tools({tool for one in known for tool in one.path})
    fit = [
        one.model_copy(update={"owner": "", "fingerprints": {}})
        for one in known
        if all(tool in there for tool in one.path)
    ]
    await (await container.solutions("")).add(fit)


async def without_schemas(container: Container) -> None:
    """Take away what documents say, and what calls have taught, of the responses of all tools."""
    bare = [
        doc.model_copy(update={"response_schema": None, "example_response": None, "learnt_response": None})
        async for doc in container.graph.stream_documents()
    ]
    await container.graph.put_tools(bare)


def chosen(asked: Sequence[EvaluationCase], lines: str, limit: int | None) -> list[EvaluationCase]:
    """The requests of even or odd lines, counted from 1 over all files, of at most ``limit`` lines.

    Raises:
        UsageError: there is none.
    """
    if lines not in ("all", "even", "odd"):
        raise UsageError(f"--lines is all, even or odd, not {lines!r}")
    talks = enumerate(group_conversations(asked), start=1)
    found = [talk for at, talk in talks if lines == "all" or (at % 2 == 0) == (lines == "even")][:limit]
    if not found:
        raise UsageError("no request is left to ask")
    return [one for talk in found for one in talk]
