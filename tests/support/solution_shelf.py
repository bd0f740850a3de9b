"""Solutions on a shelf: a library that finds what it is told to find, in order. It stands in for the stores; runs use it as the real one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent.solutions.protocol import MIN_LIKENESS, NearSolution
from domain.errors import UnavailableError
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId


def solution(
    name: str,
    tools: Sequence[ToolDoc],
    text: str,
    *patterns: str,
    inputs: Mapping[str, JsonObject] | None = None,
    tainted: bool = False,
) -> Solution:
    """One whose functions have the names of their APIs."""
    called = {tool.api: tool.id for tool in tools}
    arguments = {tool.api: {one.name: one.name for one in tool.parameters} for tool in tools}
    program = Program(text=text, tools=called, arguments=arguments, tainted=tainted)
    plan = ProgramPlan(program=program, inputs=dict(inputs or {}))
    path = tuple(tool.id for tool in tools)
    return Solution(id=name, plan=plan, patterns=patterns, path=path, origin="mined", at=datetime.now(UTC))


@dataclass
class Shelf:
    """``asked``: requests that were looked for. ``judged``: what became of runs. ``away``: it cannot be reached."""

    held: list[tuple[Solution, float]] = field(default_factory=list[tuple[Solution, float]])
    away: bool = False
    asked: list[str] = field(default_factory=list[str])
    judged: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    suspended: list[str] = field(default_factory=list[str])
    owner: str = ""

    async def find_near(self, request: str, k: int, least: float = MIN_LIKENESS) -> list[NearSolution]:
        self.asked.append(request)
        self._reach()
        return [NearSolution(one, one.patterns[0], likeness) for one, likeness in self.held[:k] if likeness >= least]

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        self.held += [(one, 0.9) for one in solutions]
        return [one.id for one in solutions]

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        self._reach()
        wanted = set(ids)
        return {one.id: one for one, _ in self.held if one.id in wanted}

    async def record_outcome(self, solution: str, *, good: bool, run: str = "", wrong: str = "") -> None:
        self._reach()
        self.judged.append((solution, good))

    async def suspend(self, solution: str, why: str) -> None:
        self.suspended.append(solution)

    async def find_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        called = set(tools)
        return [one for one, _ in self.held if called & set(one.path)]

    async def forget(self, ids: Iterable[str]) -> None:
        gone = set(ids)
        self.held = [(one, likeness) for one, likeness in self.held if one.id not in gone]

    def _reach(self) -> None:
        if self.away:
            raise UnavailableError("the library is on holiday")
