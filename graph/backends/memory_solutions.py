"""Solutions and vectors of their patterns in dictionaries: the reference that other back ends are compared with. Nothing outlives the process."""

from collections.abc import AsyncIterator, Iterable, Sequence

import numpy as np

from domain.solution import Change, NearPattern, Solution, program_of
from domain.tool import ToolId


class MemorySolutions:
    """A ``SolutionStore`` for one event loop."""

    def __init__(self) -> None:
        self._kept: dict[str, Solution] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def put(self, solutions: Sequence[Solution]) -> None:
        self._kept |= {one.id: one for one in solutions}

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        return {one: self._kept[one] for one in ids if one in self._kept}

    async def change(self, ids: Sequence[str], change: Change) -> dict[str, Solution]:
        made = {one: change(one, self._kept.get(one)) for one in ids}
        written = {one: solution for one, solution in made.items() if solution is not None}
        self._kept |= written
        return written

    async def of_program(self, program: str) -> list[Solution]:
        return [self._kept[one] for one in sorted(self._kept) if program_of(one) == program]

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        wanted = set(tools)
        return [self._kept[one] for one in sorted(self._kept) if not wanted.isdisjoint(self._kept[one].path)]

    async def all(self) -> AsyncIterator[Solution]:
        for one in sorted(self._kept):
            yield self._kept[one]

    async def remove(self, solutions: Iterable[str]) -> None:
        for one in solutions:
            self._kept.pop(one, None)

    async def count(self) -> int:
        return len(self._kept)

    async def close(self) -> None:
        """Nothing to release."""


class MemoryPatterns:
    """A ``PatternIndex`` for one event loop."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[str, list[list[float]]]] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def known(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        found = {one: self._kept.get((identity, one)) for one in solutions}
        return {one: len(kept[1]) for one, kept in found.items() if kept is not None}

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        self._kept[identity, solution] = (owner, [list(vector) for vector in vectors])

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        found = [
            NearPattern(solution=solution, number=number, similarity=min(1.0, float(np.dot(vector, one))))
            for (encoder, solution), (whose, vectors) in self._kept.items()
            if encoder == identity and whose in ("", owner)
            for number, one in enumerate(vectors)
        ]
        return sorted(found, key=lambda one: (-one.similarity, one.solution, one.number))[:limit]

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = set(solutions)
        self._kept = {key: kept for key, kept in self._kept.items() if key[1] not in gone}

    async def close(self) -> None:
        """Nothing to release."""
