"""What a run asks its user, one question at a time; where the answer is still open, the run is put down to wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from agent.plans.approval import PlanQuestion
from domain.event import InputNeeded
from domain.plan_document import PlanDocument
from domain.tool import ToolId
from server.storage.runs import Run
from server.storage.shielded import shielded
from server.storage.storage import Storage

_PLAN = "plan-"


@dataclass(frozen=True, slots=True)
class Asks:
    """``told``: has every event that was told so far stored. ``waits``: tells the question and has the run put down."""

    told: Callable[[], Awaitable[None]]
    waits: Callable[[InputNeeded], None]


class Questions:
    """One run's. ``in_turn``: held while a question is open, and while a call is made that must not be cut off by one.

    ``summaries``: what the calls do that were let through, in words, by tool and identity.
    """

    def __init__(self, storage: Storage, run: Run, asks: Asks) -> None:
        self.storage = storage
        self.run = run
        self.in_turn = asyncio.Lock()
        self.summaries: dict[tuple[ToolId, str], str] = {}
        self._asks = asks

    async def told(self) -> None:
        """Have every event that was told so far stored."""
        await self._asks.told()

    async def about_plan(self, question: PlanQuestion) -> PlanDocument | None:
        """The plan as its user approved it; None where it is not allowed. The answer holds it, whatever is edited later."""
        async with self.in_turn:
            await self.told()
            asked = InputNeeded(
                input=f"{_PLAN}{question.subtask}",
                asks="plan",
                reason="Is this plan to be carried out? It may be changed first.",
                plan=question.document,
            )
            given, made = list(question.given), list(question.made)
            answer = await self.answered(asked, {"request": question.request, "given": given, "made": made})
        return PlanDocument.model_validate(answer["document"]) if answer["decision"] == "allow" else None

    async def answered(self, question: InputNeeded, besides: dict[str, Any] | None = None) -> dict[str, Any]:
        """The user's answer. While it is open, the run is put down, and this ends by being cancelled. ``besides``: kept with it."""
        shown = {
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
        told = question.model_dump(mode="json", include=shown, exclude_none=True)
        kept = told | (besides or {})
        asked = await shielded(self.storage.inputs.ask(self.run.id, question.input, question.asks, kept))
        if asked.answered_at is None:
            self._asks.waits(question)
            await asyncio.Event().wait()
        return cast("dict[str, Any]", asked.answer)


def subtask_of(question: str) -> int:
    """The subtask whose plan a question is about, by the question's id; 0 where it is about none."""
    number = question.removeprefix(_PLAN)
    return int(number) if number != question and number.isdecimal() else 0
