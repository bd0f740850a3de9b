"""The protocol of the library of solutions, and the questions to a policy about solutions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.policy.decider import Decider, PolicyQuestion
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import ToolId

MIN_LIKENESS = 0.35
"""Minimum likeness of solutions that are returned by default."""
ANY_LIKENESS = -2.0
"""Minimum likeness that every solution has, so that the nearest ones are returned however unlike they are."""


@dataclass(frozen=True, slots=True)
class NearSolution:
    """A solution that may serve a request."""

    solution: Solution
    pattern: str
    """Its pattern that is nearest to the request."""
    likeness: float
    """Likeness of the request to the pattern, in [-1, 1] (:mod:`agent.memory.request_patterns`)."""


class SolutionAccess(Protocol):
    """The library as runs and user interfaces see it, with the solutions of one owner and the shared ones."""

    @property
    def owner(self) -> str:
        """Owner of the library; empty for that of the shared solutions."""
        ...

    async def find_near(self, request: str, k: int, least: float = MIN_LIKENESS) -> list[NearSolution]:
        """Return the best solutions for a request, ordered by likeness weighted by their record.

        ``k`` is the limit of solutions, ``least`` their minimum likeness. Left out are solutions that are suspended,
        whose tools are gone or have drifted, or whose answer to such a request was marked as wrong.
        """
        ...

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        """Store solutions so that they can be found, and return their ids.

        A solution whose program is stored already is merged into the stored one.
        """
        ...

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return solutions by id, those of this owner and shared ones."""
        ...

    async def record_outcome(
        self, solution: str, *, good: bool, run: str = "", wrong: str = "", right: str = ""
    ) -> None:
        """Record the outcome of a run that used a solution, once per run; a later outcome replaces an earlier one.

        ``wrong`` is the request if a user marked its answer as wrong; ``right`` if a user marked it as right, which
        removes such a mark.
        """
        ...

    async def suspend(self, solution: str, why: str) -> None:
        """Exclude a solution until it is checked again; ``why`` is shown to people."""
        ...

    async def find_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Return the solutions that call one of these tools."""
        ...

    async def forget(self, ids: Iterable[str]) -> None:
        """Remove solutions permanently."""
        ...


@dataclass(frozen=True, slots=True)
class FilledSolution:
    """Answer to a :class:`FillQuestion`."""

    fits: bool
    """True if the solution serves the request."""
    values: JsonObject
    """Values of its inputs, by name; those that were not found are missing."""
    reason: str = ""
    """Reason, in one sentence."""
    wordings: tuple[str, ...] = ()
    """Further patterns with the same meaning (:mod:`agent.solutions.patterns`), if the policy suggests any."""


@dataclass(frozen=True, slots=True)
class FillQuestion(PolicyQuestion[FilledSolution]):
    """Question whether a solution serves a request, and with which values."""

    request: str
    pattern: str
    """Pattern of the solution that is nearest to the request, with its inputs in braces."""
    inputs: Mapping[str, JsonObject]
    """JSON Schemas of the inputs."""
    today: str
    known: JsonObject
    """Values that could be read without a model."""

    async def put_to(self, decider: Decider) -> FilledSolution:
        return await decider.fill(self)


@dataclass(frozen=True, slots=True)
class ChosenSolution:
    """Answer to a :class:`SolutionQuestion`."""

    index: int | None
    """Index of the chosen solution in ``solutions`` of the question; None if none fits."""
    path: tuple[str, ...] = ()
    """Functions to call instead, in order, if none fits; may be empty."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SolutionQuestion(PolicyQuestion[ChosenSolution]):
    """Question which of the near solutions serves the request (the first question of SoAy)."""

    request: str
    solutions: Sequence[NearSolution]
    """Near solutions, best first."""
    functions: Sequence[str]
    """Names of the offered functions, from which a path can be proposed if no solution fits."""
    today: str
    earlier: str = ""
    """Earlier results that the request continues from, as shown to authors of programs."""
    changing: frozenset[ToolId] = frozenset()
    """Tools of the solutions that may have side effects."""

    async def put_to(self, decider: Decider) -> ChosenSolution:
        return await decider.choose_solution(self)
