"""What a run contributes to the library: verdicts on the solutions that it used, and its programs as new solutions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from agent.execution.error_bodies import is_empty
from agent.plans.effective_program import build_effective_program
from agent.plans.parameterize import InputCandidate, find_input_candidates, parameterize_plan
from agent.plans.request_spans import find_request_words, is_within_word
from agent.plans.request_template import RequestWords, insert_names
from agent.solutions.alignment import QUOTED, count_fixed_words, get_literal_text, list_inputs
from agent.solutions.derived_values import find_answer_words, find_derived_values
from agent.solutions.drift import compute_fingerprints
from agent.solutions.plain_values import SHAPE_KEYWORD, describe_shape
from agent.transcript import RunTranscript, SubtaskTranscript
from domain.event import (
    CallFinished,
    CandidatesConsidered,
    EventRecord,
    ProgramEnded,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
)
from domain.learning_events import SolutionTaken
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId

MAX_PROGRAM_LENGTH = 4_000
"""Limit of a program that is kept, in characters."""
_CIRCUMSTANCE = frozenset({"absent", "undecided", "refused", "unreached", "transient"})
"""Outcomes of calls that say nothing about the program that made them."""
_MIN_WORDS = 2
"""Minimum words of a pattern besides its inputs; fewer would match too many requests."""
_MIN_LETTERS = 4
"""Minimum letters of a pattern in a script without spaces between words."""
_MAX_WORDING = 300
"""Limit of a pattern, in characters."""


@dataclass(slots=True)
class TakenSolution:
    """A solution that a subtask used, unchanged or as a model, and what became of its program."""

    subtask: int
    """Number of the subtask."""
    event: SolutionTaken
    """The event of the selection."""
    number: int = 0
    """Number of its program; 0 before it started."""
    refused: bool = False
    """True if the checks refused its text."""
    failed: bool = False
    """True if it broke off."""
    ended: ProgramEnded | None = None
    """Its last event; None if it did not end."""
    cut_short: bool = False
    """True if a call was refused or failed for reasons outside of the program."""
    found_nothing: bool = False
    """True if a call found nothing, perhaps because there is nothing to find."""
    is_superseded: bool = field(default=False, repr=False)
    """True once the subtask has gone on to another plan; later events do not concern the solution."""


def collect_taken_solutions(records: Sequence[EventRecord]) -> list[TakenSolution]:
    """Return the solutions that a run used, in order; of each subtask, the last one."""
    taken_by_subtask: dict[int, TakenSolution] = {}
    for record in records:
        if isinstance(record.event, SolutionTaken):
            taken_by_subtask[record.subtask] = TakenSolution(record.subtask, record.event)
        elif (one := taken_by_subtask.get(record.subtask)) is not None and not one.is_superseded:
            _update_taken(one, record)
    return list(taken_by_subtask.values())


def _update_taken(taken_solution: TakenSolution, record: EventRecord) -> None:
    """Apply a later event of the subtask to a used solution."""
    match record.event:
        case CandidatesConsidered():
            taken_solution.is_superseded = True
        case ProgramStarted(number=number):
            taken_solution.number = taken_solution.number or number
        case ProgramRefused():
            taken_solution.refused = True
        case ProgramFailed(number=number) if number == taken_solution.number:
            taken_solution.failed = True
        case ProgramEnded(number=number) as end if number == taken_solution.number:
            taken_solution.ended = end
        case CallFinished(result=result):
            taken_solution.cut_short |= result.outcome in _CIRCUMSTANCE or result.status in ("skipped", "unknown")
            taken_solution.found_nothing |= result.status == "ok" and is_empty(result.response)
        case _:
            return


def judge_taken_solutions(records: Sequence[EventRecord], transcript: RunTranscript) -> Iterator[tuple[str, bool]]:
    """Yield the id of each used solution with a verdict: True if it served its subtask, False if it failed.

    Without verdict, and so left out, are solutions whose program did not run, or failed for reasons outside of it such
    as an unreachable host, a refused call, or a thing that does not exist.
    """
    for one in collect_taken_solutions(records):
        subtask = transcript.subtasks[one.subtask]
        served = transcript.is_served(subtask) and subtask.answered
        # A solution chosen as a model has no program of its own: it counts if what was written after it served.
        if one.event.how == "chosen" or (one.ended is not None and one.ended.verdict == "yes"):
            if served:
                yield one.event.solution, True
        elif one.refused:
            yield one.event.solution, False
        elif (one.failed or one.ended is not None) and not one.cut_short:
            has_failed = one.failed or bool(one.ended and one.ended.veto)
            # That another program served the subtask shows that an answer was to be found.
            if served or (has_failed and not one.found_nothing):
                yield one.event.solution, False


def build_reworded_solution(
    taken_solution: TakenSolution, existing: Solution, request: str, owner: str, *, changes: bool
) -> Solution | None:
    """Return an owner's solution with the patterns that a run of it has added; None if it has added none.

    They are the request of the run, and the wordings that the model suggested when it filled the inputs.

    Args:
        taken_solution: the solution as the run used it.
        existing: the stored solution.
        request: the request of the run.
        owner: owner of the new solution.
        changes: the solution may have side effects. If it is someone else's, its text then counts as foreign in the
            owner's copy, too.
    """
    inputs = taken_solution.event.values
    words_by_name = {name: find_request_words(value, request) for name, value in inputs.items()}
    own_wording = (
        insert_names(request, [RequestWords(words, name) for name, words in words_by_name.items()])
        if all(words_by_name.values())
        else ""
    )
    needed = [name for name, schema in existing.plan.inputs.items() if "default" not in schema]
    patterns = [text for text in (own_wording, *taken_solution.event.wordings) if is_pattern(text, needed)]
    new_patterns = tuple(text for text in dict.fromkeys(patterns) if text not in existing.patterns)
    reset_fields: dict[str, object] = {
        "good": 0,
        "bad": 0,
        "wrong": (),
        "runs": (),
        "verdicts": {},
        "planned": (),
        "promoted": False,
    }
    if existing.promoted:
        reset_fields["sharers"] = ()
    program = existing.plan.program
    if changes and existing.owner != owner:
        program = program.model_copy(update={"tainted": True})
    plan = existing.plan.model_copy(update={"program": program})
    return (
        existing.model_copy(update={**reset_fields, "owner": owner, "patterns": new_patterns, "plan": plan})
        if new_patterns
        else None
    )


def is_pattern(text: str, needed: Sequence[str]) -> bool:
    """Return whether a text can be a pattern: it names each needed input once, and has enough words besides."""
    literal_text = get_literal_text(text).replace("{", "").replace("}", "")
    # In scripts without spaces between words, letters are counted instead.
    has_enough_words = count_fixed_words(text) >= _MIN_WORDS or (
        len(re.sub(r"[\W\d_a-zA-Z]", "", literal_text)) >= _MIN_LETTERS and "|" not in text
    )
    return has_enough_words and len(text) <= _MAX_WORDING and sorted(list_inputs(text)) == sorted(needed)


def learn_solutions(
    records: Sequence[EventRecord],
    transcript: RunTranscript,
    docs: Mapping[ToolId, ToolDoc],
    owner: str,
    *,
    planned: bool = True,
) -> Iterator[Solution]:
    """Yield the programs of a run as solutions, with inputs for the values of their requests.

    A program is kept only if it answered all of its request, needs no earlier results, asks the user itself whatever
    must be asked, and contains no value that belongs to this run only (:func:`find_derived_values`). Subtasks that a
    solution of the library has served are left out.

    Args:
        records: the events of the run.
        transcript: the run, folded from the same events.
        docs: documents of the called tools.
        owner: owner of the new solutions.
        planned: False if the user may have changed the programs before they ran.
    """
    served_subtasks = {
        one.subtask for one in collect_taken_solutions(records) if one.ended is not None and one.ended.verdict == "yes"
    }
    shown_texts = list(_collect_shown_texts(records))
    for one in transcript.ordered_subtasks:
        request = one.description or transcript.request
        program = (
            _find_program(one)
            if one.number not in served_subtasks and transcript.is_served(one) and one.answered
            else None
        )
        if program is None or one.prior_count or _follows_an_answer(one):
            continue
        answers = [result.response for result in one.steps.values()]
        plan, pattern = _parameterize_program(program, request, docs)
        if plan is None:
            continue
        path = collect_path(plan.program)
        derived_values = find_derived_values(
            plan.program, request, docs, shown_texts, answers if program.tainted else ()
        )
        if not derived_values and not find_answer_words(plan.program, request, answers):
            yield Solution(
                id="",
                owner=owner,
                plan=ProgramPlan(program=plan.program.model_copy(update={"stubs": ""}), inputs=plan.inputs),
                patterns=(pattern,),
                path=path,
                fingerprints=compute_fingerprints(plan.program, docs) if docs.keys() >= set(path) else {},
                origin="run",
                runs=(records[0].run,),
                at=datetime.now(UTC),
                planned=(pattern,) if planned else (),
            )


def _collect_shown_texts(records: Sequence[EventRecord]) -> Iterator[str]:
    """Yield the values and errors of the run that authors of programs were shown."""
    for record in records:
        match record.event:
            case ProgramLooked(shown=text) | ProgramFailed(error=text):
                yield text
            case _:
                continue


def _follows_an_answer(subtask: SubtaskTranscript) -> bool:
    """Return whether a program was written after its user had answered a question of an earlier program.

    Such a program contains the answer, which holds for this user only, and does not ask again.
    """
    last = subtask.programs.last
    cells = {str(number) for number in last.cells} if last is not None else set[str]()
    return any(one.answer and one.site.partition(":")[0] not in cells for one in subtask.questions)


def collect_path(program: Program) -> tuple[ToolId, ...]:
    """Return the tools that a program calls, in the order of their first calls in its text."""
    names = [call.name for call in parse_source(program.text).calls]
    return tuple(dict.fromkeys(program.tools[name] for name in names if name in program.tools))


def _find_program(subtask: SubtaskTranscript) -> Program | None:
    """Return the program that served a subtask.

    None if a path served it, if the program is too long, or if it reads earlier results of the conversation.
    """
    last = subtask.programs.last
    effective = build_effective_program(last) if last is not None and subtask.sites else None
    if effective is None or len(effective.text) > MAX_PROGRAM_LENGTH or not collect_path(effective):
        return None
    uses_earlier_results = any(
        name == "earlier" or name.startswith("earlier_") for name in parse_source(effective.text).uses
    )
    return None if uses_earlier_results else effective


def _parameterize_program(
    program: Program, request: str, docs: Mapping[ToolId, ToolDoc]
) -> tuple[ProgramPlan | None, str]:
    """Return a plan with inputs for the values that the request has exactly once, and the request as its pattern.

    The plan is None if the pattern does not name each input exactly once, as when two constants come from the same
    words: one of them would keep its value, whatever the next request says.
    """
    whole_plan = ProgramPlan(program=program)
    chosen = _merge_lowered(
        [
            one
            for one in find_input_candidates(whole_plan, request, docs)
            if _count_occurrences(one.request_words, request) == 1
        ]
    )
    pattern = _build_pattern(chosen, request)
    named_inputs = list_inputs(pattern)
    if any(named_inputs.count(one.name) != 1 for one in chosen):
        return None, pattern
    plan = parameterize_plan(whole_plan, chosen)
    schemas = {one.name: _add_shape(one, request) for one in chosen}
    return plan.model_copy(update={"inputs": schemas}), pattern


def _merge_lowered(candidates: Sequence[InputCandidate]) -> list[InputCandidate]:
    """Merge each candidate that is another one in lower case into that one.

    A program may compare with a value in lower case; the place then takes the value of the input in lower case.
    """
    by_request_words = {one.request_words: one for one in candidates if one.value == one.request_words}
    lowered_candidates = [
        one
        for one in candidates
        if one.request_words in by_request_words and one is not by_request_words[one.request_words] and _is_lowered(one)
    ]
    spans = {
        said: tuple(span for one in lowered_candidates if one.request_words == said for span in one.spans)
        for said in by_request_words
    }
    return [
        replace(one, lowered=spans[one.request_words]) if by_request_words.get(one.request_words) is one else one
        for one in candidates
        if one not in lowered_candidates
    ]


def _is_lowered(candidate: InputCandidate) -> bool:
    """Return whether the value of a candidate is the words of the request in lower case, at known places."""
    return (
        candidate.value == candidate.request_words.lower()
        and bool(candidate.spans)
        and not (candidate.left_out or candidate.told)
    )


def _build_pattern(chosen: Sequence[InputCandidate], request: str) -> str:
    """Return a request with inputs in place of their words."""
    return insert_names(request, [RequestWords(one.request_words, one.name) for one in chosen])


def _add_shape(candidate: InputCandidate, request: str) -> JsonObject:
    """Return the schema of an input with the shape of its value in the request."""
    quoted = any(hit[hit.lastindex or 0] == candidate.request_words for hit in QUOTED.finditer(request))
    shape = describe_shape(candidate.value, quoted=quoted)
    return {**candidate.schema, SHAPE_KEYWORD: shape} if shape else candidate.schema


def _count_occurrences(words: str, request: str) -> int:
    """Return how often words occur in a request as whole words."""
    hits = re.finditer(re.escape(words), request, re.IGNORECASE)
    return sum(not is_within_word(request, hit.start()) and not is_within_word(request, hit.end()) for hit in hits)
