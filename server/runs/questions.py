"""Questions of a run to its user, one at a time; while an answer is missing, the run is released and waits.

How a run waits on a server, which is durable execution:

1. ``DurableQuestions.ask`` writes the question into the rows, under an id that is the same each time the run comes to it.
   If the row has an answer, the run goes on.
2. Otherwise ``QuestionChannel.wait_for_user`` hands the question to the worker. :class:`server.runs.run_execution.RunExecution` cancels
   the run's task, emits the question as an event, stores the remaining events, and sets the run's status to
   ``waiting``. ``ask`` never returns: it awaits an event that nobody sets, and ends by that cancellation.
3. The user's answer is written into the row of the question, and the run is queued again
   (:class:`server.storage.run_records.RunQuestions`).
4. Any worker claims the run, and starts it with its stored events as ``past``. These are replayed and not done again
   (:mod:`agent.resume`), so the run comes to the same question, finds the answer in step 1 and goes on.

While a run waits it holds no task, no worker and no place among the running ones; its server may be stopped, and
another may resume it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from agent.plans.plan_approval import PlanQuestion
from agent.user_questions import UserQuestion
from domain.event import InputNeeded
from domain.program import ProgramPlan
from domain.tool import ToolId
from server.storage.database import run_to_completion
from server.storage.runs import Run
from server.storage.storage import Storage

_PLAN_PREFIX = "plan-"
_QUESTION_FIELDS = {
    "tool",
    "arguments",
    "reason",
    "plan",
    "program",
    "choices",
    "summary",
    "undo",
    "host",
    "origins",
    "calls",
}


@dataclass(frozen=True, slots=True)
class QuestionChannel:
    """Callbacks with which questions reach the worker."""

    flush: Callable[[], Awaitable[None]]
    """Waits until every event emitted so far is stored."""
    wait_for_user: Callable[[InputNeeded], None]
    """Emits the question and releases the run."""


class DurableQuestions:
    """Questions of one run.

    Attributes:
        turn_lock: held while a question is open, and while a call is made that a question must not interrupt.
        summaries: what the approved calls do, in words, by tool and identity.
    """

    def __init__(self, storage: Storage, run: Run, channel: QuestionChannel) -> None:
        self.storage = storage
        self.run = run
        self.turn_lock = asyncio.Lock()
        self.summaries: dict[tuple[ToolId, str], str] = {}
        self._channel = channel

    async def flush_events(self) -> None:
        """Wait until every event emitted so far is stored."""
        await self._channel.flush()

    async def ask_about_plan(self, question: PlanQuestion) -> ProgramPlan | None:
        """Ask about a plan; return it as the user approved it, None where it is refused.

        The answer holds the plan, so that later edits do not change it.
        """
        async with self.turn_lock:
            await self.flush_events()
            cell = f"-{question.cell}" if question.cell > 1 else ""
            input_needed = InputNeeded(
                input=f"{_PLAN_PREFIX}{question.subtask}{cell}",
                asks="plan",
                reason="Is this plan to be carried out? It may be changed first.",
                plan=question.document,
                program=question.program,
            )
            given_tools, given_arguments = list(question.earlier_tools), list(question.earlier_arguments)
            answer = await self.ask(
                input_needed, {"request": question.request, "given": given_tools, "made": given_arguments}
            )
        return ProgramPlan.model_validate(answer["program"]) if answer["decision"] == "allow" else None

    async def ask(self, question: InputNeeded, context: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the user's answer; while there is none, the run is released, and this ends by being cancelled.

        ``context``: further data that is stored with the question.
        """
        content = question.model_dump(mode="json", include=_QUESTION_FIELDS, exclude_none=True)
        row = await run_to_completion(
            self.storage.run_questions.ask(self.run.id, question.input, question.asks, content | (context or {}))
        )
        if row.answered_at is None:
            stored = cast("dict[str, Any]", row.question)  # as first asked: a resumed run may have written another plan
            self._channel.wait_for_user(
                question.model_validate(
                    {**question.model_dump(), **{n: stored[n] for n in _QUESTION_FIELDS & {*stored}}}
                )
            )
            await asyncio.Event().wait()  # step 2 above: the worker cancels the run
        return cast("dict[str, Any]", row.answer)


def parse_subtask(question: str) -> int:
    """Return the subtask whose plan a question is about, by the question's id; 0 where it is about none."""
    number = question.removeprefix(_PLAN_PREFIX).partition("-")[0] if question.startswith(_PLAN_PREFIX) else ""
    return int(number) if number.isdecimal() else 0


_AUTHOR_WARNING = (
    " It was written by the author of the template or solution, who is not you, and so is where your answer goes. "
    "Tell it no password, no key and no card number."
)


BY_ANOTHER = "by_another"
"""Key in a stored question: another user may have written the program that asks it."""


class UserAsker:
    """Asks the user of one run.

    Each question is asked once, however often the run is resumed: the asking call identifies it.
    """

    def __init__(self, questions: DurableQuestions, *, by_another: bool = False) -> None:
        """Create the asker.

        ``by_another``: the plan and its questions were written by another user, the author of a template.
        """
        self._questions = questions
        self.by_another = by_another

    async def answer(self, question: UserQuestion) -> str | None:
        """Return the user's answer; None where they did not want to answer."""
        by_another = self.by_another or question.has_untrusted_author
        input_needed = InputNeeded(
            input=f"question-{sha256(question.identity.encode()).hexdigest()}",
            asks="question",
            reason=f"{question.display_text}{_AUTHOR_WARNING if self.by_another and not question.has_untrusted_author else ''}",
            choices=question.choices,
        )
        async with self._questions.turn_lock:
            await self._questions.flush_events()
            answer = await self._questions.ask(
                input_needed, {"theirs": sorted(question.foreign_choices), BY_ANOTHER: by_another}
            )
        return str(answer["answer"]) if answer["decision"] == "answer" else None
