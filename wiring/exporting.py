"""Export of programs: of a solution, or of the program that served a run, with that run's values."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from agent.exporting.exported import ExportedProgram, exported
from agent.plans.carried_out import carried_out, generalised
from agent.plans.inputs import input_names_shown
from agent.solutions.alignment import as_read
from agent.solutions.from_run import taken
from domain.errors import NotLinearError, UnavailableError, UsageError
from domain.event import CallFinished, EventRecord, RunStarted
from domain.program import ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId
from wiring.asked_runs import AskedRun, WentBy, asked_runs
from wiring.container import Container

_log = logging.getLogger(__name__)


async def went_by(
    container: Container, records: Sequence[EventRecord], given: ProgramPlan | None = None
) -> WentBy | None:
    """Return the program that served an ended run, from its events; ``given``: the plan that it was given.

    None where nothing was called, or no program describes the run.
    """
    for one in taken(records):
        if one.told.how != "chosen" and one.ended is not None and one.ended.verdict == "yes":
            return WentBy(solution=one.told.solution, values=one.told.values)
    called = {one.event.result.tool for one in records if isinstance(one.event, CallFinished)}
    request = next((one.event.request for one in records if isinstance(one.event, RunStarted)), "")
    if not called:
        return None
    try:
        docs = await container.graph.get_tools(called)
        plan, words = await asyncio.to_thread(
            _generalised, request, records, docs, given
        )  # parses long answers, so not in the event loop
    except (NotLinearError, UsageError):  # UsageError: it works on a file, which only its run has
        return None
    except UnavailableError as error:  # not an error of the run: its answer was given already
        _log.warning("this run cannot be exported later: %s", error)
        return None
    return WentBy(plan=plan.model_copy(update={"program": plan.program.model_copy(update={"stubs": ""})}), words=words)


def _generalised(
    request: str, records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc], given: ProgramPlan | None
) -> tuple[ProgramPlan, str]:
    made = carried_out(request, records, docs, given)
    made.refuse_files("what is exported")
    return generalised(made, request, docs)


async def exported_program(container: Container, begins: str) -> ExportedProgram:
    """Export a solution or a recent run, by its id or the beginning of it.

    Raises:
        UsageError: there is none under it, or more than one; or it cannot be exported.
    """
    store = await container.solution_store()
    whole = (await store.get([begins])).get(begins)
    solutions = [whole] if whole else [one async for one in store.all() if begins and one.id.startswith(begins)]
    runs = [] if whole else await asked_runs(container, begins)
    if len(solutions) + len(runs) != 1:
        several = "several runs or solutions begin so" if solutions or runs else "there is no such run or solution"
        known = "python scripts/ask.py says a run's id at its end, python scripts/solutions.py list names the solutions"
        raise UsageError(f"{several}: {begins[:80]!r}; {known}")
    if runs:
        return await _of_run(runs[0], container)
    return await _of_solution(solutions[0], solutions[0].plan, container)


async def _of_run(run: AskedRun, container: Container) -> ExportedProgram:
    by = run.went_by
    if by is not None and by.plan is not None:
        docs = await container.graph.get_tools(by.plan.program.tools.values())
        return exported(by.plan, by.words, docs)
    kept = await (await container.solution_store()).get([by.solution] if by is not None else [])
    if by is None or not kept:
        raise UsageError(
            "no program of this run is kept: it called nothing, or did what no program says, or the solution that it took is forgotten. Ask anew, or write one"
            " of your own (python scripts/solutions.py add) and export that"
        )
    solution = kept[by.solution]
    names = input_names_shown(solution.plan)
    values = {names.get(name, name): value for name, value in by.values.items()}
    return await _of_solution(solution, solution.plan.model_copy(update={"values": values}), container)


async def _of_solution(solution: Solution, plan: ProgramPlan, container: Container) -> ExportedProgram:
    docs = await container.graph.get_tools(plan.program.tools.values())
    return exported(plan, as_read(next(iter(solution.patterns), "")), docs)
