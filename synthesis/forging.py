"""Build solutions from combinations (SoAy, sections 4 and 5).

Each intent gets a program, questions and input values. A solution is kept only if its program returns the gold
answer, which is found without it.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from pydantic.types import JsonValue

from agent.plans.checked_plan import checked
from agent.plans.request_template import named_in, said
from agent.programs.offer_text import OfferText, render_offer
from agent.programs.protocol import Sandbox
from agent.solutions.identity import solution_id
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc
from graph.walks import Walk
from synthesis.combinations import Combination, Said
from synthesis.following import Answer, answered, gold, rows_of, values_to_choose
from synthesis.intents import Course, Intent, intents
from synthesis.questions import questions
from synthesis.recorded import NotRecordedError, Recorded
from synthesis.sentences import Written, written
from synthesis.triplets import Triplet, triplet
from synthesis.trying import MOST_CALLS, CallFailedError, NotReachedError, Reading, TooManyCallsError, tried
from synthesis.values import Values

MOST_VALUES = 3
"""Cases with which a program is tried. It must be right in each that finds anything, and in one at least."""
NO_CALLS = "nothing may be called"
"""Reason for dropping an intent: no tool may be called."""
MOST_LOOKED_AT = 12
"""Values that are tried over recordings: most lead to calls that nobody made."""
NOT_REACHED = "its service could not be called"
"""Reason for dropping an intent: its service could not be called."""
NOT_TRIED = "mined from documents alone, and never tried"
"""Reason for suspending a solution that nothing has proven."""


class Asking(Protocol):
    """Writes better questions for a combination's intents than the words of documents give."""

    async def asked(self, course: Course, plain: Sequence[tuple[Written, tuple[str, ...]]]) -> list[tuple[str, ...]]:
        """Return the questions for each program, with the same names in braces; none where there are no better ones."""
        ...


@dataclass(frozen=True, slots=True)
class Forged:
    """Outcome of one combination."""

    key: str
    solutions: tuple[Solution, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    intents: int = 0
    """Number of intents that were considered."""
    questions: int = 0
    tried: int = 0
    """Number of programs that were executed."""
    untried: bool = False
    """True if nothing of it can be executed at present; it is looked at again the next time."""
    dropped: Counter[str] = field(default_factory=Counter[str])
    """Number of intents that were not kept, by reason."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Input values with the answer that an intent must have for them."""

    values: JsonObject
    expected: JsonValue
    wanted: JsonValue
    """The value that the chosen items have, for intents that choose; else None."""


@dataclass(frozen=True, slots=True)
class _Gold:
    """The answers that a program must give, found without it."""

    cases: tuple[_Case, ...] = ()
    why: str = ""
    """Why there are no cases; empty where there are some."""


@dataclass(frozen=True, slots=True)
class _Proof:
    """Result of trying a program against the gold answers."""

    values: JsonObject | None = None
    """Values with which the program gave the gold answer; None where it was not tried, or failed."""
    why: str = ""
    """Why the program is not proven; empty where it is."""
    ran: bool = False
    """True if the program was executed."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """The program of an intent, before it is proven."""

    intent: Intent
    code: Written
    gold: _Gold
    plan: ProgramPlan
    id: str
    """The id that a solution with this plan has."""
    patterns: tuple[str, ...]
    """The questions that it answers."""
    fault: str
    """Why the program cannot be used; empty where it can."""


@dataclass(slots=True)
class _Followed:
    """Shared data of intents of one walk with the same inputs: the responses, and the text of the tools."""

    walk: Walk
    inputs: tuple[Said, ...]
    offer: OfferText
    answers: dict[object, list[Answer] | CallFailedError] = field(
        default_factory=dict[object, list[Answer] | CallFailedError]
    )


@dataclass(slots=True)
class Forge:
    """Builds solutions from the combinations of one tool set."""

    sandbox: Sandbox
    reading: Reading | None = None
    """Calls tools; None where nothing may be executed."""
    values: Values | None = None
    """Finds input values; None where nothing may be executed."""
    asking: Asking | None = None
    unproven: bool = False
    """True if solutions that cannot be executed are kept, suspended."""
    recorded: Recorded | None = None
    """Recorded calls that answer instead of services; None where services are called."""
    patterns: dict[str, str] = field(default_factory=dict[str, str])
    """Questions that solutions answer already, with the id of the solution.

    Combinations of shorter walks come first, and the shorter walk is the simpler solution.
    """
    _last: _Followed | None = None

    def takes(self, solution: Solution) -> None:
        """Reserve the questions of a stored solution, so that no other one claims them."""
        self.patterns.update((_plain(one), solution.id) for one in solution.patterns)

    async def forged(self, combination: Combination) -> Forged:
        """Build the solutions of a combination."""
        course = Course(combination)
        if combination.output is None or not all(tool.safe for tool in combination.walk.tools):
            return Forged(combination.key, untried=True, dropped=Counter({"it changes something": 1}))
        wanted = [*intents(course)]
        if not self.unproven and not await self._executes(combination.walk):
            dropped = Counter({NO_CALLS: len(wanted)})
            return Forged(combination.key, untried=True, intents=len(wanted), dropped=dropped)
        made = Forged(combination.key, intents=len(wanted))
        golds = [await self._gold(one) for one in wanted]
        # Not a property of the combination: the service may answer the next time.
        if all(gold.why == NOT_REACHED for gold in golds):
            return replace(made, untried=True, dropped=Counter({NOT_REACHED: len(wanted)}))
        hopeful = [(one, gold) for one, gold in zip(wanted, golds, strict=True) if gold.cases or self.unproven]
        made.dropped.update(gold.why for gold in golds if not gold.cases and not self.unproven)
        drafts = await self._drafts(course, hopeful)
        proofs = await asyncio.gather(*(self._proof(one) for one in drafts))
        return self._kept(made, drafts, proofs)

    def _kept(self, made: Forged, drafts: Sequence[_Draft], proofs: Sequence[_Proof]) -> Forged:
        """Keep the proven drafts, in their order; a question that several answer goes to the first."""
        solutions: list[Solution] = []
        triplets: list[Triplet] = []
        asked = tries = 0
        for draft, proof in zip(drafts, proofs, strict=True):
            if not draft.code.text:
                made.dropped[draft.fault] += 1
                continue
            free = self._free(draft)
            asked += len(free)
            if not free:
                made.dropped["a shorter way answers the same question"] += 1
                continue
            tries += proof.ran
            if proof.why and not (self.unproven and not proof.ran and not draft.fault):
                made.dropped[proof.why] += 1
                continue
            solutions.append(self._solution(draft.intent, draft.plan, free, proof))
            self.patterns.update((_plain(one), draft.id) for one in free)
            if proof.values is not None:
                triplets += _triplets(draft.intent, draft.plan, free, proof.values, draft.code)
        return replace(made, solutions=tuple(solutions), triplets=tuple(triplets), questions=asked, tried=tries)

    def _free(self, draft: _Draft) -> tuple[str, ...]:
        """List the questions of a draft that no other solution answers."""
        return tuple(one for one in draft.patterns if self.patterns.get(_plain(one), draft.id) == draft.id)

    async def _executes(self, walk: Walk) -> bool:
        """Return whether the tools of a walk may be called, or all have recorded answers."""
        if self.reading is None or self.values is None:
            return False
        return self.recorded is None or await self.recorded.all_answer(walk.path)

    def _followed(self, course: Course) -> _Followed:
        """Return what is known of a walk with these inputs; neighbouring combinations mostly share it."""
        walk, inputs = course.walk, course.combination.inputs
        # Only the latest is held: combinations of one walk with the same inputs come one after the other.
        if self._last is None or self._last.walk is not walk or self._last.inputs != inputs:
            same = self._last.offer if self._last is not None and self._last.walk is walk else None
            self._last = _Followed(walk, inputs, same or render_offer(walk.tools))
        return self._last

    async def _drafts(self, course: Course, golds: Sequence[tuple[Intent, _Gold]]) -> list[_Draft]:
        """Build the programs of intents with their questions; those of the question writer come first."""
        if not golds:
            return []
        offer = self._followed(course).offer
        ways = [(intent, written(intent, offer)) for intent, _ in golds]
        plain = [questions(intent, code.inputs) if code.text else () for intent, code in ways]
        if self.asking is not None:
            better = await self.asking.asked(course, [(code, own) for (_, code), own in zip(ways, plain, strict=True)])
            plain = [tuple(dict.fromkeys((*more, *own))) for more, own in zip(better, plain, strict=True)]
        plans = await asyncio.gather(*(self._plan(intent, code) for intent, code in ways))
        return [
            _Draft(intent, code, gold, plan, solution_id("", plan) if code.text else "", patterns, fault)
            for (intent, code), (_, gold), patterns, (plan, fault) in zip(ways, golds, plain, plans, strict=True)
        ]

    async def _plan(self, intent: Intent, code: Written) -> tuple[ProgramPlan, str]:
        docs = {tool.id: tool for tool in intent.course.walk.tools}
        functions = {one.name: one.tool for one in code.offer.signatures}
        if not code.text:
            return ProgramPlan(program=Program(text="", tools={})), "no program says it"
        found = await checked(code.text, code.schemas, functions, docs, self.sandbox)
        return found.plan, "its program does not pass the checks" if found.complaints else ""

    async def _gold(self, intent: Intent) -> _Gold:
        """Find the gold answers of an intent, with the first values for which anything is found."""
        if self.reading is None or self.values is None:
            return _Gold(why=NO_CALLS)
        cases, why = list[_Case](), "no values are known for its inputs"
        for values in await self.values.of(intent.course, MOST_VALUES if self.recorded is None else MOST_LOOKED_AT):
            answers = await self._answers(intent, values, self.reading)
            if isinstance(answers, CallFailedError):
                why = _why(answers)
                continue
            rows = rows_of(intent.course, answers)
            wanted = next(iter(values_to_choose(intent, rows)), None)
            expected = gold(intent, rows, wanted)
            if expected in (None, "", [], {}) or (intent.asked == "where" and wanted is None):
                why = "nothing was found"
            elif _says_again(expected, values):
                why = "it says what was asked"
            elif _goes_by_value(intent.course, values):
                why = "it holds for one value alone"
            else:
                cases.append(_Case(values, expected, wanted))
            if len(cases) == MOST_VALUES:
                break
        return _Gold(tuple(cases), "" if cases else why)

    async def _answers(self, intent: Intent, values: JsonObject, reading: Reading) -> list[Answer] | CallFailedError:
        """Return the responses of the last tool, or the error that ended the walk."""
        known, key = self._followed(intent.course).answers, (intent.taken, repr(values))
        if key not in known:
            try:
                known[key] = await answered(intent.course, intent.taken, values, reading.up_to(MOST_CALLS))
            except CallFailedError as error:
                known[key] = error
        return known[key]

    async def _proof(self, draft: _Draft) -> _Proof:
        """Run a draft's program, and compare its answers with the gold answers of all cases."""
        if draft.fault or not draft.gold.cases or self.reading is None or not self._free(draft):
            return _Proof(why=draft.fault or draft.gold.why)
        first = None
        for case in draft.gold.cases:
            given = {one.name: case.values[one.said] for one in draft.code.inputs if one.said}
            if draft.intent.asked == "where":
                given[draft.code.inputs[-1].name] = case.wanted
            docs = _by_function(draft.intent, draft.code)
            trial = await tried(draft.plan, given, docs, self.sandbox, self.reading)
            if trial.error or trial.answer != case.expected:
                return _Proof(why="its program gives something else", ran=True)
            first = first or given
        return _Proof(first, ran=True)

    def _solution(self, intent: Intent, plan: ProgramPlan, patterns: tuple[str, ...], proof: _Proof) -> Solution:
        """Build the solution of a draft; it is suspended if nothing has proven it."""
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


def _why(error: CallFailedError) -> str:
    """Return the reason for dropping an intent whose walk failed."""
    match error:
        case TooManyCallsError():
            return "too many calls"
        case NotReachedError():
            return NOT_REACHED
        case NotRecordedError():
            return "no recorded call has these arguments"
        case _:
            return "a call failed"


def _plain(pattern: str) -> str:
    return " ".join(pattern.casefold().split())


def _by_function(intent: Intent, code: Written) -> Mapping[str, ToolDoc]:
    known = {tool.id: tool for tool in intent.course.walk.tools}
    return {one.name: known[one.tool] for one in code.offer.signatures}


def _says_again(expected: JsonValue, values: JsonObject) -> bool:
    """Return whether an answer is nothing but what the question states already."""
    told = expected[0] if isinstance(expected, list) and len(expected) == 1 else expected
    return isinstance(told, str) and told.casefold() in {str(one).casefold() for one in values.values()}


def _goes_by_value(course: Course, values: JsonObject) -> bool:
    """Return whether a field is named by a stated value, as ``Chad.languages`` for the country Chad.

    Such a program holds for that value alone: another value has another field.
    """
    told = {str(one).casefold() for one in values.values()}
    fields = (course.output, *(feed.field for feed in course.walk.feeds))
    return any(piece.removesuffix("[]").casefold() in told for field in fields for piece in field.split("."))


def _triplets(
    intent: Intent, plan: ProgramPlan, patterns: Sequence[str], values: JsonObject, code: Written
) -> list[Triplet]:
    """Build a triplet for each question that names all inputs of the program."""
    functions = {one.tool: one.name for one in code.offer.signatures}
    solution = [functions[tool] for tool in intent.course.walk.path]
    return [
        triplet(said(pattern, values, plan.inputs), solution, plan.program.text, values)
        for pattern in patterns
        if set(named_in(pattern)) == set(plan.inputs)
    ]
