"""Build solutions from combinations (SoAy, sections 4 and 5).

Each intent gets a program, questions and input values. A solution is kept only if its program returns the gold answer,
which is computed by following the walk without the program.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from pydantic.types import JsonValue

from agent.plans.plan_text_check import check_plan
from agent.plans.request_words import fill_placeholders, find_placeholders
from agent.programs.program_types import Sandbox
from agent.programs.signatures import OfferText, render_offer
from agent.solutions.evidence import compute_solution_id
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc
from graph.walks import FeedWalk
from synthesis.combinations import Combination, UserInput
from synthesis.input_values import InputValueFinder
from synthesis.intent_program import IntentProgram, write_program
from synthesis.intents import Intent, QueryPath, enumerate_intents
from synthesis.program_trial import (
    MAX_CALLS,
    MiningCallError,
    NotRecordedError,
    ReadOnlyCaller,
    RecordedExecutor,
    ServiceUnreachableError,
    TooManyCallsError,
    try_program,
)
from synthesis.questions import render_questions
from synthesis.triplets import Triplet, build_triplet
from synthesis.walk_execution import TailAnswer, collect_rows, compute_gold_answer, list_condition_values, run_walk

MAX_CASES = 3
"""Maximum of cases with which a program is tried; it must be right in all of them."""
NO_CALLS = "nothing may be called"
"""Reason for dropping an intent: no tool may be called."""
MAX_RECORDED_VALUES = 12
"""Maximum of input values to try over recordings, where most lead to calls that nobody made."""
NOT_REACHED = "its service could not be called"
"""Reason for dropping an intent: its service could not be called."""
NOT_TRIED = "mined from documents alone, and never tried"
"""Reason for suspending a solution that nothing has proven."""


class QuestionWriter(Protocol):
    """Writes better questions for a combination's intents than the words of documents give."""

    async def write_questions(
        self, query_path: QueryPath, programs_with_questions: Sequence[tuple[IntentProgram, tuple[str, ...]]]
    ) -> list[tuple[str, ...]]:
        """Return better questions for each program, in order, with the same names in braces; empty for none.

        Raises:
            ModelUnavailableError: a language model writes them, and gives no answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class CombinationOutcome:
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
class _GoldCase:
    """Input values with the answer that an intent must have for them."""

    values: JsonObject
    expected: JsonValue
    condition_value: JsonValue
    """The value that the chosen items have, for intents that choose; else None."""


@dataclass(frozen=True, slots=True)
class _GoldAnswers:
    """The answers that a program must give, found without it."""

    cases: tuple[_GoldCase, ...] = ()
    reason: str = ""
    """Why there are no cases; empty where there are some."""


@dataclass(frozen=True, slots=True)
class _ProofResult:
    """Result of trying a program against the gold answers."""

    values: JsonObject | None = None
    """Values with which the program gave the gold answer; None where it was not tried, or failed."""
    reason: str = ""
    """Why the program is not proven; empty where it is."""
    ran: bool = False
    """True if the program was executed."""


@dataclass(frozen=True, slots=True)
class _ProgramDraft:
    """The program of an intent, before it is proven."""

    intent: Intent
    intent_program: IntentProgram
    gold_answers: _GoldAnswers
    plan: ProgramPlan
    id: str
    """The id that a solution with this plan has."""
    patterns: tuple[str, ...]
    """The questions that it answers."""
    fault: str
    """Why the program cannot be used; empty where it can."""


@dataclass(slots=True)
class _WalkAnswers:
    """What the intents of one walk with the same inputs share."""

    walk: FeedWalk
    inputs: tuple[UserInput, ...]
    offer: OfferText
    """The tools as functions."""
    answers: dict[object, list[TailAnswer] | MiningCallError] = field(
        default_factory=dict[object, list[TailAnswer] | MiningCallError]
    )


@dataclass(slots=True)
class SolutionBuilder:
    """Builds solutions from the combinations of one tool set."""

    sandbox: Sandbox
    caller: ReadOnlyCaller | None = None
    """Calls tools; None where nothing may be executed."""
    value_finder: InputValueFinder | None = None
    """Finds input values; None where nothing may be executed."""
    question_writer: QuestionWriter | None = None
    keep_unproven: bool = False
    """True if solutions that cannot be executed are kept, suspended."""
    recorded: RecordedExecutor | None = None
    """Recorded calls that answer instead of services; None where services are called."""
    patterns: dict[str, str] = field(default_factory=dict[str, str])
    """Questions that solutions answer already, with the id of the solution.

    Combinations of shorter walks come first, and the shorter walk is the simpler solution.
    """
    _last_answers: _WalkAnswers | None = None

    def reserve_patterns(self, solution: Solution) -> None:
        """Reserve the questions of a stored solution, so that no other one claims them."""
        self.patterns.update((_normalize_pattern(pattern), solution.id) for pattern in solution.patterns)

    async def build_solutions(self, combination: Combination) -> CombinationOutcome:
        """Build the solutions of a combination."""
        query_path = QueryPath(combination)
        if combination.output is None or not all(tool.safe for tool in combination.walk.tools):
            return CombinationOutcome(combination.key, untried=True, dropped=Counter({"it changes something": 1}))
        all_intents = [*enumerate_intents(query_path)]
        if not self.keep_unproven and not await self._can_execute(combination.walk):
            dropped = Counter({NO_CALLS: len(all_intents)})
            return CombinationOutcome(combination.key, untried=True, intents=len(all_intents), dropped=dropped)
        outcome = CombinationOutcome(combination.key, intents=len(all_intents))
        gold_answers = [await self._find_gold_answers(item) for item in all_intents]
        # Not a property of the combination: the service may answer the next time.
        if all(answers.reason == NOT_REACHED for answers in gold_answers):
            return replace(outcome, untried=True, dropped=Counter({NOT_REACHED: len(all_intents)}))
        candidates = [
            (item, answers)
            for item, answers in zip(all_intents, gold_answers, strict=True)
            if answers.cases or self.keep_unproven
        ]
        outcome.dropped.update(
            answers.reason for answers in gold_answers if not answers.cases and not self.keep_unproven
        )
        drafts = await self._build_drafts(query_path, candidates)
        proofs = await asyncio.gather(*(self._prove_draft(item) for item in drafts))
        return self._keep_proven(outcome, drafts, proofs)

    def _keep_proven(
        self, outcome: CombinationOutcome, drafts: Sequence[_ProgramDraft], proofs: Sequence[_ProofResult]
    ) -> CombinationOutcome:
        """Keep the proven drafts, in their order; a question that several answer goes to the first."""
        solutions: list[Solution] = []
        triplets: list[Triplet] = []
        question_count = trial_count = 0
        for draft, proof in zip(drafts, proofs, strict=True):
            if not draft.intent_program.text:
                outcome.dropped[draft.fault] += 1
                continue
            patterns = self._list_free_patterns(draft)
            question_count += len(patterns)
            if not patterns:
                outcome.dropped["a shorter way answers the same question"] += 1
                continue
            trial_count += proof.ran
            if proof.reason and not (self.keep_unproven and not proof.ran and not draft.fault):
                outcome.dropped[proof.reason] += 1
                continue
            solutions.append(self._build_solution(draft.intent, draft.plan, patterns, proof))
            self.patterns.update((_normalize_pattern(pattern), draft.id) for pattern in patterns)
            if proof.values is not None:
                triplets += _build_triplets(draft.intent, draft.plan, patterns, proof.values, draft.intent_program)
        return replace(
            outcome, solutions=tuple(solutions), triplets=tuple(triplets), questions=question_count, tried=trial_count
        )

    def _list_free_patterns(self, draft: _ProgramDraft) -> tuple[str, ...]:
        """List the questions of a draft that no other solution answers."""
        return tuple(
            pattern
            for pattern in draft.patterns
            if self.patterns.get(_normalize_pattern(pattern), draft.id) == draft.id
        )

    async def _can_execute(self, walk: FeedWalk) -> bool:
        """Return whether the tools of a walk may be called, or all have recorded answers."""
        if self.caller is None or self.value_finder is None:
            return False
        return self.recorded is None or await self.recorded.can_answer_all(walk.path)

    def _get_walk_answers(self, query_path: QueryPath) -> _WalkAnswers:
        """Return what combinations of this walk with these inputs share."""
        walk, inputs = query_path.walk, query_path.combination.inputs
        # Only the latest is held: combinations of one walk with the same inputs come one after the other.
        if self._last_answers is None or self._last_answers.walk is not walk or self._last_answers.inputs != inputs:
            known_offer = (
                self._last_answers.offer if self._last_answers is not None and self._last_answers.walk is walk else None
            )
            self._last_answers = _WalkAnswers(walk, inputs, known_offer or render_offer(walk.tools))
        return self._last_answers

    async def _build_drafts(
        self, query_path: QueryPath, gold_answers: Sequence[tuple[Intent, _GoldAnswers]]
    ) -> list[_ProgramDraft]:
        """Build the programs of intents with their questions; those of the question writer come first."""
        if not gold_answers:
            return []
        offer = self._get_walk_answers(query_path).offer
        programs = [(intent, write_program(intent, offer)) for intent, _ in gold_answers]
        patterns_by_program = [
            render_questions(intent, intent_program.inputs) if intent_program.text else ()
            for intent, intent_program in programs
        ]
        if self.question_writer is not None:
            written_questions = await self.question_writer.write_questions(
                query_path,
                [
                    (intent_program, rendered)
                    for (_, intent_program), rendered in zip(programs, patterns_by_program, strict=True)
                ],
            )
            patterns_by_program = [
                tuple(dict.fromkeys((*written, *rendered)))
                for written, rendered in zip(written_questions, patterns_by_program, strict=True)
            ]
        plans = await asyncio.gather(*(self._build_plan(intent, intent_program) for intent, intent_program in programs))
        return [
            _ProgramDraft(
                intent,
                intent_program,
                gold,
                plan,
                compute_solution_id("", plan) if intent_program.text else "",
                patterns,
                fault,
            )
            for (intent, intent_program), (_, gold), patterns, (plan, fault) in zip(
                programs, gold_answers, patterns_by_program, plans, strict=True
            )
        ]

    async def _build_plan(self, intent: Intent, intent_program: IntentProgram) -> tuple[ProgramPlan, str]:
        docs = {tool.id: tool for tool in intent.query_path.walk.tools}
        functions = {signature.name: signature.tool for signature in intent_program.offer.signatures}
        if not intent_program.text:
            return ProgramPlan(program=Program(text="", tools={})), "no program says it"
        result = await check_plan(intent_program.text, intent_program.schemas, functions, docs, self.sandbox)
        return result.plan, "its program does not pass the checks" if result.complaints else ""

    async def _find_gold_answers(self, intent: Intent) -> _GoldAnswers:
        """Find the gold answers of an intent, with the first values for which anything is found."""
        if self.caller is None or self.value_finder is None:
            return _GoldAnswers(reason=NO_CALLS)
        cases, reason = list[_GoldCase](), "no values are known for its inputs"
        for values in await self.value_finder.find_values(
            intent.query_path, MAX_CASES if self.recorded is None else MAX_RECORDED_VALUES
        ):
            answers = await self._get_answers(intent, values, self.caller)
            if isinstance(answers, MiningCallError):
                reason = _describe_error(answers)
                continue
            rows = collect_rows(intent.query_path, answers)
            condition_value = next(iter(list_condition_values(intent, rows)), None)
            expected = compute_gold_answer(intent, rows, condition_value)
            if expected in (None, "", [], {}) or (intent.kind == "where" and condition_value is None):
                reason = "nothing was found"
            elif _repeats_input(expected, values):
                reason = "it says what was asked"
            elif _has_field_named_by_input(intent.query_path, values):
                reason = "it holds for one value alone"
            else:
                cases.append(_GoldCase(values, expected, condition_value))
            if len(cases) == MAX_CASES:
                break
        return _GoldAnswers(tuple(cases), "" if cases else reason)

    async def _get_answers(
        self, intent: Intent, values: JsonObject, caller: ReadOnlyCaller
    ) -> list[TailAnswer] | MiningCallError:
        """Return the responses of the last tool, or the error that ended the walk."""
        cache, key = self._get_walk_answers(intent.query_path).answers, (intent.item_modes, repr(values))
        if key not in cache:
            try:
                cache[key] = await run_walk(intent.query_path, intent.item_modes, values, caller.limit_to(MAX_CALLS))
            except MiningCallError as error:
                cache[key] = error
        return cache[key]

    async def _prove_draft(self, draft: _ProgramDraft) -> _ProofResult:
        """Run a draft's program, and compare its answers with the gold answers of all cases."""
        if draft.fault or not draft.gold_answers.cases or self.caller is None or not self._list_free_patterns(draft):
            return _ProofResult(reason=draft.fault or draft.gold_answers.reason)
        proven_values = None
        for case in draft.gold_answers.cases:
            input_values = {
                program_input.name: case.values[program_input.user_name]
                for program_input in draft.intent_program.inputs
                if program_input.user_name
            }
            if draft.intent.kind == "where":
                input_values[draft.intent_program.inputs[-1].name] = case.condition_value
            docs = _map_functions(draft.intent, draft.intent_program)
            trial = await try_program(draft.plan, input_values, docs, self.sandbox, self.caller)
            if trial.error or trial.answer != case.expected:
                return _ProofResult(reason="its program gives something else", ran=True)
            proven_values = proven_values or input_values
        return _ProofResult(proven_values, ran=True)

    def _build_solution(
        self, intent: Intent, plan: ProgramPlan, patterns: tuple[str, ...], proof: _ProofResult
    ) -> Solution:
        """Build the solution of a draft; it is suspended if nothing has proven it."""
        return Solution(
            id="",
            plan=ProgramPlan(program=plan.program.model_copy(update={"stubs": ""}), inputs=plan.inputs),
            patterns=patterns,
            path=tuple(dict.fromkeys(intent.query_path.walk.path)),
            origin="mined",
            outputs=(intent.query_path.output,),
            suspended="" if proof.values is not None else NOT_TRIED,
            at=datetime.now(UTC),
        )


def _describe_error(error: MiningCallError) -> str:
    """Return the reason for dropping an intent whose walk failed."""
    match error:
        case TooManyCallsError():
            return "too many calls"
        case ServiceUnreachableError():
            return NOT_REACHED
        case NotRecordedError():
            return "no recorded call has these arguments"
        case _:
            return "a call failed"


def _normalize_pattern(pattern: str) -> str:
    return " ".join(pattern.casefold().split())


def _map_functions(intent: Intent, intent_program: IntentProgram) -> Mapping[str, ToolDoc]:
    docs_by_id = {tool.id: tool for tool in intent.query_path.walk.tools}
    return {signature.name: docs_by_id[signature.tool] for signature in intent_program.offer.signatures}


def _repeats_input(expected: JsonValue, values: JsonObject) -> bool:
    """Return whether an answer only repeats a value that the question states."""
    value = expected[0] if isinstance(expected, list) and len(expected) == 1 else expected
    return isinstance(value, str) and value.casefold() in {
        str(stated_value).casefold() for stated_value in values.values()
    }


def _has_field_named_by_input(query_path: QueryPath, values: JsonObject) -> bool:
    """Return whether a field is named by a stated value, as ``Chad.languages`` for the country Chad.

    Such a program holds for that value alone: another value has another field.
    """
    stated_values = {str(value).casefold() for value in values.values()}
    fields = (query_path.output, *(feed.field for feed in query_path.walk.feeds))
    return any(piece.removesuffix("[]").casefold() in stated_values for field in fields for piece in field.split("."))


def _build_triplets(
    intent: Intent, plan: ProgramPlan, patterns: Sequence[str], values: JsonObject, intent_program: IntentProgram
) -> list[Triplet]:
    """Build a triplet for each question that names all inputs of the program."""
    functions = {signature.tool: signature.name for signature in intent_program.offer.signatures}
    solution = [functions[tool] for tool in intent.query_path.walk.path]
    return [
        build_triplet(fill_placeholders(pattern, values, plan.inputs), solution, plan.program.text, values)
        for pattern in patterns
        if set(find_placeholders(pattern)) == set(plan.inputs)
    ]
