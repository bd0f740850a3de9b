"""`evaluate.py soay`: SoAyEval of one or several planners on the same questions of a scenario of the playground."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
import typer
from _answers_apart import Conditions, Pace, build_bare, place_at, settings_for
from _evaluate_output import scoring, tell
from _soay_questions import questions_of, write_gold
from _soay_view import show_soay
from rich.console import Console
from rich.progress import Progress

from agent.planners.registry import get_planner
from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from evaluation.soay import PAPER, SoayQuestion, SoayVerdict, SoayVerdictFile, compute_soay_figures, evaluate_soay
from playground.child import running_playground
from playground.soay.application import Scenario
from playground.soay.benchmark import Built, Language, built, checked, stratified
from wiring.container import Container, open_container
from wiring.runs import build_budget

console = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Services:
    """A store over a scenario's services, of which the documents name the ``first``."""

    container: Container
    addresses: Sequence[str]
    named: str
    docs: dict[ToolId, ToolDoc]


def soay(
    scenario: Annotated[Scenario, typer.Option(help="scholar, works or books: what is asked about.")] = "scholar",
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    planner: Annotated[
        list[str] | None,
        typer.Option(help="How to plan; several times: each on the same questions. The policy's usual one."),
    ] = None,
    lines: Annotated[str, typer.Option(help="Templates of all, even (to tune on) or odd (to report) numbers.")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions, the first ones.")] = None,
    spread: Annotated[bool, typer.Option("--stratified", help="With --limit: spread over all templates.")] = False,
    language: Annotated[Language, typer.Option(help="Of the questions: en or zh.")] = "en",
    store: Annotated[
        Path | None,
        typer.Option(help="A store of the scenario, with solutions perhaps; it is copied. Else one is built."),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=32, help="Questions at a time.")] = 2,
    patience: Annotated[float | None, typer.Option(min=1, help="Seconds that a model may take for one answer.")] = None,
    results: Annotated[
        Path | None, typer.Option(help="Keep verdicts here, and go on from those that are there.")
    ] = None,
    triplets: Annotated[
        Path | None,
        typer.Option(help="Write the questions with their gold solutions here, for training; nothing is run."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """SoAyEval: exact match, different solution, wrong solution, wrong program, execution error; accuracy by hops, and the score."""
    with scoring():
        if store is not None and not store.is_dir():
            raise UsageError(f"{store} is no folder; name that of a store, or leave --store out")
        chosen = _chosen(scenario, language, lines, limit, spread=spread)
        if triplets is not None:
            console.print(f"{write_gold(triplets, chosen)} triplets in {triplets}")
            return
        for name in planner or ():
            get_planner(name)  # one that is not there is told before anything is started
        who = [Conditions(policy, name).with_model() for name in planner or [""]]
        figures = asyncio.run(
            _measured(chosen, who, Pace(at_once, patience), store, SoayVerdictFile(results), language)
        )
    tell({"scenario": scenario, "language": language, "paper": PAPER, **figures}, show_soay, as_json=as_json)


def _chosen(scenario: Scenario, language: Language, lines: str, limit: int | None, *, spread: bool) -> list[Built]:
    if lines not in ("all", "even", "odd"):
        raise UsageError(f"--lines is all, even or odd, not {lines!r}")
    found = [
        one
        for one in built(scenario, language)
        if lines == "all" or (one.template.number % 2 == 0) == (lines == "even")
    ]
    return stratified(found, limit) if spread and limit else found[:limit]


async def _measured(
    chosen: Sequence[Built],
    who: Sequence[Conditions],
    pace: Pace,
    store: Path | None,
    kept: SoayVerdictFile,
    language: Language,
) -> dict[str, Any]:
    """The figures of each planner. The gold programs are run first: what they say must be what the world says."""
    planners: dict[str, Any] = {}
    async with _services(chosen[0].scenario, who[0], pace, store) as services:
        async with httpx.AsyncClient(base_url=services.addresses[0], timeout=20, trust_env=False) as client:
            if wrong := await checked(chosen, client):
                raise UsageError(f"gold programs that do not say what the world says: {'; '.join(wrong)}")
        questions = questions_of(chosen, services.docs)
        for one in who:
            conditions = {"policy": one.policy, "planner": one.planner, "model": one.model, "scenario": chosen[0].scenario, "language": language, "store": str(store or "")}  # fmt: skip
            done = {
                name: verdict for name, verdict in kept.read(conditions).items() if name in {q.id for q in questions}
            }

            def note(
                verdict: SoayVerdict, done: dict[str, SoayVerdict] = done, told: dict[str, Any] = conditions
            ) -> None:
                kept.add(told, verdict)
                done[verdict.id] = verdict

            await _ask([q for q in questions if q.id not in done], services, one, note)
            figures = compute_soay_figures([done[q.id] for q in questions if q.id in done])
            planners[one.planner or "usual"] = {"policy": one.policy, "model": one.model, **figures}
    return {"questions": len(questions), "planners": planners}


async def _ask(questions: Sequence[SoayQuestion], services: Services, who: Conditions, note: Any) -> None:
    async with AsyncExitStack() as opened:
        places = [
            await place_at(opened, services.container, services.named, address, who) for address in services.addresses
        ]
        await places[0].deps()  # no such policy or planner: told before any run
        bars = opened.enter_context(Progress(console=console, transient=True, disable=not console.is_terminal))
        task = bars.add_task(who.planner or who.policy, total=len(questions))

        def done(verdict: SoayVerdict) -> None:
            note(verdict)
            bars.advance(task)

        await evaluate_soay(questions, places, services.docs, build_budget(services.container), done)


@asynccontextmanager
async def _services(scenario: Scenario, who: Conditions, pace: Pace, store: Path | None) -> AsyncGenerator[Services]:
    """As many running services as there are runs at a time, over one store."""
    with ExitStack() as children, TemporaryDirectory(prefix="footpath-soay-") as folder:
        addresses = [children.enter_context(running_playground(scenario=scenario)) for _ in range(pace.at_once)]
        copy = Path(folder) / "store"
        if store is None:
            await build_bare(addresses[0], copy)
        else:
            await asyncio.to_thread(shutil.copytree, store, copy)
        async with open_container(settings_for(addresses, copy, who, pace), copy) as container:
            docs = {doc.id: doc async for doc in container.graph.stream_documents()}
            yield Services(container, addresses, _named(docs), docs)


def _named(docs: dict[ToolId, ToolDoc]) -> str:
    """The address that a store's documents have."""
    for doc in docs.values():
        parts = urlsplit(doc.url)
        return f"{parts.scheme}://{parts.netloc}"
    raise UsageError("the store holds no tool; build it from the scenario's OpenAPI document")
