"""Policy of a resumed run: returns recorded decisions, and asks the run's own policy for the others."""

from collections.abc import Callable
from functools import partial

from agent import resume_decisions as decisions
from agent.policy.delegating import Delegating
from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion
from agent.policy.protocol import Arguments, ArgumentsQuestion, Choice, PathQuestion, Policy, Situation, WholePath
from agent.policy.subtasks import DecomposeQuestion, Decomposition
from agent.resume import Memo, RunLog
from domain.plan import Binding


class ReplayPolicy(Delegating):
    """Replays the decisions of one subtask's policy.

    It has a method for each kind of question whose answer an event records. Written programs are not replayed here: whoever runs
    them asks the memo.
    """

    def __init__(self, policy: Policy, memo: Memo, own: Callable[[Binding], Binding] = lambda origin: origin) -> None:
        """Wrap a policy. ``to_subtask_binding`` translates a recorded origin to the subtask's own step numbers."""
        super().__init__(policy)
        self._memo = memo
        self._own = own

    @property
    def writes(self) -> bool:
        return self._memo.settle(decisions.programs_asked_for, lambda: self._policy.writes)

    async def choose(self, situation: Situation) -> Choice:
        return await self._memo.decide(decisions.move(situation), partial(self.pass_on, situation))

    async def whole_path(self, question: PathQuestion) -> WholePath:
        return await self._memo.decide(decisions.whole_path(question), partial(self.pass_on, question))

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        return await self._memo.decide(decisions.judgement, partial(self.pass_on, question))

    async def adopt(self, proposal: Proposal) -> Adoption:
        return await self._memo.decide(decisions.adoption(proposal), partial(self.pass_on, proposal))

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        recorded = decisions.call_arguments(question, self._own)
        return await self._memo.decide(recorded, partial(self.pass_on, question))


class ReplaySplit(Delegating):
    """Decomposition of a resumed run: subtasks that were started before stay as they were."""

    def __init__(self, policy: Policy, log: RunLog) -> None:
        super().__init__(policy)
        self._begun, self._all_begun = log.subtasks()

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._all_begun:
            return Decomposition(tuple(self._begun[number] for number in sorted(self._begun)), "as before")
        made = await self.pass_on(question)
        subtasks = {one.number: one for one in made.subtasks} | self._begun
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), made.reason)
