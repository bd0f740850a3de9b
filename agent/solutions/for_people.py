"""Solutions that people make: a plan and the requests that it serves."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from agent.plans.compiling import speaks
from agent.plans.inputs import input_names_shown
from agent.plans.request_template import named_in
from agent.programs.earlier import EARLIER
from agent.programs.stops import FILL, NAMED
from agent.solutions.from_run import path_of
from agent.text import clean
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionOrigin
from domain.source_text import parse_source


def solution_of(
    plan: ProgramPlan, patterns: Sequence[str], owner: str, origin: SolutionOrigin, *, runs: Sequence[str] = ()
) -> Solution:
    """Return a plan as a solution; ``patterns`` name its inputs as people know them.

    Raises:
        UsageError: it leaves values open, has no answer of its own, or its patterns do not name its inputs.
    """
    if wrong := next(_faults(plan, patterns), ""):
        raise UsageError(wrong)
    shown = input_names_shown(plan)
    own = tuple(dict.fromkeys(_renamed(one, shown) for one in patterns))
    inputs = plan.inputs
    if origin != "person":
        inputs = {name: _asked_for(name, one, own) for name, one in inputs.items()}
    bare = plan.model_copy(update={"values": {}, "inputs": inputs})
    path = path_of(plan.program)
    return Solution(
        id="new", owner=owner, plan=bare, patterns=own, path=path, origin=origin, runs=tuple(runs), at=datetime.now(UTC)
    )  # fmt: skip


def _asked_for(name: str, schema: JsonObject, patterns: Sequence[str]) -> JsonObject:
    """Return the schema of an input, without its default if every request names the input.

    Such a default would only be the value of the run that the plan came from.
    """
    named = all(name in named_in(one) for one in patterns)
    return {key: value for key, value in schema.items() if not (named and key == "default")}


def _faults(plan: ProgramPlan, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the reasons why a plan cannot be a solution."""
    text, shown = plan.program.text, input_names_shown(plan)
    open_ = sorted({FILL, NAMED, EARLIER} & parse_source(text).uses)
    if open_:
        yield f"the program leaves open what {open_[0]} stands for; a solution finds all of its values in its inputs and its calls"
    if not speaks(plan.program):
        yield "the program makes no answer of its own; end it with what it answers"
    if not patterns:
        yield "say which requests it serves, in one pattern at least, as: How many inhabitants does {city} have?"
    for pattern in patterns:
        told = clean(pattern, 200)
        named = named_in(pattern)
        if unknown := [name for name in named if name not in shown]:
            yield f"the pattern {told!r} names {unknown[0][:80]}, which is no input; there are {', '.join(shown) or 'none'}"
        missing = [one for one, name in shown.items() if one not in named and "default" not in plan.inputs[name]]
        if missing:
            yield f"the pattern {told!r} does not say where the value of {missing[0][:80]} stands: put {{{missing[0][:80]}}} there, or give it a default"


def _renamed(pattern: str, shown: dict[str, str]) -> str:
    """Return a pattern with the inputs' names in the text instead of the shown ones."""
    for name, own in shown.items():
        pattern = pattern.replace(f"{{{name}}}", f"{{{own}}}")
    return pattern
