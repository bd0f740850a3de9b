"""Approval of a subtask's programs by its user, before any call is made; the approved version is what runs."""

from collections.abc import Mapping
from functools import partial

from pydantic.types import JsonValue

from agent import resume_decisions as decisions
from agent.plans.approval import Approves, PlanQuestions
from agent.plans.parameters import input_values
from agent.programs.open_values import NamedItems
from agent.resume import Memo
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.tool import ToolDoc


class Approving:
    """Asks the user about the programs of one subtask."""

    def __init__(self, approves: Approves, questions: PlanQuestions, memo: Memo) -> None:
        """Start without an approved plan: ``plan`` holds the one that the user approved last."""
        self._approves = approves
        self._questions = questions
        self._memo = memo
        self._asked = 0
        self._named: NamedItems | None = None
        self.plan: ProgramPlan | None = None

    @property
    def shown(self) -> Program | None:
        """The next program, if its user was already asked about it before an interruption and nothing of it was run."""
        shown = self._memo.recall(decisions.shown_program(self._asked))
        return shown.value if shown is not None else None

    async def approved(self, program: Program, tools: Mapping[str, ToolDoc]) -> Program | None:
        """Return the program to run, as the user left it, or None if nothing may run.

        ``tools``: the offered functions.
        """
        self._asked += 1
        self.plan = await self._memo.decide(decisions.started_plan, partial(self._ask, program, tools))
        return self.plan.program if self.plan is not None else None

    async def _ask(self, program: Program, tools: Mapping[str, ToolDoc]) -> ProgramPlan | None:
        docs = {tool.id: tool for tool in tools.values()}
        return await self._approves(self._questions.about_written(ProgramPlan(program=program), docs, self._asked))

    def inputs(self) -> JsonObject:
        """Return the values of the plan's inputs by name."""
        if self.plan is None:
            return {}
        return input_values(self.plan) if self.plan.inputs else self.plan.values

    def begins(self, request: str, docs: Mapping[str, ToolDoc]) -> None:
        """Prepare the choice of named items for the plan, which is run now with these functions."""
        self._named = NamedItems(request, self.plan.program, docs) if self.plan is not None else None

    def named(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """Choose an item of a list; see ``protocol.Named``."""
        if self._named is None:
            raise LookupError("no plan is run")
        return self._named(items, place, back)
