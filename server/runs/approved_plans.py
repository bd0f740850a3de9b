"""Plans that a run's user approved: they count as approval of the changes in them."""

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
    """A plan as its user approved it."""

    program: ProgramPlan | None
    document: PlanDocument | None
    """The plan of earlier versions, whose plans were lists of steps."""
    reach: Mapping[str, Mapping[str, str]]
    """Call target of each tool when the plan was approved; empty for plans of versions that did not record it."""

    def covers(self, call: IntendedCall) -> bool:
        """Return whether the approved plan makes this call.

        A program does if the call is in its text, goes to the same target, and has values that the user saw in it. A
        list of steps does if one step is this very call.
        """
        if self.reach.get(call.tool.id) != get_call_target(call.tool).model_dump():
            return False
        if self.program is None:
            return self.document is not None and stands_in(self.document, call.tool, call.arguments)
        same = bool(call.text) and call.text == self.program.program.text
        return same and not call.open and all(_stands(one) for one in call.judged.origins)


def _stands(origin: ValueOrigin) -> bool:
    """Return whether the user saw or said this value when they approved the text.

    The value is in the text, or is made of such values only. Users never saw the content of a response, and values that
    another author of a template fixed are not theirs.
    """
    match origin.kind:
        case "said" | "document":
            return True
        case "file" | "field" | "written" | "computed":  # a response may hold a value that is in the text too
            return origin.slice is not None and not origin.slice.foreign
        case "prose" | "others":
            return False


async def approved_plans(storage: Storage, run_id: str) -> list[ApprovedPlan]:
    """Load the plans of a run that its user approved."""
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
    """Return whether a step of the plan is this very call, with all its values fixed."""
    steps = [step for step in plan.steps if step.tool == tool.id and not step.takes and not step.named]
    return any(checked(tool, step.arguments)[0] == arguments for step in steps)
