"""Plans that a run's user approved: their word for the changes that stand in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent.execution.approval import IntendedCall
from agent.execution.validation import checked
from domain.model import JsonObject
from domain.origin import ValueOrigin
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc
from server.storage.database import run_to_completion
from server.storage.permissions import get_call_target
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """``reach``: where its tools were when it was approved; nothing of those that were approved before that was kept. ``document``: of versions whose
    plans were steps.
    """

    program: ProgramPlan | None
    document: PlanDocument | None
    reach: Mapping[str, Mapping[str, str]]

    def covers(self, call: IntendedCall) -> bool:
        """Whether its text makes this call, to where it went then and with values that its user saw in it; of steps, whether one is this very call."""
        if self.reach.get(call.tool.id) != get_call_target(call.tool).model_dump():
            return False
        if self.program is None:
            return self.document is not None and stands_in(self.document, call.tool, call.arguments)
        same = bool(call.text) and call.text == self.program.program.text
        return same and not call.open and all(_stands(one) for one in call.judged.origins)


def _stands(origin: ValueOrigin) -> bool:
    """Whether its user saw a value when they approved the text, or said it: it stands there, or is made of nothing else. What a response holds, they
    never saw; what a template's other author fixed is not theirs.
    """
    match origin.kind:
        case "said" | "document":
            return True
        case "file" | "field" | "written" | "computed":  # a response may hold what stands in the text, too
            return origin.slice is not None and not origin.slice.foreign
        case "prose" | "others":
            return False


async def approved_plans(storage: Storage, run_id: str) -> list[ApprovedPlan]:
    """The plans of a run that its user approved."""
    asked = await run_to_completion(storage.run_questions.list_all(run_id))
    answers = [cast("dict[str, Any]", one.answer) for one in asked if one.kind == "plan" and one.answer is not None]
    return [_read(answer) for answer in answers if answer.get("decision") == "allow"]


def _read(answer: dict[str, Any]) -> ApprovedPlan:
    program, document = answer.get("program"), answer.get("document")
    return ApprovedPlan(
        None if program is None else ProgramPlan.model_validate(program),
        None if document is None else PlanDocument.model_validate(document),
        answer.get("reach", {}),
    )


def stands_in(plan: PlanDocument, tool: ToolDoc, arguments: JsonObject) -> bool:
    """Whether a step of a plan is this very call, with all its values fixed."""
    steps = [step for step in plan.steps if step.tool == tool.id and not step.takes and not step.named]
    return any(checked(tool, step.arguments)[0] == arguments for step in steps)
