"""Plans that a run's user approved: their word for the changes that stand in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent.execution.approval import IntendedCall
from agent.execution.validation import checked
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.tool import ToolDoc
from server.storage.allowed_tools import reach_of
from server.storage.shielded import shielded
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """``reach``: where its tools were when it was approved; nothing of those that were approved before that was kept."""

    document: PlanDocument
    reach: Mapping[str, Mapping[str, str]]

    def covers(self, call: IntendedCall) -> bool:
        """Whether a step of it is this very call, to where it went then."""
        same = self.reach.get(call.tool.id) == reach_of(call.tool).model_dump()
        return same and stands_in(self.document, call.tool, call.arguments)


async def approved_plans(storage: Storage, run_id: str) -> list[ApprovedPlan]:
    """The plans of a run that its user approved."""
    asked = await shielded(storage.inputs.all(run_id))
    answers = [cast("dict[str, Any]", one.answer) for one in asked if one.kind == "plan" and one.answer is not None]
    return [
        ApprovedPlan(PlanDocument.model_validate(answer["document"]), answer.get("reach", {}))
        for answer in answers
        if "document" in answer
    ]


def stands_in(plan: PlanDocument, tool: ToolDoc, arguments: JsonObject) -> bool:
    """Whether a step of a plan is this very call, with all its values fixed."""
    steps = [step for step in plan.steps if step.tool == tool.id and not step.takes and not step.named]
    return any(checked(tool, step.arguments)[0] == arguments for step in steps)
