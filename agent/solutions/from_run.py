"""Contributions of a run to the library: verdicts on the solutions that it took, and new solutions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from agent.execution.error_bodies import is_empty
from agent.plans.lifting import Liftable, liftable, lifted
from agent.plans.request_template import Words, spoken
from agent.plans.said_words import within_word, words_of
from agent.plans.standing import standing
from agent.solutions.alignment import QUOTED, fixed_words, inputs_of, literals
from agent.solutions.drift import fingerprints
from agent.solutions.own_values import own_values, words_of_answers
from agent.solutions.plain_values import LOOKS, looks
from agent.transcript import SubtaskTranscript, Transcript
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
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.source_text import parse_source
from domain.taken import SolutionTaken
from domain.tool import ToolDoc, ToolId

LONGEST = 4_000
"""Maximum characters of a program that is kept."""
_CIRCUMSTANCE = frozenset({"absent", "undecided", "refused", "unreached", "transient"})
"""Outcomes of calls that say nothing about the program that made them."""
_LEAST_WORDS = 2
_LEAST_LETTERS = 4
_LONGEST_WORDING = 300


@dataclass(slots=True)
class TakenSolution:
    """A solution that a subtask took, and what became of its program."""

    subtask: int
    told: SolutionTaken
    """The event that recorded it."""
    number: int = 0
    """Number of its program; 0 before it started."""
    refused: bool = False
    failed: bool = False
    ended: ProgramEnded | None = None
    cut_short: bool = False
    """A call failed for reasons outside of the program."""
    found_nothing: bool = False
    """A call found nothing, as when there is no such thing."""
    over: bool = field(default=False, repr=False)
    """The subtask went on with another plan; later events do not concern the solution."""


def taken(records: Sequence[EventRecord]) -> list[TakenSolution]:
    """Return the solutions that a run took, in order."""
    found: dict[int, TakenSolution] = {}
    for record in records:
        if isinstance(record.event, SolutionTaken):
            found[record.subtask] = TakenSolution(record.subtask, record.event)
        elif (one := found.get(record.subtask)) is not None and not one.over:
            _follow(one, record)
    return list(found.values())


def _follow(one: TakenSolution, record: EventRecord) -> None:
    """Update a taken solution by a later event of its subtask."""
    match record.event:
        case CandidatesConsidered():
            one.over = True
        case ProgramStarted(number=number):
            one.number = one.number or number
        case ProgramRefused():
            one.refused = True
        case ProgramFailed(number=number) if number == one.number:
            one.failed = True
        case ProgramEnded(number=number) as end if number == one.number:
            one.ended = end
        case CallFinished(result=result):
            one.cut_short |= result.outcome in _CIRCUMSTANCE or result.status in ("skipped", "unknown")
            one.found_nothing |= result.status == "ok" and is_empty(result.response)
        case _:
            return


def judged(records: Sequence[EventRecord], transcript: Transcript) -> Iterator[tuple[str, bool]]:
    """Yield each taken solution with True if it served.

    Solutions are left out if no program of theirs ran, or if they failed for other reasons.
    """
    for one in taken(records):
        subtask = transcript.subtasks[one.subtask]
        served = transcript.served(subtask) and subtask.answered
        if one.told.how == "chosen" or (one.ended is not None and one.ended.verdict == "yes"):
            if served:
                yield one.told.solution, True
        elif one.refused:
            yield one.told.solution, False
        elif (one.failed or one.ended is not None) and not one.cut_short:
            weak = one.failed or bool(one.ended and one.ended.veto)
            if served or (weak and not one.found_nothing):
                yield one.told.solution, False


def worded_anew(one: TakenSolution, kept: Solution, request: str, owner: str, *, changes: bool) -> Solution | None:
    """Return an owner's solution with the new patterns that a run of it has shown; None if there are none.

    New patterns are the run's own request and the wordings that the model has suggested. If the solution may have
    side effects (``changes``) and is someone else's, its text counts as foreign in the copy, too.
    """
    inputs = one.told.values
    said = {name: words_of(value, request) for name, value in inputs.items()}
    own = spoken(request, [Words(words, name) for name, words in said.items()]) if all(said.values()) else ""
    needed = [name for name, schema in kept.plan.inputs.items() if "default" not in schema]
    patterns = [text for text in (own, *one.told.wordings) if is_pattern(text, needed)]
    new = tuple(text for text in dict.fromkeys(patterns) if text not in kept.patterns)
    blank: dict[str, object] = {
        "good": 0,
        "bad": 0,
        "wrong": (),
        "runs": (),
        "verdicts": {},
        "planned": (),
        "promoted": False,
    }
    if kept.promoted:
        blank["sharers"] = ()
    program = kept.plan.program
    if changes and kept.owner != owner:
        program = program.model_copy(update={"tainted": True})
    plan = kept.plan.model_copy(update={"program": program})
    return kept.model_copy(update={**blank, "owner": owner, "patterns": new, "plan": plan}) if new else None


def is_pattern(text: str, needed: Sequence[str]) -> bool:
    """Return True if a text can be a pattern: it names each needed input once, and has enough words besides."""
    said = literals(text).replace("{", "").replace("}", "")
    # In scripts without spaces between words, letters are counted instead.
    enough = fixed_words(text) >= _LEAST_WORDS or (
        len(re.sub(r"[\W\d_a-zA-Z]", "", said)) >= _LEAST_LETTERS and "|" not in text
    )
    return enough and len(text) <= _LONGEST_WORDING and sorted(inputs_of(text)) == sorted(needed)


def learnt(
    records: Sequence[EventRecord],
    transcript: Transcript,
    docs: Mapping[ToolId, ToolDoc],
    owner: str,
    *,
    planned: bool = True,
) -> Iterator[Solution]:
    """Yield the programs of a run as solutions, with inputs for the values of their requests.

    Subtasks that a solution in the library has served are left out. A program is kept only if it answered all of
    its request, needs no earlier results, asks its user itself whatever has to be asked, and holds no value of this
    one run (:mod:`agent.solutions.own_values`).

    ``planned`` is False if the user may have changed the programs before they ran.
    """
    there = {one.subtask for one in taken(records) if one.ended is not None and one.ended.verdict == "yes"}
    seen = list(_seen(records))
    for one in transcript.walked:
        request = one.description or transcript.request
        program = _program(one) if one.number not in there and transcript.served(one) and one.answered else None
        if program is None or one.given or _after_an_answer(one):
            continue
        answers = [result.response for result in one.steps.values()]
        plan, pattern = _with_inputs(program, request, docs)
        if plan is None:
            continue
        path = path_of(plan.program)
        of_one_run = own_values(plan.program, request, docs, seen, answers if program.tainted else ())
        if not of_one_run and not words_of_answers(plan.program, request, answers):
            yield Solution(
                id="",
                owner=owner,
                plan=ProgramPlan(program=plan.program.model_copy(update={"stubs": ""}), inputs=plan.inputs),
                patterns=(pattern,),
                path=path,
                fingerprints=fingerprints(plan.program, docs) if docs.keys() >= set(path) else {},
                origin="run",
                runs=(records[0].run,),
                at=datetime.now(UTC),
                planned=(pattern,) if planned else (),
            )


def _seen(records: Sequence[EventRecord]) -> Iterator[str]:
    """Yield the texts that authors of programs were shown of the run."""
    for record in records:
        match record.event:
            case ProgramLooked(shown=text) | ProgramFailed(error=text):
                yield text
            case _:
                continue


def _after_an_answer(subtask: SubtaskTranscript) -> bool:
    """Return True if a program was written after its user had answered a question in their own words.

    Such a program no longer asks, and holds what only this user has said.
    """
    last = subtask.programs.last
    cells = {str(number) for number in last.cells} if last is not None else set[str]()
    return any(one.answer and one.site.partition(":")[0] not in cells for one in subtask.questions)


def path_of(program: Program) -> tuple[ToolId, ...]:
    """Return the tools of a text in the order of their first calls."""
    names = [call.name for call in parse_source(program.text).calls]
    return tuple(dict.fromkeys(program.tools[name] for name in names if name in program.tools))


def _program(subtask: SubtaskTranscript) -> Program | None:
    """Return the program that served a subtask.

    None if steps served it, if it is too long, or if it reads earlier results of its conversation.
    """
    last = subtask.programs.last
    stands = standing(last) if last is not None and subtask.sites else None
    if stands is None or len(stands.text) > LONGEST or not path_of(stands):
        return None
    of_its_run = any(name == "earlier" or name.startswith("earlier_") for name in parse_source(stands.text).uses)
    return None if of_its_run else stands


def _with_inputs(program: Program, request: str, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramPlan | None, str]:
    """Return a program with inputs for values that its request has once, and the request as their pattern.

    There is no plan if the pattern does not name each input exactly once, as when two constants come from the same
    words: one of them would stay as it is, whatever the next request says.
    """
    whole = ProgramPlan(program=program)
    chosen = _lowered([one for one in liftable(whole, request, docs) if _times(one.said, request) == 1])
    pattern = _pattern(chosen, request)
    told = inputs_of(pattern)
    if any(told.count(one.name) != 1 for one in chosen):
        return None, pattern
    plan = lifted(whole, chosen)
    schemas = {one.name: _schema(one, request) for one in chosen}
    return plan.model_copy(update={"inputs": schemas}), pattern


def _lowered(found: Sequence[Liftable]) -> list[Liftable]:
    """Merge candidates that are the same words in lower case.

    A text that is compared in lower case becomes the input's value in lower case.
    """
    mains = {one.said: one for one in found if one.value == one.said}
    small = [one for one in found if one.said in mains and one is not mains[one.said] and _is_lowered(one)]
    spans = {said: tuple(span for one in small if one.said == said for span in one.spans) for said in mains}
    return [
        replace(one, lowered=spans[one.said]) if mains.get(one.said) is one else one
        for one in found
        if one not in small
    ]


def _is_lowered(one: Liftable) -> bool:
    return one.value == one.said.lower() and bool(one.spans) and not (one.left_out or one.told)


def _pattern(chosen: Sequence[Liftable], request: str) -> str:
    return spoken(request, [Words(one.said, one.name) for one in chosen])


def _schema(one: Liftable, request: str) -> JsonObject:
    """Return the schema of an input with the shape of its value in the request."""
    quoted = any(hit[hit.lastindex or 0] == one.said for hit in QUOTED.finditer(request))
    seen = looks(one.value, quoted=quoted)
    return {**one.schema, LOOKS: seen} if seen else one.schema


def _times(words: str, request: str) -> int:
    """Return how often words occur in a request as whole words."""
    found = re.finditer(re.escape(words), request, re.IGNORECASE)
    return sum(not within_word(request, hit.start()) and not within_word(request, hit.end()) for hit in found)
