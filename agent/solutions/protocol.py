"""What the parts of solutions tell each other: what is near a request, what its author is asked, and what comes back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.policy.question import Decider, Question
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import ToolId

NEAR = 0.35
"""Likeness below which a solution is not worth showing."""
ANY = -2.0
"""As the least likeness: whatever there is, the nearest."""


@dataclass(frozen=True, slots=True)
class NearSolution:
    """A solution that may be taken for a request, with the pattern that is nearest to it. ``likeness``: as for memories, in [-1, 1]."""

    solution: Solution
    pattern: str
    likeness: float


class Solutions(Protocol):
    """The library as runs and surfaces use it: solutions of one owner with those that all share."""

    @property
    def owner(self) -> str:
        """Whose own ones it keeps; empty: those that all share."""
        ...

    async def near(self, request: str, k: int, least: float = NEAR) -> list[NearSolution]:
        """The most telling solutions for a request, best first: likeness, weighted by how they have done. ``least``: likeness below which none is worth a word.

        Those that are suspended, whose tools are gone or have drifted, or whose answer to such a request was marked wrong are left out.
        """
        ...

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        """Keep them, and make them found; one that is nearly equal to a kept one becomes its further patterns. The ids they are kept under."""
        ...

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """By id, of this owner or shared."""
        ...

    async def judge(self, solution: str, *, good: bool, run: str = "", wrong: str = "", right: str = "") -> None:
        """What became of a run that took it, counted once a run: a later word on the same run takes the place of the first.

        ``wrong``: the request, where a user marked its answer as wrong; ``right``: as right, which takes such a mark back.
        """
        ...

    async def suspend(self, solution: str, why: str) -> None:
        """Take it no more until it is checked again."""
        ...

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Those that call one of these tools."""
        ...

    async def forget(self, ids: Iterable[str]) -> None:
        """For good."""
        ...


@dataclass(frozen=True, slots=True)
class Filled:
    """``fits`` false: the solution does not serve the request. ``values``: of its inputs; those that are not there were not found. ``why``: in a sentence.

    ``wordings``: further patterns that ask the same (:mod:`agent.solutions.alignment`), as far as who was asked knows any.
    """

    fits: bool
    values: JsonObject
    why: str = ""
    wordings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FillQuestion(Question[Filled]):
    """One small question: does a solution serve a request, and with which values? ``known``: values that are plain already.

    ``pattern``: what the solution serves, its inputs in braces. ``inputs``: their JSON Schemas.
    """

    request: str
    pattern: str
    inputs: Mapping[str, JsonObject]
    today: str
    known: JsonObject

    async def put_to(self, decider: Decider) -> Filled:
        return await decider.fill(self)


@dataclass(frozen=True, slots=True)
class ChosenSolution:
    """``place``: in ``solutions``; None where none of them fits. ``path``: then the functions to call, in order, or nothing."""

    place: int | None
    path: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SolutionQuestion(Question[ChosenSolution]):
    """SoAy's first question: which solution serves the request? ``solutions``: the library's nearest, best first.

    ``functions``: names of the functions on offer, of which an author may put together a path of its own where none fits. ``earlier``: what the
    request goes on from, as authors of programs are shown it. ``changing``: tools of the solutions that change something.
    """

    request: str
    solutions: Sequence[NearSolution]
    functions: Sequence[str]
    today: str
    earlier: str = ""
    changing: frozenset[ToolId] = frozenset()

    async def put_to(self, decider: Decider) -> ChosenSolution:
        return await decider.choose_solution(self)
