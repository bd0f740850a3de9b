"""What one program does otherwise than another, line by line, for who decides whether to take it; of those that are no more than steps, step by step."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from agent.plans.compiling import as_document, speaks
from agent.plans.differences import Difference, apart, differences, of_parameters
from agent.plans.inputs import shown_inputs
from domain.errors import NotLinearError
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId


def plan_differences(before: ProgramPlan, after: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> tuple[Difference, ...]:
    """In the order of the newer one, what its inputs differ in last."""
    steps = _steps(before, docs), _steps(after, docs)
    if steps[0] is not None and steps[1] is not None:
        return differences(steps[0], steps[1])
    inputs = of_parameters(shown_inputs(before), shown_inputs(after))
    return (*_of_texts(before.program.text, after.program.text), *_of_tools(before, after), *inputs)


def _steps(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> PlanDocument | None:
    try:
        return None if speaks(plan.program) else as_document(plan, docs)
    except (NotLinearError, SyntaxError, ValueError, RecursionError):
        return None


def _of_texts(before: str, after: str) -> Iterator[Difference]:
    old, new = before.splitlines(), after.splitlines()
    for kind, start, end, start_after, end_after in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, come = old[start:end], new[start_after:end_after]
        for at, (one, other) in enumerate(zip(gone, come, strict=False)):
            shown = apart(one, other)
            said = f"Line {start_after + at + 1} is `{shown[1]}` instead of `{shown[0]}`."
            yield Difference(None, said, one, other)
        for at, line in enumerate(come[len(gone) :], start=start_after + len(gone) + 1):
            yield Difference(None, f"Line {at} is new: `{apart(line, '')[0]}`.", after=line)
        for at, line in enumerate(gone[len(come) :], start=start + len(come) + 1):
            yield Difference(None, f"Line {at} of the older one is gone: `{apart(line, '')[0]}`.", before=line)


def _of_tools(before: ProgramPlan, after: ProgramPlan) -> Iterator[Difference]:
    """A function of the same name that calls something else."""
    old, new = before.program.tools, after.program.tools
    for name in (name for name in new if name in old and old[name] != new[name]):
        yield Difference(None, f"`{name}` calls {new[name]} instead of {old[name]}.", old[name], new[name])
