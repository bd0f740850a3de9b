"""What is exported of a store: a solution, or the one that a run went by, with that run's values."""

from agent.exporting.exported import ExportedProgram, exported
from agent.plans.inputs import with_values
from agent.solutions.alignment import aligned, as_read
from domain.errors import UsageError
from domain.program import ProgramPlan
from domain.solution import Solution
from wiring.asked_runs import AskedRun, asked_runs
from wiring.container import Container


async def exported_program(container: Container, begins: str) -> ExportedProgram:
    """Of a solution or of a run that was asked of late, by its id or the beginning of it.

    Raises:
        UsageError: nothing is kept under it, or more than one thing; or it cannot be exported.
    """
    store = await container.solution_store()
    whole = (await store.get([begins])).get(begins)
    solutions = [whole] if whole else [one async for one in store.all() if begins and one.id.startswith(begins)]
    runs = [] if whole else await asked_runs(container, begins)
    if len(solutions) + len(runs) != 1:
        several = "several runs or solutions begin so" if solutions or runs else "there is no such run or solution"
        raise UsageError(
            f"{several}: {begins[:80]!r}; ask.py says a run's id at its end, solutions.py list those of solutions"
        )
    if solutions:
        return await _of(solutions[0], solutions[0].plan, container)
    went_by = await _went_by(runs[0], container)
    return await _of(went_by, _with_values(went_by, runs[0].judged.request), container)


async def _went_by(run: AskedRun, container: Container) -> Solution:
    """The solution that a run took, or was kept as."""
    kept = await (await container.solution_store()).get(run.judged.solutions)
    if len(kept) == 1:
        return next(iter(kept.values()))
    if kept:
        raise UsageError(f"the run went by several programs; export one of them: {', '.join(sorted(kept))}")
    raise UsageError(
        "no program of this run is kept: it was not answered by one, or that holds values which nobody said. Write one of"
        " your own (solutions.py add) and export that"
    )


def _with_values(solution: Solution, request: str) -> ProgramPlan:
    """The program with what the request says, where that can be told."""
    for pattern in solution.patterns:
        said = aligned(request, pattern)
        if said is not None:
            plan, wrong = with_values(solution.plan, {name: one.text for name, one in said.items()})
            if not wrong:
                return plan
    return solution.plan


async def _of(solution: Solution, plan: ProgramPlan, container: Container) -> ExportedProgram:
    docs = await container.graph.get_tools(plan.program.tools.values())
    return exported(plan, as_read(next(iter(solution.patterns), "")), docs)
