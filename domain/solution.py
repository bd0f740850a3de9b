"""Solutions: programs with typed inputs, the requests that they serve, and how they have done.

See SoAy, Wang et al. 2024, definition 2.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from domain.model import Model
from domain.program import ProgramPlan
from domain.ranking import rank_results
from domain.tool import ToolId

SolutionOrigin = Literal["run", "template", "person", "mined"]
"""Where a solution comes from.

``run``: a run that answered; ``template``: a workflow template; ``person``: someone who wrote or corrected it;
``mined``: coupling, without any run.
"""


class Solution(Model):
    """A program whose values are inputs, with the requests that it serves."""

    id: str
    """The program's id; for an owner's solution, followed by a point and the owner's key (:func:`get_program_id`)."""
    owner: str = ""
    """Empty if shared by all."""
    plan: ProgramPlan
    """Text and inputs, without values and stubs."""
    patterns: tuple[str, ...]
    """Requests that it serves, with its inputs in braces: ``Who are the colleagues of {name}?``

    An input that no pattern names has a default.
    """
    path: tuple[ToolId, ...]
    """Its tools, in the order of their first call sites."""
    origin: SolutionOrigin
    outputs: tuple[str, ...] = ()
    """For a mined solution, the fields of its last tool's response that it returns."""
    fingerprints: dict[ToolId, str] = Field(default_factory=dict[ToolId, str])
    """By tool, a digest of its signature when the program was checked; a different one means drift."""
    good: int = 0
    """How often it has served a request since it was made, users' verdicts included."""
    bad: int = 0
    """How often it has failed a request since it was made, users' verdicts included."""
    wrong: tuple[str, ...] = ()
    """Requests whose answer users marked as wrong; it is never used for these or for equally worded ones."""
    suspended: str = ""
    """Why it is not used until it is checked again; empty if it may be."""
    runs: tuple[str, ...] = ()
    """The latest runs that it came from or served."""
    verdicts: dict[str, bool] = Field(default_factory=dict[str, bool])
    """By run, whether the latest counted verdicts were good."""
    planned: tuple[str, ...] = ()
    """Those of its patterns whose runs planned the program themselves; what a user sent adds none."""
    sharers: tuple[str, ...] = ()
    """Keys of the owners from whose solutions it was shared automatically; copies of it keep them."""
    promoted: bool = False
    """An administrator shares it."""
    at: datetime


def get_program_id(solution: str) -> str:
    """Return the program's id within a solution's id; it is the same for all owners."""
    return solution.partition(".")[0]


class NearPattern(Model):
    """A pattern of a solution with its cosine similarity to a request, in [-1, 1]."""

    solution: str
    number: int
    """Its index among the solution's patterns."""
    similarity: float


def rank_patterns(patterns: Iterable[NearPattern], limit: int) -> list[NearPattern]:
    """Return the most similar patterns, best first; ties are ordered by solution and number."""
    return rank_results(patterns, limit, lambda one: one.similarity, lambda one: (one.solution, one.number))


SolutionChange = Callable[[str, Solution | None], Solution | None]
"""A change of one solution.

It receives an id and the solution stored under it, if any, and returns the solution to store, or None to leave it as
it is.
"""


class SolutionStore(Protocol):
    """Storage of solutions, next to the graph. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create missing structure; idempotent."""
        ...

    async def put(self, solutions: Sequence[Solution]) -> None:
        """Insert or replace by id, all of a call or none."""
        ...

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return solutions by id; unknown ids are left out."""
        ...

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        """Apply ``change`` to the solutions under these ids, all or none, and return what was written, by id.

        Nobody else writes them meanwhile, so concurrent changes lose nothing of one another. ``change`` must have no
        side effects, because it is called again if a write failed.
        """
        ...

    async def list_by_program(self, program: str) -> list[Solution]:
        """Return all owners' solutions with this program (:func:`get_program_id` of their ids), ordered by id."""
        ...

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Return the solutions that call one of these tools, ordered by id."""
        ...

    def stream_all(self) -> AsyncIterator[Solution]:
        """Stream the solutions of all owners, ordered by id."""
        ...

    async def remove(self, solutions: Iterable[str]) -> None:
        """Delete by id; unknown ids are ignored."""
        ...

    async def count(self) -> int:
        """Return the number of solutions of all owners."""
        ...

    async def close(self) -> None:
        """Release all resources; idempotent."""
        ...


class PatternIndex(Protocol):
    """Vectors of solutions' patterns, by encoder ``identity``, stored next to the tools' vectors.

    All methods may raise ``UnavailableError``.
    """

    async def setup(self) -> None:
        """Create missing structure; idempotent."""
        ...

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        """Return how many patterns of each solution have a vector of this encoder."""
        ...

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        """Replace the vectors of a solution's patterns, which have unit length and are in order."""
        ...

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        """Return the most similar patterns of solutions that are shared or belong to this owner, best first.

        ``vector``: the request's vector, of unit length.
        """
        ...

    async def remove(self, solutions: Iterable[str]) -> None:
        """Delete the pattern vectors of these solutions, of all encoders."""
        ...

    async def close(self) -> None:
        """Release all resources; idempotent."""
        ...
