"""Plans that a run's user approved: their word for the changes that stand in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent.execution.approval import IntendedCall
from agent.execution.validation import checked
from domain.model import JsonObject
from domain.origin import ValueKind
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc
from server.storage.allowed_tools import reach_of
from server.storage.shielded import shielded
from server.storage.storage import Storage

_STANDS: frozenset[ValueKind] = frozenset({"said", "document"})
"""Where a value comes from that stands in the plan itself."""


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """``text``: of its program; ``document``: its steps, where a version before has kept these alone. ``reach``: where its tools were when it was approved;
    nothing of those that were approved before that was kept.
    """

    text: str
    document: PlanDocument | None
    reach: Mapping[str, Mapping[str, str]]

    def covers(self, call: IntendedCall) -> bool:
        """Whether it makes this very call of values that all stand in it, to where it went then."""
        if self.reach.get(call.tool.id) != reach_of(call.tool).model_dump():
            return False
        if self.document is not None:
            return stands_in(self.document, call.tool, call.arguments)
        return call.text == self.text and not call.open and {one.kind for one in call.judged.origins} <= _STANDS


async def approved_plans(storage: Storage, run_id: str) -> list[ApprovedPlan]:
    """The plans of a run that its user approved."""
    asked = await shielded(storage.inputs.all(run_id))
    answers = [cast("dict[str, Any]", one.answer) for one in asked if one.kind == "plan" and one.answer is not None]
    return [_approved(answer) for answer in answers if answer["decision"] == "allow"]


def _approved(answer: dict[str, Any]) -> ApprovedPlan:
    reach = answer.get("reach", {})
    if "program" in answer:
        return ApprovedPlan(ProgramPlan.model_validate(answer["program"]).program.text, None, reach)
    return ApprovedPlan("", PlanDocument.model_validate(answer["document"]), reach)


def stands_in(plan: PlanDocument, tool: ToolDoc, arguments: JsonObject) -> bool:
    """Whether a step of a plan is this very call, with all its values fixed."""
    steps = [step for step in plan.steps if step.tool == tool.id and not step.takes and not step.named]
    return any(checked(tool, step.arguments)[0] == arguments for step in steps)
