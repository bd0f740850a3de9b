"""Policies that decide as a run's record says that it was decided, and ask the run's own policy where the record ends."""

from collections.abc import Callable, Mapping

from agent.decomposition import DecomposeQuestion, Decomposition, Subtask
from agent.delegating import Delegating
from agent.judgements import Adoption, Proposal, Reflection, ReflectionQuestion
from agent.policy import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    PathQuestion,
    Policy,
    Situation,
    WholePath,
)
from agent.resume import Line
from domain.event import CallStarted, CandidatesConsidered, PathEnded, ReflectionMade, StepBacktracked, StepChosen
from domain.plan import Binding


class SplittingAsBefore(Delegating):
    """A request is split so that the subtasks that were begun stand. ``all_begun``: there are no others."""

    def __init__(self, policy: Policy, begun: Mapping[int, Subtask], all_begun: bool) -> None:
        super().__init__(policy)
        self._begun = begun
        self._all_begun = all_begun

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._all_begun:
            return Decomposition(tuple(self._begun[number] for number in sorted(self._begun)), "as before")
        made = await self._policy.decompose(question)
        subtasks = {one.number: one for one in made.subtasks} | dict(self._begun)
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), made.reason)


class DecidingAsBefore(Delegating):
    """Each decision is read off the event that comes next in the record of a subtask, where it tells of that decision.

    ``own``: an origin as the record tells it, in the subtask's own count of steps.
    """

    def __init__(self, policy: Policy, line: Line, own: Callable[[Binding], Binding] = lambda told: told) -> None:
        super().__init__(policy)
        self._line = line
        self._own = own

    async def choose(self, situation: Situation) -> Choice:
        match self._line.next:
            case StepChosen(tool=tool, reason=reason, memory=memory):
                offered = [candidate.tool.id for candidate in situation.candidates]
                if tool in offered:
                    return Choice("advance", reason, offered.index(tool), memory)
            case StepBacktracked(phase="plan", reason=reason):
                return Choice("backtrack", reason)
            case PathEnded(how="finished", reason=reason, unserved=unserved):
                return Choice("finish", reason, unserved=unserved)
            case (
                _
            ):  # a walk that has ended without a path may have done so because nothing was left to do: the policy knows
                pass
        return await self._policy.choose(situation)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        steps, unserved = self._line.whole_path() or ((), "")
        offered = [candidate.tool.id for candidate in question.candidates]
        if steps and all(tool in offered for tool in steps) and isinstance(first := self._line.next, StepChosen):
            return WholePath(tuple(offered.index(tool) for tool in steps), first.reason, unserved)
        return await self._policy.whole_path(question)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        match self._line.next:
            case ReflectionMade(verdict=verdict, reason=reason, first_wrong=first_wrong, noisy=noisy):
                return Reflection(verdict, reason, first_wrong, noisy)
            case _:
                return await self._policy.reflect(question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        match self._line.next:
            case StepChosen(memory=memory, reason=reason) if memory == proposal.recalled.memory.id:
                return Adoption(adopted=True, reason=reason)
            case CandidatesConsidered():
                return Adoption(adopted=False, reason="it was not taken before")
            case _:
                return await self._policy.adopt(proposal)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        match self._line.next:
            case CallStarted(tool=tool, arguments=arguments, provenance=provenance) if tool == question.tool.id:
                return Arguments(arguments, tuple(self._own(one) for one in provenance))
            case _:
                return await self._policy.arguments(question)
