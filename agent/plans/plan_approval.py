"""Ask the user to approve a plan before any tool is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.plans.plan_compilation import to_plan_document
from agent.policy.protocol import Results
from domain.errors import NotLinearError
from domain.event import PathEnded, ProgramFailed
from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId


def build_denial_event(continued_program: int = 0) -> PathEnded | ProgramFailed:
    """Return the event for a plan that the user denied.

    ``continued_program``: number of the program whose continuation was denied; 0 if nothing has run yet.
    """
    if continued_program:
        return ProgramFailed(
            number=continued_program, error="what was to come next was not allowed, so it was not run", final=True
        )
    return PathEnded(path=(), how="gave_up", reason="its plan was not allowed, so nothing was called")


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """Question whether a plan of one subtask may be carried out."""

    subtask: int
    """Number of the subtask."""
    request: str
    """Request of the subtask."""
    program: ProgramPlan
    """The plan as a program."""
    document: PlanDocument | None = None
    """The plan as steps, if steps can express it."""
    earlier_tools: tuple[ToolId, ...] = ()
    """Tools of the earlier steps that the plan builds on, in order."""
    earlier_arguments: tuple[JsonObject, ...] = ()
    """Arguments with which these tools were called."""
    cell: int = 1
    """Number of the program within the subtask, from 1; later ones follow on earlier programs of the subtask."""


class PlanApprover(Protocol):
    """Callback by which a user approves, edits or denies a plan."""

    async def __call__(self, question: PlanQuestion) -> ProgramPlan | None:
        """Return the plan to carry out, edited or not; None if nothing may be called.

        When an interrupted run is resumed, the same question must get the same answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlanQuestionBuilder:
    """Builder of the approval questions of one subtask."""

    subtask: int
    """Number of the subtask."""
    request: str
    """Request of the subtask."""
    earlier_results: Results = ()
    """Results of the earlier steps that the subtask builds on."""

    def build_question(self, document: PlanDocument | None, plan: ProgramPlan, cell: int = 1) -> PlanQuestion:
        """Build the question whether a plan may be carried out.

        ``document``: the plan as steps, if steps can express it.
        """
        earlier_tools, earlier_arguments = (
            tuple(tool.id for tool, _ in self.earlier_results),
            tuple(result.arguments for _, result in self.earlier_results),
        )
        return PlanQuestion(self.subtask, self.request, plan, document, earlier_tools, earlier_arguments, cell)

    def build_program_question(self, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], cell: int) -> PlanQuestion:
        """Build the question whether a program that a model wrote may run.

        The first program of a subtask is also shown as steps, if steps can express its calls.
        """
        earlier_tools = tuple(tool.id for tool, _ in self.earlier_results)
        try:
            document = to_plan_document(plan, docs, earlier_tools) if cell == 1 else None
        except NotLinearError:
            document = None
        return self.build_question(document, plan, cell)
