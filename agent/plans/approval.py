"""A plan in front of its user before anything is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.plans.compiling import as_document
from agent.policy.protocol import Results
from domain.errors import NotLinearError
from domain.event import PathEnded, ProgramFailed
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId


def not_allowed(program: int = 0) -> PathEnded | ProgramFailed:
    """What is told of a plan that its user does not want. ``program``: that it was to go on from, 0: none."""
    if program:
        return ProgramFailed(
            number=program, error="what was to come next was not allowed, so it was not run", final=True
        )
    return PathEnded(path=(), how="gave_up", reason="its plan was not allowed, so nothing was called")


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """The plan of one subtask, as it was made. ``request``: the subtask's; ``given``: the tools of the steps that it builds on; ``made``:
    what they were called with. ``document``: the same plan as steps, where steps can say it. ``cell``: 1, or which program of the subtask it is, where
    it goes on from what others have found.
    """

    subtask: int
    request: str
    program: ProgramPlan
    document: PlanDocument | None = None
    given: tuple[ToolId, ...] = ()
    made: tuple[JsonObject, ...] = ()
    cell: int = 1


class Approves(Protocol):
    """Whoever decides on plans."""

    async def __call__(self, question: PlanQuestion) -> ProgramPlan | None:
        """What is to be carried out, in place of what was planned or the same; None: nothing is to be called.

        Asked again after the run was broken off, it gives the same answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlanQuestions:
    """Of one subtask. ``given``: the steps that it builds on."""

    subtask: int
    request: str
    given: Results = ()

    def about(self, document: PlanDocument | None, plan: ProgramPlan, cell: int = 1) -> PlanQuestion:
        """Whether this is to be carried out."""
        ids, made = tuple(tool.id for tool, _ in self.given), tuple(result.arguments for _, result in self.given)
        return PlanQuestion(self.subtask, self.request, plan, document, ids, made, cell)

    def about_written(self, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], cell: int) -> PlanQuestion:
        """Whether a program that was written is to be run; shown as steps, too, where steps can say its calls."""
        given = tuple(tool.id for tool, _ in self.given)
        try:
            document = as_document(plan, docs, given) if cell == 1 else None
        except NotLinearError:
            document = None
        return self.about(document, plan, cell)
