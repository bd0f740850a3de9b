"""What a policy is asked about paths as a whole, and how it answers: walks that ended, remembered paths, runs that are over."""

from dataclasses import dataclass
from typing import Literal

from agent.offer.candidates import Candidate
from agent.policy.question import Decider, Question
from domain.memory import Recalled
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Reflection:
    """``success``: go on with the path. ``partial``: right up to the step ``first_wrong`` (from 1; one more than there are steps: all are
    right, and something is left to do). ``total``: start anew without the start tools ``noisy``; without any, there is nothing to try.
    """

    verdict: Literal["success", "partial", "total"]
    reason: str
    first_wrong: int | None = None
    noisy: tuple[ToolId, ...] = ()


@dataclass(frozen=True, slots=True)
class ReflectionQuestion(Question[Reflection]):
    """What ``reflect`` sees: how a walk ended (thesis 4.3.2.3). ``path``: the one that it ended with, else the best it has seen, which may be
    empty; ``given``: the tools of earlier subtasks whose results it builds on. ``relevance``: of each tool in ``path``, one value per clause.
    ``starts``: the candidates that the start offered. ``memory``: the moves of the walk.
    """

    request: str
    clauses: tuple[str, ...]
    given: tuple[ToolDoc, ...]
    path: tuple[ToolDoc, ...]
    relevance: tuple[tuple[float, ...], ...]
    starts: tuple[Candidate, ...]
    how: Literal["finished", "gave_up", "budget"]
    reason: str
    memory: tuple[str, ...] = ()

    async def put_to(self, decider: Decider) -> Reflection:
        return await decider.reflect(self)


@dataclass(frozen=True, slots=True)
class Adoption:
    """Whether a remembered path is taken as it is, and why."""

    adopted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal(Question[Adoption]):
    """What ``adopt`` sees: the whole path that served a request nearly identical to this one, and stands as it is.

    It was checked before: every tool is there and works, and every required parameter can be filled in this order.
    """

    request: str
    recalled: Recalled
    path: tuple[ToolDoc, ...]

    async def put_to(self, decider: Decider) -> Adoption:
        return await decider.adopt(self)


@dataclass(frozen=True, slots=True)
class ScoreQuestion(Question[tuple[float, ...]]):
    """What ``score`` sees of a run that is over: the steps of the last plan in order, then those that were gone around.

    Results that were not called are among them, so that step numbers hold.
    """

    request: str
    answer: str
    answered: bool
    steps: tuple[tuple[ToolDoc, StepResult], ...]
    failed: tuple[tuple[ToolDoc, StepResult], ...] = ()

    async def put_to(self, decider: Decider) -> tuple[float, ...]:
        return await decider.score(self)
