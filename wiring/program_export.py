"""Export of programs: of a solution, or of the program that served a run, with that run's values."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from agent.exporting.exported_program import ExportedProgram, build_exported_program
from agent.plans.executed_plan import build_executed_plan, generalize_plan
from agent.plans.plan_inputs import map_shown_names
from agent.solutions.extraction import collect_selected_solutions
from agent.solutions.patterns import resolve_alternatives
from domain.errors import NotLinearError, UnavailableError, UsageError
from domain.event import CallFinished, EventRecord, RunStarted
from domain.program import ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId
from wiring.container import Container
from wiring.run_history import RunBasis, RunHistoryEntry, find_runs

_log = logging.getLogger(__name__)


async def find_run_basis(
    container: Container, records: Sequence[EventRecord], given_plan: ProgramPlan | None = None
) -> RunBasis | None:
    """Return the program that served an ended run, from its events; ``given_plan``: the plan that it was given.

    None where nothing was called, or no program describes the run.
    """
    for record in collect_selected_solutions(records):
        if record.event.how != "chosen" and record.end is not None and record.end.verdict == "yes":
            return RunBasis(solution=record.event.solution, values=record.event.values)
    called = {record.event.result.tool for record in records if isinstance(record.event, CallFinished)}
    request = next((record.event.request for record in records if isinstance(record.event, RunStarted)), "")
    if not called:
        return None
    try:
        docs = await container.graph.get_tools(called)
        plan, words = await asyncio.to_thread(
            _generalize_run, request, records, docs, given_plan
        )  # parses long answers, so not in the event loop
    except (NotLinearError, UsageError):  # UsageError: it works on a file, which only its run has
        return None
    except UnavailableError as error:  # not an error of the run: its answer was given already
        _log.warning("this run cannot be exported later: %s", error)
        return None
    return RunBasis(
        plan=plan.model_copy(update={"program": plan.program.model_copy(update={"stubs": ""})}), words=words
    )


def _generalize_run(
    request: str, records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc], given_plan: ProgramPlan | None
) -> tuple[ProgramPlan, str]:
    executed = build_executed_plan(request, records, docs, given_plan)
    executed.refuse_files("what is exported")
    return generalize_plan(executed, request, docs)


async def export_program(container: Container, id_prefix: str) -> ExportedProgram:
    """Export a solution or a recent run, by its id or the beginning of it.

    Raises:
        UsageError: there is none under it, or more than one; or it cannot be exported.
    """
    store = await container.solution_store()
    exact = (await store.get([id_prefix])).get(id_prefix)
    solutions = (
        [exact]
        if exact
        else [solution async for solution in store.stream_all() if id_prefix and solution.id.startswith(id_prefix)]
    )
    runs = [] if exact else await find_runs(container, id_prefix)
    if len(solutions) + len(runs) != 1:
        problem = "several runs or solutions begin so" if solutions or runs else "there is no such run or solution"
        hint = "python scripts/ask.py says a run's id at its end, python scripts/solutions.py list names the solutions"
        raise UsageError(f"{problem}: {id_prefix[:80]!r}; {hint}")
    if runs:
        return await _export_run(runs[0], container)
    return await _export_solution(solutions[0], solutions[0].plan, container)


async def _export_run(run: RunHistoryEntry, container: Container) -> ExportedProgram:
    basis = run.went_by
    if basis is not None and basis.plan is not None:
        docs = await container.graph.get_tools(basis.plan.program.tools.values())
        return build_exported_program(basis.plan, basis.words, docs)
    stored = await (await container.solution_store()).get([basis.solution] if basis is not None else [])
    if basis is None or not stored:
        raise UsageError(
            "no program of this run is kept: it called nothing, or did what no program says, or the solution that it took is forgotten. Ask anew, or write one"
            " of your own (python scripts/solutions.py add) and export that"
        )
    solution = stored[basis.solution]
    names = map_shown_names(solution.plan)
    values = {names.get(name, name): value for name, value in basis.values.items()}
    return await _export_solution(solution, solution.plan.model_copy(update={"values": values}), container)


async def _export_solution(solution: Solution, plan: ProgramPlan, container: Container) -> ExportedProgram:
    docs = await container.graph.get_tools(plan.program.tools.values())
    return build_exported_program(plan, resolve_alternatives(next(iter(solution.patterns), "")), docs)
