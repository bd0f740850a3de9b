"""Ask the user to approve the programs of a subtask before any call; the approved version is run."""

from collections.abc import Mapping
from functools import partial

from pydantic.types import JsonValue

from agent import resume_decisions as decisions
from agent.plans.approval import PlanApprover, PlanQuestions
from agent.plans.parameters import resolve_input_values
from agent.programs.open_values import NamedItems
from agent.resume import SubtaskMemo
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.tool import ToolDoc


class ProgramApproval:
    """Asks the user to approve the programs of one subtask."""

    def __init__(self, approves: PlanApprover, questions: PlanQuestions, memo: SubtaskMemo) -> None:
        """Start without an approved plan; ``plan`` will hold the one that the user approved last."""
        self._approves = approves
        self._questions = questions
        self._memo = memo
        self._asked_count = 0
        self._named_items: NamedItems | None = None
        self.plan: ProgramPlan | None = None

    @property
    def pending_program(self) -> Program | None:
        """The next program, if the user was asked about it before an interruption and it has not run yet."""
        recorded = self._memo.recall(decisions.read_shown_program(self._asked_count))
        return recorded.value if recorded is not None else None

    async def request_approval(self, program: Program, tools: Mapping[str, ToolDoc]) -> Program | None:
        """Return the program to run, as the user edited it; None if nothing may run.

        ``tools``: the offered functions, by name.
        """
        self._asked_count += 1
        self.plan = await self._memo.decide(decisions.read_started_plan, partial(self._ask, program, tools))
        return self.plan.program if self.plan is not None else None

    async def _ask(self, program: Program, tools: Mapping[str, ToolDoc]) -> ProgramPlan | None:
        docs = {tool.id: tool for tool in tools.values()}
        return await self._approves(
            self._questions.build_program_question(ProgramPlan(program=program), docs, self._asked_count)
        )

    def collect_inputs(self) -> JsonObject:
        """Return the values of the approved plan's inputs by name."""
        if self.plan is None:
            return {}
        return resolve_input_values(self.plan) if self.plan.inputs else self.plan.values

    def begin_plan(self, request: str, docs: Mapping[str, ToolDoc]) -> None:
        """Prepare :meth:`choose_item` for the approved plan, which is run next with these functions."""
        self._named_items = NamedItems(request, self.plan.program, docs) if self.plan is not None else None

    def choose_item(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """Choose an item of a list; see :data:`agent.programs.protocol.ItemChooser`."""
        if self._named_items is None:
            raise LookupError("no plan is run")
        return self._named_items(items, place, back)
