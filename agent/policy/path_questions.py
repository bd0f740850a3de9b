"""Questions about whole paths and their answers: ended walks, remembered paths, finished runs."""

from dataclasses import dataclass
from typing import Literal

from agent.offer.candidates import Candidate
from agent.policy.question import Decider, PolicyQuestion
from domain.memory import RecalledMemory
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Reflection:
    """Judgement of a path on which a walk ended."""

    verdict: Literal["success", "partial", "total"]
    """Consequence for the walk.

    ``success``: go on with the path. ``partial``: the steps before ``first_wrong`` are right. ``total``: start anew without
    the start tools in ``noisy``; if there are none, there is nothing to try.
    """
    reason: str
    first_wrong: int | None = None
    """Counts from 1; one more than there are steps if all are right and something is left to do."""
    noisy: tuple[ToolId, ...] = ()


@dataclass(frozen=True, slots=True)
class ReflectionQuestion(PolicyQuestion[Reflection]):
    """Question for a judgement of an ended walk (thesis 4.3.2.3)."""

    request: str
    clauses: tuple[str, ...]
    earlier_tools: tuple[ToolDoc, ...]
    """Tools of earlier subtasks whose results the path builds on."""
    path: tuple[ToolDoc, ...]
    """The path on which the walk ended, else the best one that it has seen; it may be empty."""
    relevance: tuple[tuple[float, ...], ...]
    """Relevance of each tool in ``path``, one value per clause."""
    starts: tuple[Candidate, ...]
    """Candidates that were offered at the start."""
    ending: Literal["finished", "gave_up", "budget"]
    reason: str
    memory: tuple[str, ...] = ()
    """Moves of the walk."""

    async def put_to(self, decider: Decider) -> Reflection:
        return await decider.reflect(self)


@dataclass(frozen=True, slots=True)
class PathAdoption:
    """Decision if a remembered path is taken as it is."""

    adopted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class AdoptionQuestion(PolicyQuestion[PathAdoption]):
    """Proposal to take the path of a nearly identical request as it is.

    It was checked before: every tool exists and works, and every required parameter can be filled in this order.
    """

    request: str
    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]

    async def put_to(self, decider: Decider) -> PathAdoption:
        return await decider.adopt(self)


@dataclass(frozen=True, slots=True)
class ScoreQuestion(PolicyQuestion[tuple[float, ...]]):
    """Question for the value of each step of a finished run.

    Steps that were not called are included, so that step numbers hold.
    """

    request: str
    answer: str
    answered: bool
    steps: tuple[tuple[ToolDoc, StepResult], ...]
    """Steps of the last plan, in order."""
    failed: tuple[tuple[ToolDoc, StepResult], ...] = ()
    """Steps that were given up on the way."""

    async def put_to(self, decider: Decider) -> tuple[float, ...]:
        return await decider.score(self)
