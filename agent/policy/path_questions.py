"""Questions about whole paths: the judgement of a search, the adoption of a remembered path, the scores of steps."""

from dataclasses import dataclass
from typing import Literal

from agent.offer.candidates import Candidate
from agent.policy.question import Decider, PolicyQuestion
from domain.memory import RecalledMemory
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Reflection:
    """Judgement of the path on which a search ended."""

    verdict: Literal["success", "partial", "total"]
    """Consequence for the search.

    ``success``: the path is good. ``partial``: the steps before ``first_wrong`` are right, and the search resumes
    there. ``total``: the search starts anew without the start tools in ``noisy``; it ends if there are none.
    """
    reason: str
    first_wrong: int | None = None
    """Number of the first wrong step, from 1; one past the last step if all are right and something is missing."""
    noisy: tuple[ToolId, ...] = ()
    """Start tools that do not belong to the request."""


@dataclass(frozen=True, slots=True)
class ReflectionQuestion(PolicyQuestion[Reflection]):
    """Question for the judgement of a search that has ended (thesis 4.3.2.3)."""

    request: str
    clauses: tuple[str, ...]
    earlier_tools: tuple[ToolDoc, ...]
    """Tools of earlier subtasks whose results the path builds on."""
    path: tuple[ToolDoc, ...]
    """The path on which the search ended, or the best one that it saw; it may be empty."""
    relevance: tuple[tuple[float, ...], ...]
    """Relevance of each tool in ``path``, one value per clause."""
    starts: tuple[Candidate, ...]
    """Candidates that were offered at the start."""
    ending: Literal["finished", "gave_up", "budget"]
    reason: str
    memory: tuple[str, ...] = ()
    """Moves of the search, in words."""

    async def put_to(self, decider: Decider) -> Reflection:
        return await decider.reflect(self)


@dataclass(frozen=True, slots=True)
class PathAdoption:
    """Decision whether a remembered path is used unchanged."""

    adopted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class AdoptionQuestion(PolicyQuestion[PathAdoption]):
    """Question whether to use the path of a nearly identical earlier request unchanged.

    The path is possible: every tool exists and works, and every required parameter can be filled in this order.
    """

    request: str
    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]

    async def put_to(self, decider: Decider) -> PathAdoption:
        return await decider.adopt(self)


@dataclass(frozen=True, slots=True)
class ScoreQuestion(PolicyQuestion[tuple[float, ...]]):
    """Question for the worth of each step to a finished run.

    Steps that were not called are included, so that step numbers stay right.
    """

    request: str
    answer: str
    answered: bool
    steps: tuple[tuple[ToolDoc, StepResult], ...]
    """Steps of the last plan, in order."""
    failed: tuple[tuple[ToolDoc, StepResult], ...] = ()
    """Steps that were abandoned."""

    async def put_to(self, decider: Decider) -> tuple[float, ...]:
        return await decider.score(self)
