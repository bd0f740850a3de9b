"""From combinations to solutions (SoAy, sections 4 and 5): code, questions, values, and only what executes to what was found without it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from pydantic.types import JsonValue

from agent.plans.checked_plan import checked
from agent.plans.request_template import named_in, said
from agent.programs.protocol import Sandbox
from agent.solutions.identity import solution_id
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc
from synthesis.combinations import Combination
from synthesis.following import followed, gold, values_to_choose
from synthesis.intents import Course, Intent, intents
from synthesis.questions import questions
from synthesis.sentences import Written, written
from synthesis.triplets import Triplet, triplet
from synthesis.trying import MOST_CALLS, CallFailedError, Reading, tried
from synthesis.values import Values

MOST_VALUES = 3
"""Times that a program is tried, with other values each: it is kept where it is right whenever anything is found, and that is once at least."""
NO_CALLS = "nothing may be called"
NOT_TRIED = "mined from documents alone, and never tried"
"""Why a solution is suspended that nothing has proven."""


class Asking(Protocol):
    """Who words the questions of a combination's intents, other than by its documents' own words."""

    async def asked(self, course: Course, plain: Sequence[tuple[Written, tuple[str, ...]]]) -> list[tuple[str, ...]]:
        """For each of these its questions, with the same names in braces; none where it has no better ones."""
        ...


@dataclass(frozen=True, slots=True)
class Forged:
    """What became of one combination. ``intents``: how many were looked at; ``tried``: executed; ``dropped``: why the others are not kept."""

    key: str
    solutions: tuple[Solution, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    intents: int = 0
    questions: int = 0
    tried: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class _Proof:
    """``values``: with which the program gave the gold value; none: it was never tried. ``why``: that it did not."""

    values: JsonObject | None = None
    why: str = ""
    ran: bool = False


@dataclass(slots=True)
class Forge:
    """Makes solutions out of combinations of one set of tools. ``reading`` and ``values``: None where nothing may be executed.

    ``unproven``: what could not be executed is kept all the same, suspended. ``patterns``: what solutions are asked by already, each with its id:
    the shorter walk comes first, and is the simpler solution.
    """

    sandbox: Sandbox
    reading: Reading | None = None
    values: Values | None = None
    asking: Asking | None = None
    unproven: bool = False
    patterns: dict[str, str] = field(default_factory=dict[str, str])

    def takes(self, solution: Solution) -> None:
        """Leave the questions of a kept solution to it."""
        self.patterns.update((_plain(one), solution.id) for one in solution.patterns)

    async def forged(self, combination: Combination) -> Forged:
        """The solutions of a combination."""
        course = Course(combination)
        made = Forged(combination.key)
        if combination.output is None or not all(tool.safe for tool in combination.walk.tools):
            made.dropped["it changes something"] += 1
            return made
        if self.reading is None and not self.unproven:
            made.dropped[NO_CALLS] = sum(1 for _ in intents(course))
            return replace(made, intents=made.dropped.total())
        solutions: list[Solution] = []
        triplets: list[Triplet] = []
        looked_at = tries = asked = 0
        ways = [(intent, written(intent)) for intent in intents(course)]
        for (intent, code), patterns in zip(ways, await self._asked(course, ways), strict=True):
            looked_at += 1
            if not code.text:
                made.dropped["no program says it"] += 1
                continue
            plan, fault = await self._plan(intent, code)
            own = solution_id("", plan)
            free = tuple(one for one in patterns if self.patterns.get(_plain(one), own) == own)
            asked += len(free)
            if not free:
                made.dropped["a shorter way answers the same question"] += 1
                continue
            proof = await self._proof(intent, code, plan) if not fault else _Proof(why=fault)
            tries += proof.ran
            if proof.why and not (self.unproven and not proof.ran and not fault):
                made.dropped[proof.why] += 1
                continue
            solutions.append(self._solution(intent, plan, free, proof))
            self.patterns.update((_plain(one), own) for one in free)
            if proof.values is not None:
                triplets += _triplets(intent, plan, free, proof.values, code)
        return Forged(combination.key, tuple(solutions), tuple(triplets), looked_at, asked, tries, made.dropped)

    async def _asked(self, course: Course, ways: Sequence[tuple[Intent, Written]]) -> list[tuple[str, ...]]:
        """The questions of each intent: the documents' own, and before them those of who words them better."""
        plain = [questions(intent, code.inputs) if code.text else () for intent, code in ways]
        if self.asking is None:
            return plain
        better = await self.asking.asked(course, [(code, own) for (_, code), own in zip(ways, plain, strict=True)])
        return [tuple(dict.fromkeys((*more, *own))) for more, own in zip(better, plain, strict=True)]

    async def _plan(self, intent: Intent, code: Written) -> tuple[ProgramPlan, str]:
        docs = {tool.id: tool for tool in intent.course.walk.tools}
        functions = {one.name: one.tool for one in code.offer.signatures}
        found = await checked(code.text, code.schemas, functions, docs, self.sandbox)
        return found.plan, "its program does not pass the checks" if found.complaints else ""

    async def _proof(self, intent: Intent, code: Written, plan: ProgramPlan) -> _Proof:
        """Whether the program gives what is found without it, with all values for which anything is found."""
        if self.reading is None or self.values is None:
            return _Proof(why=NO_CALLS)
        proof, ran, why = None, False, "no values are known for its inputs"
        for values in await self.values.of(intent.course, MOST_VALUES):
            self.reading.left = MOST_CALLS
            try:
                rows = await followed(intent.course, intent.taken, values, self.reading.call)
            except CallFailedError as error:
                why = "too many calls" if "too many" in str(error) else "a call failed"
                continue
            given = {one.name: values[one.said] for one in code.inputs if one.said}
            wanted = next(iter(values_to_choose(intent, rows)), None)
            if intent.asked == "where":
                given[code.inputs[-1].name] = wanted
            expected = gold(intent, rows, wanted)
            if expected in (None, "", [], {}) or (intent.asked == "where" and wanted is None):
                why = "nothing was found"
                continue
            if _says_again(expected, values):
                why = "it says what was asked"
                continue
            self.reading.left = MOST_CALLS
            docs = _by_function(intent, code)
            trial = await tried(plan, given, docs, self.sandbox, self.reading)
            ran = True
            if trial.error or trial.answer != expected:
                return _Proof(why="its program gives something else", ran=True)
            proof = proof or given
        return _Proof(proof, "" if proof is not None else why, ran)

    def _solution(self, intent: Intent, plan: ProgramPlan, patterns: tuple[str, ...], proof: _Proof) -> Solution:
        return Solution(
            id="",
            plan=ProgramPlan(program=plan.program.model_copy(update={"stubs": ""}), inputs=plan.inputs),
            patterns=patterns,
            path=tuple(dict.fromkeys(intent.course.walk.path)),
            origin="mined",
            outputs=(intent.course.output,),
            suspended="" if proof.values is not None else NOT_TRIED,
            at=datetime.now(UTC),
        )


def _plain(pattern: str) -> str:
    return " ".join(pattern.casefold().split())


def _by_function(intent: Intent, code: Written) -> Mapping[str, ToolDoc]:
    known = {tool.id: tool for tool in intent.course.walk.tools}
    return {one.name: known[one.tool] for one in code.offer.signatures}


def _says_again(expected: JsonValue, values: JsonObject) -> bool:
    """Whether an answer is nothing but what a question says already."""
    told = expected[0] if isinstance(expected, list) and len(expected) == 1 else expected
    return isinstance(told, str) and told.casefold() in {str(one).casefold() for one in values.values()}


def _triplets(
    intent: Intent, plan: ProgramPlan, patterns: Sequence[str], values: JsonObject, code: Written
) -> list[Triplet]:
    functions = {one.tool: one.name for one in code.offer.signatures}
    solution = [functions[tool] for tool in intent.course.walk.path]
    return [
        triplet(said(pattern, values, plan.inputs), solution, plan.program.text, values)
        for pattern in patterns
        if set(named_in(pattern)) == set(plan.inputs)
    ]
