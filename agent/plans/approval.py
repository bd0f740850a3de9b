"""A plan in front of its user before anything is called."""

from dataclasses import dataclass
from typing import Protocol

from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """The plan of one subtask, as it was made. ``request``: the subtask's; ``given``: the tools of the steps that it builds on; ``made``:
    what they were called with. ``program``: the plan, where it was written as a program.
    """

    subtask: int
    request: str
    document: PlanDocument
    given: tuple[ToolId, ...] = ()
    made: tuple[JsonObject, ...] = ()
    program: ProgramPlan | None = None


class Approves(Protocol):
    """Whoever decides on plans."""

    async def __call__(self, question: PlanQuestion) -> PlanDocument | None:
        """What is to be carried out, in place of what was planned or the same; None: nothing is to be called.

        Asked again after the run was broken off, it gives the same answer.
        """
        ...
