"""Solutions: programs with typed inputs, the requests that they serve, and how they have done (SoAy, Wang et al. 2024, definition 2)."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from domain.model import Model
from domain.program import ProgramPlan
from domain.ties import rank
from domain.tool import ToolId

SolutionOrigin = Literal["run", "template", "person", "mined"]
"""A run that answered; a workflow template; a person who wrote or corrected it; or coupling, without any run."""


class Solution(Model):
    """A program whose values are inputs, and the requests that it serves.

    ``owner`` empty: shared by all. ``plan``: text and inputs, without values and stubs. ``patterns``: requests that it serves, the names of its
    inputs in braces: ``Who are the colleagues of {name}?``; an input that no pattern names has a default. ``path``: its tools, in the
    order of their first call sites. ``outputs``: of a mined one, the fields of its last tool's answer that it says. ``fingerprints``: by
    tool, what its signature came to when the program was checked: one that differs is drift. ``good``, ``bad``: how often it has served, or failed, a
    request since it was made; users' verdicts are among them. ``wrong``: requests to which users marked its answer as wrong; it is never
    taken for these, or for what is worded like them. ``suspended``: why it is not taken at all until it is checked again; empty: it may be.
    ``runs``: the latest runs that it came from or served. ``verdicts``: by run, whether the latest of those that are counted were good.
    ``planned``: of its patterns, requests whose runs planned the program themselves; what a user sent adds none. ``sharers``: keys of the owners
    from whose solutions it was shared without a person's word, also on copies of that; ``promoted``: an administrator shares it.
    ``id``: which program it is, and behind a point whose, where it is an owner's (:func:`program_of`).
    """

    id: str
    owner: str = ""
    plan: ProgramPlan
    patterns: tuple[str, ...]
    path: tuple[ToolId, ...]
    origin: SolutionOrigin
    outputs: tuple[str, ...] = ()
    fingerprints: dict[ToolId, str] = Field(default_factory=dict[ToolId, str])
    good: int = 0
    bad: int = 0
    wrong: tuple[str, ...] = ()
    suspended: str = ""
    runs: tuple[str, ...] = ()
    verdicts: dict[str, bool] = Field(default_factory=dict[str, bool])
    planned: tuple[str, ...] = ()
    sharers: tuple[str, ...] = ()
    promoted: bool = False
    at: datetime


def program_of(solution: str) -> str:
    """Which program a solution is, out of its id: the same for all owners."""
    return solution.partition(".")[0]


class NearPattern(Model):
    """A pattern of a solution with its cosine similarity to a request, in [-1, 1]. ``number``: its place among the solution's patterns."""

    solution: str
    number: int
    similarity: float


def rank_patterns(found: Iterable[NearPattern], limit: int) -> list[NearPattern]:
    """Return the most similar, those of the same similarity by solution and number."""
    return rank(found, limit, lambda one: one.similarity, lambda one: (one.solution, one.number))


Change = Callable[[str, Solution | None], Solution | None]
"""Told an id and what is kept under it, if anything: what is to be kept there; None: it stays as it is."""


class SolutionStore(Protocol):
    """Solutions, kept with the graph. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create what is missing; idempotent."""
        ...

    async def put(self, solutions: Sequence[Solution]) -> None:
        """Insert or replace by id, all of a call or none."""
        ...

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """By id; unknown ids are left out."""
        ...

    async def change(self, ids: Sequence[str], change: Change) -> dict[str, Solution]:
        """What is kept under these ids becomes what ``change`` makes of it, all of it or nothing; what was written, by id.

        Nobody else writes them meanwhile, so that changes made at once lose nothing of one another. ``change`` may be called
        anew where a write did not come about: it does nothing but tell.
        """
        ...

    async def of_program(self, program: str) -> list[Solution]:
        """Those of all owners that are this program (:func:`program_of` of their ids), ordered by id."""
        ...

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Those that call one of these tools, ordered by id."""
        ...

    def all(self) -> AsyncIterator[Solution]:
        """Of all owners, ordered by id, streamed."""
        ...

    async def remove(self, solutions: Iterable[str]) -> None:
        """Forget by id; unknown ids are ignored."""
        ...

    async def count(self) -> int:
        """How many there are, of all owners."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...


class PatternIndex(Protocol):
    """Vectors of solutions' patterns, by encoder ``identity``: beside the tools' vectors. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create what is missing; idempotent."""
        ...

    async def known(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        """How many patterns of each solution this encoder has seen."""
        ...

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        """The vectors of all patterns of a solution, of unit length, in order; those before are replaced."""
        ...

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        """The most similar patterns of solutions that are shared or of this owner, best first. ``vector`` has unit length."""
        ...

    async def remove(self, solutions: Iterable[str]) -> None:
        """Forget the patterns of these solutions, of all encoders."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
