"""The policy of a run that is taken up: it gives the recorded answers, and asks the run's own policy where there is none."""

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
    """One subtask's. It has a method for each kind of question that an event tells the answer of; what programs were written is asked of the memo by who runs them."""

    def __init__(self, policy: Policy, memo: Memo, own: Callable[[Binding], Binding] = lambda origin: origin) -> None:
        """``own``: an origin as the log has it, in the subtask's own count of steps."""
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
    """A run's. It splits a request so that the subtasks that were begun stay as they are."""

    def __init__(self, policy: Policy, log: RunLog) -> None:
        super().__init__(policy)
        self._begun, self._all_begun = log.subtasks()

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._all_begun:
            return Decomposition(tuple(self._begun[number] for number in sorted(self._begun)), "as before")
        made = await self.pass_on(question)
        subtasks = {one.number: one for one in made.subtasks} | self._begun
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), made.reason)
