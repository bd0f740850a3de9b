"""Solutions from plans that people make, with the requests that they serve, and from memories of earlier versions."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from agent.plans.compilation import has_own_answer
from agent.plans.inputs import map_shown_names
from agent.plans.request_template import find_names
from agent.programs.program_request import EARLIER
from agent.programs.sandbox_cell import FILL, NAMED
from agent.solutions.from_run import collect_path
from agent.text import clean
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionOrigin
from domain.source_text import parse_source


def build_solution_from_plan(
    plan: ProgramPlan, patterns: Sequence[str], owner: str, origin: SolutionOrigin, *, runs: Sequence[str] = ()
) -> Solution:
    """Return a plan as a solution.

    Args:
        plan: the plan.
        patterns: the requests that it serves, with the shown names of its inputs in braces.
        owner: owner of the solution.
        origin: where the plan comes from.
        runs: runs that the plan served.

    Raises:
        UsageError: the plan leaves values open or has no answer of its own, or the patterns do not name its inputs.
    """
    if wrong := next(_find_faults(plan, patterns), ""):
        raise UsageError(wrong)
    shown_names = map_shown_names(plan)
    own_patterns = tuple(dict.fromkeys(_rename_inputs(one, shown_names) for one in patterns))
    inputs = plan.inputs
    if origin != "person":
        inputs = {name: _drop_run_default(name, one, own_patterns) for name, one in inputs.items()}
    bare_plan = plan.model_copy(update={"values": {}, "inputs": inputs})
    path = collect_path(plan.program)
    return Solution(
        id="new", owner=owner, plan=bare_plan, patterns=own_patterns, path=path, origin=origin, runs=tuple(runs), at=datetime.now(UTC)
    )  # fmt: skip


def _drop_run_default(name: str, schema: JsonObject, patterns: Sequence[str]) -> JsonObject:
    """Return the schema of an input, without its default if every pattern names the input.

    Such a default is only the value of the run that the plan came from.
    """
    is_always_named = all(name in find_names(one) for one in patterns)
    return {key: value for key, value in schema.items() if not (is_always_named and key == "default")}


def _find_faults(plan: ProgramPlan, patterns: Sequence[str]) -> Iterator[str]:
    """Yield why a plan cannot be a solution, and what to do about it."""
    text, shown_names = plan.program.text, map_shown_names(plan)
    open_ = sorted({FILL, NAMED, EARLIER} & parse_source(text).uses)
    if open_:
        yield f"the program leaves open what {open_[0]} stands for; a solution finds all of its values in its inputs and its calls"
    if not has_own_answer(plan.program):
        yield "the program makes no answer of its own; end it with what it answers"
    if not patterns:
        yield "say which requests it serves, in one pattern at least, as: How many inhabitants does {city} have?"
    for pattern in patterns:
        shown_pattern = clean(pattern, 200)
        pattern_names = find_names(pattern)
        if unknown := [name for name in pattern_names if name not in shown_names]:
            yield f"the pattern {shown_pattern!r} names {unknown[0][:80]}, which is no input; there are {', '.join(shown_names) or 'none'}"
        missing = [
            one for one, name in shown_names.items() if one not in pattern_names and "default" not in plan.inputs[name]
        ]
        if missing:
            yield f"the pattern {shown_pattern!r} does not say where the value of {missing[0][:80]} stands: put {{{missing[0][:80]}}} there, or give it a default"


def _rename_inputs(pattern: str, shown_names: dict[str, str]) -> str:
    """Return a pattern with the names that inputs have in the program, in place of the shown ones."""
    for name, own in shown_names.items():
        pattern = pattern.replace(f"{{{name}}}", f"{{{own}}}")
    return pattern
