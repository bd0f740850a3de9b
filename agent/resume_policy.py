"""Policies of a resumed run, which return recorded decisions and delegate the others to the policy of the run."""

from collections.abc import Callable
from functools import partial

from agent import resume_decisions as decisions
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.path_questions import AdoptionQuestion, PathAdoption, Reflection, ReflectionQuestion
from agent.policy.protocol import (
    ArgumentsQuestion,
    CallArguments,
    MoveQuestion,
    NextMove,
    PathQuestion,
    Policy,
    WholePath,
)
from agent.policy.subtasks import DecomposeQuestion, Decomposition
from agent.resume import RunLog, SubtaskMemo
from domain.plan import Binding


class ReplayPolicy(DelegatingPolicy):
    """Replays the decisions of one subtask's policy.

    It has a method for each kind of question whose answer an event records. Programs are missing here, because
    whoever runs them asks the memo for their texts.
    """

    def __init__(
        self,
        policy: Policy,
        memo: SubtaskMemo,
        to_subtask_binding: Callable[[Binding], Binding] = lambda origin: origin,
    ) -> None:
        """Wrap a policy. ``to_subtask_binding`` translates a recorded origin to the step numbers of the subtask."""
        super().__init__(policy)
        self._memo = memo
        self._to_subtask_binding = to_subtask_binding

    @property
    def writes(self) -> bool:
        return self._memo.decide_sync(decisions.read_program_requested, lambda: self._policy.writes)

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return await self._memo.decide(decisions.read_move(situation), partial(self.pass_on, situation))

    async def plan_path(self, question: PathQuestion) -> WholePath:
        return await self._memo.decide(decisions.read_whole_path(question), partial(self.pass_on, question))

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        return await self._memo.decide(decisions.read_reflection, partial(self.pass_on, question))

    async def adopt(self, proposal: AdoptionQuestion) -> PathAdoption:
        return await self._memo.decide(decisions.read_adoption(proposal), partial(self.pass_on, proposal))

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        recorded = decisions.read_arguments(question, self._to_subtask_binding)
        return await self._memo.decide(recorded, partial(self.pass_on, question))


class ReplayDecomposition(DelegatingPolicy):
    """Decomposes the request of a resumed run; subtasks that were started before stay as they were."""

    def __init__(self, policy: Policy, log: RunLog) -> None:
        super().__init__(policy)
        self._started, self._is_complete = log.load_subtasks()

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._is_complete:
            return Decomposition(tuple(self._started[number] for number in sorted(self._started)), "as before")
        decomposition = await self.pass_on(question)
        subtasks = {one.number: one for one in decomposition.subtasks} | self._started
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), decomposition.reason)
