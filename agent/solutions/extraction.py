"""What a run contributes to the library: verdicts on the solutions that it used, and its programs as new solutions."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty_response
from agent.plans.executed_plan import build_effective_program
from agent.plans.parameterization import InputCandidate, find_input_candidates, parameterize_plan
from agent.plans.request_words import RequestWords, find_request_words, insert_placeholders, is_within_word
from agent.programs.analysis.constants import FixedValue, find_fixed_values
from agent.solutions.drift import compute_fingerprints
from agent.solutions.patterns import QUOTATION, count_fixed_words, get_literal_text, list_inputs
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
    SolutionTaken,
)
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.source_text import parse_source
from domain.tool import Parameter, ToolDoc, ToolId

_MAX_SMALL_COUNT = 100
"""Whole numbers up to this one are taken for counts, which fit any request."""
_MIN_TEXT_LENGTH = 2
"""Minimum length of a text that is examined, in characters."""
_MAX_CHOICES = 20
"""Limit of documented values from which a program may choose by itself, such as units; longer lists name things."""
_SHORT_CODE = re.compile(r"[a-z]{2,3}")
_SURROUNDING_MARKS = " ,.;:!?-/()"
_SPECIFIC_WORD = re.compile(r"(?<=[^.!?:\s] )(?:[A-ZÀ-ÖØ-Þ]\w+|\w*\d\w*)|(?<=^ )[A-ZÀ-ÖØ-Þ]\w+")
"""A capitalized word within a sentence, or a word with a digit."""


def find_derived_values(
    program: Program,
    request: str,
    docs: Mapping[ToolId, ToolDoc],
    shown_texts: Collection[str] = (),
    responses: Collection[str] = (),
) -> list[JsonValue]:
    """Return the constants of a program that come neither from the request nor from the documents of its tools.

    Examined are arguments of calls, values that the text compares with, and indices by which it picks from lists.

    Args:
        program: the program.
        request: the request that it served.
        docs: documents of its tools.
        shown_texts: texts of responses that the author was shown; constants in them may come from there.
        responses: responses of which the author may have been shown any part; texts in them may come from there.
    """
    constants = list(find_fixed_values(parse_source(program.text), program.tools))
    values = [
        constant.value
        for constant in constants
        if constant.role != "picked by"
        and constant.value not in _list_documented_values(_find_parameter(constant, program, docs))
        and not find_request_words(constant.value, request)
        and (_is_specific(constant.value) or _is_in_texts(constant.value, shown_texts, responses))
    ]
    undocumented_codes = [
        code
        for code, documented_words in _find_codes(constants, program, docs)
        if code not in documented_words and not find_request_words(code, request)
    ]
    return [*values, *undocumented_codes, *(_find_picked_indices(constants) if shown_texts else ())]


def find_response_words(program: Program, request: str, responses: Collection[str]) -> list[str]:
    """Return names, codes and figures in the program's texts for people that responses of its calls contain.

    They belong to this one run, like the name of a country or currency. The first word of a sentence is ignored,
    because it has a capital whatever it is.
    """
    texts = [text for text in parse_source(program.text).string_constants if " " in text]
    words = dict.fromkeys(hit[0] for text in texts for hit in _SPECIFIC_WORD.finditer(text))
    return [
        word
        for word in words
        if not find_request_words(word, request)
        and any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", response) for response in responses)
    ]


def _find_codes(
    constants: Sequence[FixedValue], program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[str, frozenset[JsonValue]]]:
    """Yield arguments that look like codes of countries, currencies or languages.

    With each come the words that the document of its parameter contains.
    """
    for constant in constants:
        if (
            constant.role == "argument"
            and not constant.composed
            and isinstance(constant.value, str)
            and _SHORT_CODE.fullmatch(constant.value)
        ):
            parameter = _find_parameter(constant, program, docs)
            documented_words = (
                re.findall(r"\w+", f"{parameter.description} {parameter.enum} {parameter.default}") if parameter else []
            )
            yield constant.value, frozenset(documented_words)


def _find_picked_indices(constants: Sequence[FixedValue]) -> list[JsonValue]:
    """Return the indices by which a text picks from lists, except the first and the last.

    An author who saw the list may have chosen the index that was right for this request only.
    """
    indices = [constant.value for constant in constants if constant.role == "picked by"]
    return [index for index in indices if isinstance(index, int) and index not in (0, -1)]


def _find_parameter(constant: FixedValue, program: Program, docs: Mapping[ToolId, ToolDoc]) -> Parameter | None:
    """Return the parameter that a constant is an argument for; None if there is none."""
    doc = docs.get(program.tools[constant.function]) if constant.function else None
    name = program.arguments.get(constant.function, {}).get(constant.parameter, constant.parameter)
    return next((parameter for parameter in doc.parameters if parameter.name == name), None) if doc else None


def _list_documented_values(parameter: Parameter | None) -> tuple[JsonValue, ...]:
    """Return the values that a document names for a parameter.

    A long enumeration is left out: it names things, so the choice of one depends on the request.
    """
    return (*(parameter.enum if len(parameter.enum) <= _MAX_CHOICES else ()), parameter.default) if parameter else ()


def _is_specific(value: JsonValue) -> bool:
    """Return whether a value is a figure, a code or a name, rather than a word or count that fits any request."""
    match value:
        case bool():
            return False
        case int():
            return abs(value) > _MAX_SMALL_COUNT
        case float():
            return not value.is_integer() or abs(value) > _MAX_SMALL_COUNT
        case str():
            text = value.strip(_SURROUNDING_MARKS)
            return bool(re.search(r"\d", text)) or (len(text) >= _MIN_TEXT_LENGTH and text[:1].isupper())
        case _:
            return False


def _is_in_texts(value: JsonValue, shown_texts: Collection[str], responses: Collection[str]) -> bool:
    """Return whether a text occurs in any of these texts, or a number in what the author was shown."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return len(value) >= _MIN_TEXT_LENGTH and any(value in text for text in (*shown_texts, *responses))
    number = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]|\.\d)")
    return any(number.search(text) for text in shown_texts)


MAX_PROGRAM_LENGTH = 4_000
"""Limit of a program that is kept, in characters."""
_INCONCLUSIVE_OUTCOMES = frozenset({"absent", "undecided", "refused", "unreached", "transient"})
"""Outcomes of calls that say nothing about the program that made them."""
_MIN_PATTERN_WORDS = 2
"""Minimum words of a pattern besides its inputs; fewer would match too many requests."""
_MIN_PATTERN_LETTERS = 4
"""Minimum letters of a pattern in a script without spaces between words."""
_MAX_PATTERN_LENGTH = 300
"""Limit of a pattern, in characters."""


@dataclass(slots=True)
class SelectedSolution:
    """A solution that a subtask used, unchanged or as a model, and what became of its program."""

    subtask: int
    """Number of the subtask."""
    event: SolutionTaken
    """The event of the selection."""
    program_number: int = 0
    """Number of its program; 0 before it started."""
    refused: bool = False
    """True if the checks refused its text."""
    failed: bool = False
    """True if it broke off."""
    end: ProgramEnded | None = None
    """Its last event; None if it did not end."""
    was_interrupted: bool = False
    """True if a call was refused or failed for reasons outside of the program."""
    found_nothing: bool = False
    """True if a call found nothing, perhaps because there is nothing to find."""
    is_superseded: bool = field(default=False, repr=False)
    """True once the subtask has gone on to another plan; later events do not concern the solution."""


def collect_selected_solutions(records: Sequence[EventRecord]) -> list[SelectedSolution]:
    """Return the solutions that a run used, in order; of each subtask, the last one."""
    taken_by_subtask: dict[int, SelectedSolution] = {}
    for record in records:
        if isinstance(record.event, SolutionTaken):
            taken_by_subtask[record.subtask] = SelectedSolution(record.subtask, record.event)
        elif (selected := taken_by_subtask.get(record.subtask)) is not None and not selected.is_superseded:
            _update_selected(selected, record)
    return list(taken_by_subtask.values())


def _update_selected(selected: SelectedSolution, record: EventRecord) -> None:
    """Apply a later event of the subtask to a used solution."""
    match record.event:
        case CandidatesConsidered():
            selected.is_superseded = True
        case ProgramStarted(number=number):
            selected.program_number = selected.program_number or number
        case ProgramRefused():
            selected.refused = True
        case ProgramFailed(number=number) if number == selected.program_number:
            selected.failed = True
        case ProgramEnded(number=number) as end if number == selected.program_number:
            selected.end = end
        case CallFinished(result=result):
            selected.was_interrupted |= result.outcome in _INCONCLUSIVE_OUTCOMES or result.status in (
                "skipped",
                "unknown",
            )
            selected.found_nothing |= result.status == "ok" and is_empty_response(result.response)
        case _:
            return


def judge_selected_solutions(records: Sequence[EventRecord], transcript: RunTranscript) -> Iterator[tuple[str, bool]]:
    """Yield the id of each used solution with a verdict: True if it served its subtask, False if it failed.

    Without verdict, and so left out, are solutions whose program did not run, or failed for reasons outside of it such
    as an unreachable host, a refused call, or a thing that does not exist.
    """
    for selected in collect_selected_solutions(records):
        subtask = transcript.subtasks[selected.subtask]
        served = transcript.is_served(subtask) and subtask.is_answered
        # A solution chosen as a model has no program of its own: it counts if what was written after it served.
        if selected.event.how == "chosen" or (selected.end is not None and selected.end.verdict == "yes"):
            if served:
                yield selected.event.solution, True
        elif selected.refused:
            yield selected.event.solution, False
        elif (selected.failed or selected.end is not None) and not selected.was_interrupted:
            has_failed = selected.failed or bool(selected.end and selected.end.veto)
            # That another program served the subtask shows that an answer was to be found.
            if served or (has_failed and not selected.found_nothing):
                yield selected.event.solution, False


def build_reworded_solution(
    selected: SelectedSolution, existing: Solution, request: str, owner: str, *, changes: bool
) -> Solution | None:
    """Return an owner's solution with the patterns that a run of it has added; None if it has added none.

    They are the request of the run, and the wordings that the model suggested when it filled the inputs.

    Args:
        selected: the solution as the run used it.
        existing: the stored solution.
        request: the request of the run.
        owner: owner of the new solution.
        changes: the solution may have side effects. If it is someone else's, its text then counts as foreign in the
            owner's copy, too.
    """
    inputs = selected.event.values
    words_by_name = {name: find_request_words(value, request) for name, value in inputs.items()}
    own_wording = (
        insert_placeholders(request, [RequestWords(words, name) for name, words in words_by_name.items()])
        if all(words_by_name.values())
        else ""
    )
    needed_inputs = [name for name, schema in existing.plan.inputs.items() if "default" not in schema]
    patterns = [text for text in (own_wording, *selected.event.wordings) if is_usable_pattern(text, needed_inputs)]
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


def is_usable_pattern(text: str, needed_inputs: Sequence[str]) -> bool:
    """Return whether a text can be a pattern: it names each needed input once, and has enough words besides."""
    literal_text = get_literal_text(text).replace("{", "").replace("}", "")
    # In scripts without spaces between words, letters are counted instead.
    has_enough_words = count_fixed_words(text) >= _MIN_PATTERN_WORDS or (
        len(re.sub(r"[\W\d_a-zA-Z]", "", literal_text)) >= _MIN_PATTERN_LETTERS and "|" not in text
    )
    return has_enough_words and len(text) <= _MAX_PATTERN_LENGTH and sorted(list_inputs(text)) == sorted(needed_inputs)


def extract_solutions(
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
        selected.subtask
        for selected in collect_selected_solutions(records)
        if selected.end is not None and selected.end.verdict == "yes"
    }
    shown_texts = list(_collect_shown_texts(records))
    for subtask in transcript.ordered_subtasks:
        request = subtask.description or transcript.request
        program = (
            _find_serving_program(subtask)
            if subtask.number not in served_subtasks and transcript.is_served(subtask) and subtask.is_answered
            else None
        )
        if program is None or subtask.prior_count or _was_written_after_answer(subtask):
            continue
        responses = [result.response for result in subtask.steps.values()]
        plan, pattern = _parameterize_program(program, request, docs)
        if plan is None:
            continue
        path = collect_called_tools(plan.program)
        derived_values = find_derived_values(
            plan.program, request, docs, shown_texts, responses if program.tainted else ()
        )
        if not derived_values and not find_response_words(plan.program, request, responses):
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


def _was_written_after_answer(subtask: SubtaskTranscript) -> bool:
    """Return whether a program was written after its user had answered a question of an earlier program.

    Such a program contains the answer, which holds for this user only, and does not ask again.
    """
    last = subtask.programs.last
    cells = {str(number) for number in last.cells} if last is not None else set[str]()
    return any(question.answer and question.site.partition(":")[0] not in cells for question in subtask.questions)


def collect_called_tools(program: Program) -> tuple[ToolId, ...]:
    """Return the tools that a program calls, in the order of their first calls in its text."""
    names = [call.name for call in parse_source(program.text).calls]
    return tuple(dict.fromkeys(program.tools[name] for name in names if name in program.tools))


def _find_serving_program(subtask: SubtaskTranscript) -> Program | None:
    """Return the program that served a subtask.

    None if a path served it, if the program is too long, or if it reads earlier results of the conversation.
    """
    last = subtask.programs.last
    effective = build_effective_program(last) if last is not None and subtask.sites else None
    if effective is None or len(effective.text) > MAX_PROGRAM_LENGTH or not collect_called_tools(effective):
        return None
    uses_earlier_results = any(
        name == "earlier" or name.startswith("earlier_") for name in parse_source(effective.text).read_names
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
    chosen = _merge_lowercase_candidates(
        [
            candidate
            for candidate in find_input_candidates(whole_plan, request, docs)
            if _count_occurrences(candidate.request_words, request) == 1
        ]
    )
    pattern = _build_pattern(chosen, request)
    named_inputs = list_inputs(pattern)
    if any(named_inputs.count(candidate.name) != 1 for candidate in chosen):
        return None, pattern
    plan = parameterize_plan(whole_plan, chosen)
    schemas = {candidate.name: _add_shape(candidate, request) for candidate in chosen}
    return plan.model_copy(update={"inputs": schemas}), pattern


def _merge_lowercase_candidates(candidates: Sequence[InputCandidate]) -> list[InputCandidate]:
    """Merge each candidate that is another one in lower case into that one.

    A program may compare with a value in lower case; the place then takes the value of the input in lower case.
    """
    by_request_words = {
        candidate.request_words: candidate for candidate in candidates if candidate.value == candidate.request_words
    }
    lowered_candidates = [
        candidate
        for candidate in candidates
        if candidate.request_words in by_request_words
        and candidate is not by_request_words[candidate.request_words]
        and _is_lowercase_copy(candidate)
    ]
    spans = {
        request_words: tuple(
            span
            for candidate in lowered_candidates
            if candidate.request_words == request_words
            for span in candidate.spans
        )
        for request_words in by_request_words
    }
    return [
        replace(candidate, lowercase_spans=spans[candidate.request_words])
        if by_request_words.get(candidate.request_words) is candidate
        else candidate
        for candidate in candidates
        if candidate not in lowered_candidates
    ]


def _is_lowercase_copy(candidate: InputCandidate) -> bool:
    """Return whether the value of a candidate is the words of the request in lower case, at known places."""
    return (
        candidate.value == candidate.request_words.lower()
        and bool(candidate.spans)
        and not (candidate.removed_spans or candidate.mention_spans)
    )


def _build_pattern(chosen: Sequence[InputCandidate], request: str) -> str:
    """Return a request with inputs in place of their words."""
    return insert_placeholders(request, [RequestWords(candidate.request_words, candidate.name) for candidate in chosen])


def _add_shape(candidate: InputCandidate, request: str) -> JsonObject:
    """Return the schema of an input with the shape of its value in the request."""
    quoted = any(hit[hit.lastindex or 0] == candidate.request_words for hit in QUOTATION.finditer(request))
    shape = describe_shape(candidate.value, quoted=quoted)
    return {**candidate.schema, SHAPE_KEYWORD: shape} if shape else candidate.schema


def _count_occurrences(words: str, request: str) -> int:
    """Return how often words occur in a request as whole words."""
    hits = re.finditer(re.escape(words), request, re.IGNORECASE)
    return sum(not is_within_word(request, hit.start()) and not is_within_word(request, hit.end()) for hit in hits)
