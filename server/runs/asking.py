"""Calls that change something wait for their user, unless the tool is on the user's list or the call stands in a plan of theirs."""

from agent.executor import CallResult, Executor
from agent.tool_text import clean
from agent.validation import checked
from domain.errors import NotAllowedError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.tool import ToolDoc
from server.runs.ledger import call_key
from server.runs.questions import Questions
from server.storage.unbroken import unbroken


class AskingExecutor:
    """One run's, around the one that keeps the ledger. Safe calls pass.

    The others are made one after the other, so that none is under way when the run is put down to wait for its user.
    """

    def __init__(self, executor: Executor, questions: Questions) -> None:
        self.name = executor.name
        self._executor = executor
        self._questions = questions

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The call's result, once it is allowed. ``NotAllowedError`` where it is not."""
        if tool.safe:
            return await self._executor.call(tool, arguments)
        async with self._questions.in_turn:
            await self._questions.told()
            await self._allowed(tool, arguments)
            return await self._executor.call(tool, arguments)

    async def _allowed(self, tool: ToolDoc, arguments: JsonObject) -> None:
        storage, run = self._questions.storage, self._questions.run
        key = call_key(tool.id, arguments)
        if await unbroken(storage.effects.get(run.id, key)) is not None:
            return  # it was allowed, and begun: what became of it is another question
        asked = await unbroken(storage.inputs.get(run.id, key))
        if asked is None:
            if tool.id in await unbroken(storage.allowed_tools.all(run.user_id)):
                return
            if any(stands_in(plan, tool, arguments) for plan in await self._approved()):
                return
        reason = f"May {clean(tool.api, 80)} be called? {why_asked(tool)}"
        question = InputNeeded(input=key, asks="call", tool=tool.id, arguments=arguments, reason=reason)
        if (await self._questions.answered(question))["decision"] != "allow":
            raise NotAllowedError("You did not allow this call, so it was not made.")

    async def _approved(self) -> list[PlanDocument]:
        """The plans of this run that its user approved."""
        asked = await unbroken(self._questions.storage.inputs.all(self._questions.run.id))
        answers = [one.answer for one in asked if one.kind == "plan" and isinstance(one.answer, dict)]
        return [PlanDocument.model_validate(answer["document"]) for answer in answers if "document" in answer]

    async def close(self) -> None:
        """Nothing: the executor that makes the calls belongs to all of a user's runs."""


def why_asked(tool: ToolDoc) -> str:
    """What a user is told of a tool's side effect, and who says so."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."


def stands_in(plan: PlanDocument, tool: ToolDoc, arguments: JsonObject) -> bool:
    """Whether a step of a plan is this very call, with all its values fixed."""
    steps = [step for step in plan.steps if step.tool == tool.id and not step.takes and not step.named]
    return any(checked(tool, step.arguments)[0] == arguments for step in steps)
