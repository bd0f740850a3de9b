"""What a run asks its user, one question at a time; where the answer is still open, the run is put down to wait for it.

How a run waits on a server, which is durable execution:

1. ``Questions.answered`` writes the question into the rows, under an id that is the same each time the run comes to it. If the row has an answer, the run goes on.
2. Else ``Asks.waits`` hands the question to the worker. :class:`server.runs.run_execution.RunExecution` cancels the run's task, emits the question as an event, stores the events
   that are left, and sets the run's status to ``waiting``. ``answered`` never returns: it awaits an event that nobody sets, and ends by that cancellation.
3. The user's answer is written into the row of the question, and the run is queued again (:mod:`server.storage.inputs`).
4. Any worker takes the run, and begins it with its stored events as ``past``. What they tell is replayed and not done again (:mod:`agent.resume`), so the run comes
   to the same question, finds the answer in step 1 and goes on.

While a run waits it holds no task, no worker and no place among the runs at once; its server may be stopped and another may go on with it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from agent.plans.approval import PlanQuestion
from agent.plans.compiling import compiled
from domain.event import InputNeeded
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolId
from server.runs.given_plans import Documents
from server.storage.database import run_to_completion
from server.storage.runs import Run
from server.storage.storage import Storage

_PLAN = "plan-"
_SHOWN = {"tool", "arguments", "reason", "plan", "program", "choices", "summary", "undo", "host", "origins", "calls"}


@dataclass(frozen=True, slots=True)
class Asks:
    """``told``: has every event that was told so far stored. ``waits``: tells the question and has the run put down."""

    told: Callable[[], Awaitable[None]]
    waits: Callable[[InputNeeded], None]


class Questions:
    """One run's. ``in_turn``: held while a question is open, and while a call is made that must not be cut off by one.

    ``documents``: reads those of tools. ``summaries``: what the calls do that were let through, in words, by tool and identity.
    """

    def __init__(self, storage: Storage, run: Run, asks: Asks, documents: Documents) -> None:
        self.storage = storage
        self.run = run
        self.in_turn = asyncio.Lock()
        self.summaries: dict[tuple[ToolId, str], str] = {}
        self._asks = asks
        self._documents = documents

    async def told(self) -> None:
        """Have every event that was told so far stored."""
        await self._asks.told()

    async def about_plan(self, question: PlanQuestion) -> ProgramPlan | None:
        """The plan as its user approved it; None where it is not allowed. The answer holds it, whatever is edited later."""
        async with self.in_turn:
            await self.told()
            cell = f"-{question.cell}" if question.cell > 1 else ""
            asked = InputNeeded(
                input=f"{_PLAN}{question.subtask}{cell}",
                asks="plan",
                reason="Is this plan to be carried out? It may be changed first.",
                plan=question.document,
                program=question.program,
            )
            given, made = list(question.given), list(question.made)
            answer = await self.answered(asked, {"request": question.request, "given": given, "made": made})
        return await self._approved(answer, question) if answer["decision"] == "allow" else None

    async def _approved(self, answer: dict[str, Any], question: PlanQuestion) -> ProgramPlan:
        """Versions before kept the steps alone that were approved."""
        if "program" in answer:
            return ProgramPlan.model_validate(answer["program"])
        document = PlanDocument.model_validate(answer["document"])
        docs = await self._documents([*question.given, *(step.tool for step in document.steps)])
        return compiled(document, docs, question.given)

    async def answered(self, question: InputNeeded, besides: dict[str, Any] | None = None) -> dict[str, Any]:
        """The user's answer. While it is open, the run is put down, and this ends by being cancelled. ``besides``: kept with it."""
        told = question.model_dump(mode="json", include=_SHOWN, exclude_none=True)
        asked = await run_to_completion(
            self.storage.run_questions.ask(self.run.id, question.input, question.asks, told | (besides or {}))
        )
        if asked.answered_at is None:
            kept = cast(
                "dict[str, Any]", asked.question
            )  # as it was first asked: a plan may have been written anew since
            self._asks.waits(
                question.model_validate({**question.model_dump(), **{n: kept[n] for n in _SHOWN & {*kept}}})
            )
            await asyncio.Event().wait()  # step 2: until the worker cancels the run
        return cast("dict[str, Any]", asked.answer)


def subtask_of(question: str) -> int:
    """The subtask whose plan a question is about, by the question's id; 0 where it is about none."""
    number = question.removeprefix(_PLAN).partition("-")[0] if question.startswith(_PLAN) else ""
    return int(number) if number.isdecimal() else 0
