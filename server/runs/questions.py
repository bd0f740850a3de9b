"""Questions of a run to its user, one at a time; while an answer is missing, the run is released and waits.

How a run waits on a server, which is durable execution:

1. ``Questions.answered`` writes the question into the rows, under an id that is the same each time the run comes to it.
   If the row has an answer, the run goes on.
2. Otherwise ``Asks.waits`` hands the question to the worker. :class:`server.runs.run_execution.RunExecution` cancels
   the run's task, emits the question as an event, stores the remaining events, and sets the run's status to
   ``waiting``. ``answered`` never returns: it awaits an event that nobody sets, and ends by that cancellation.
3. The user's answer is written into the row of the question, and the run is queued again
   (:mod:`server.storage.inputs`).
4. Any worker claims the run, and starts it with its stored events as ``past``. These are replayed and not done again
   (:mod:`agent.resume`), so the run comes to the same question, finds the answer in step 1 and goes on.

While a run waits it holds no task, no worker and no place among the running ones; its server may be stopped, and
another may resume it.
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
    """Callbacks with which questions reach the worker."""

    told: Callable[[], Awaitable[None]]
    """Waits until every event emitted so far is stored."""
    waits: Callable[[InputNeeded], None]
    """Emits the question and releases the run."""


class Questions:
    """Questions of one run.

    ``documents`` loads the documents of tools.

    Attributes:
        in_turn: held while a question is open, and while a call is made that a question must not interrupt.
        summaries: what the approved calls do, in words, by tool and identity.
    """

    def __init__(self, storage: Storage, run: Run, asks: Asks, documents: Documents) -> None:
        self.storage = storage
        self.run = run
        self.in_turn = asyncio.Lock()
        self.summaries: dict[tuple[ToolId, str], str] = {}
        self._asks = asks
        self._documents = documents

    async def told(self) -> None:
        """Wait until every event emitted so far is stored."""
        await self._asks.told()

    async def about_plan(self, question: PlanQuestion) -> ProgramPlan | None:
        """Ask about a plan; return it as the user approved it, None where it is refused.

        The answer holds the plan, so that later edits do not change it.
        """
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
        """Read the approved plan of an answer; earlier versions stored only its steps."""
        if "program" in answer:
            return ProgramPlan.model_validate(answer["program"])
        document = PlanDocument.model_validate(answer["document"])
        docs = await self._documents([*question.given, *(step.tool for step in document.steps)])
        return compiled(document, docs, question.given)

    async def answered(self, question: InputNeeded, besides: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the user's answer; while there is none, the run is released, and this ends by being cancelled.

        ``besides``: further data that is stored with the question.
        """
        told = question.model_dump(mode="json", include=_SHOWN, exclude_none=True)
        asked = await run_to_completion(
            self.storage.run_questions.ask(self.run.id, question.input, question.asks, told | (besides or {}))
        )
        if asked.answered_at is None:
            kept = cast("dict[str, Any]", asked.question)  # as first asked: a resumed run may have written another plan
            self._asks.waits(
                question.model_validate({**question.model_dump(), **{n: kept[n] for n in _SHOWN & {*kept}}})
            )
            await asyncio.Event().wait()  # step 2 above: the worker cancels the run
        return cast("dict[str, Any]", asked.answer)


def subtask_of(question: str) -> int:
    """Return the subtask whose plan a question is about, by the question's id; 0 where it is about none."""
    number = question.removeprefix(_PLAN).partition("-")[0] if question.startswith(_PLAN) else ""
    return int(number) if number.isdecimal() else 0
