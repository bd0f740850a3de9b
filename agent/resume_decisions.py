"""The decisions of a run that its events tell of: each is a key under which :class:`agent.resume.Memo` finds what was decided.

A key reads the record at the place that the run has come to. It gives the recorded decision, which may be that nothing was done, or None where the record
does not hold it: then it is taken now. Decisions are told in order, so the place is part of every key; what it is about is the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from agent.policy.path_questions import Adoption, Proposal, Reflection
from agent.policy.protocol import Arguments, ArgumentsQuestion, Choice, PathQuestion, Situation, WholePath
from agent.resume_record import Record
from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    PathEnded,
    PlanReady,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    ReflectionMade,
    StepBacktracked,
    StepChosen,
)
from domain.plan import Binding
from domain.program import Program, ProgramPlan
from domain.recalled import MemoryRecalled
from domain.taken import NoSolution, SolutionTaken

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_BEGUN = SolutionTaken | NoSolution | ProgramRefused | ProgramStarted
"""Events with which serving a request by a program begins."""


@dataclass(frozen=True, slots=True)
class Recorded(Generic[T_co]):
    """A decision as the record has it."""

    value: T_co


Decision = Callable[[Record], Recorded[T] | None]
"""The key of a decision whose value is a ``T``."""


# What a policy decides


def move(situation: Situation) -> Decision[Choice]:
    """The next move of a walk. One that ended without a path is decided anew: nothing may have been left to do, which the policy knows."""

    def read(record: Record) -> Recorded[Choice] | None:
        offered = [candidate.tool.id for candidate in situation.candidates]
        match record.next:
            case StepChosen(tool=tool, reason=reason, memory=memory) if tool in offered:
                return Recorded(Choice("advance", reason, offered.index(tool), memory))
            case StepBacktracked(phase="plan", reason=reason):
                return Recorded(Choice("backtrack", reason))
            case PathEnded(how="finished", reason=reason, unserved=unserved):
                return Recorded(Choice("finish", reason, unserved=unserved))
            case _:
                return None

    return read


def whole_path(question: PathQuestion) -> Decision[WholePath]:
    """All steps of a path, where the record goes on to its end."""

    def read(record: Record) -> Recorded[WholePath] | None:
        chosen, event = list[StepChosen](), None
        for event in record.ahead():
            if not isinstance(event, StepChosen):
                break
            chosen.append(event)
        offered = [candidate.tool.id for candidate in question.candidates]
        if not chosen or not isinstance(event, PathEnded) or any(one.tool not in offered for one in chosen):
            return None
        places = tuple(offered.index(one.tool) for one in chosen)
        return Recorded(WholePath(places, chosen[0].reason, event.unserved))

    return read


def judgement(record: Record) -> Recorded[Reflection] | None:
    """What a walk that has ended was worth."""
    match record.next:
        case ReflectionMade(verdict=verdict, reason=reason, first_wrong=first_wrong, noisy=noisy):
            return Recorded(Reflection(verdict, reason, first_wrong, noisy))
        case _:
            return None


def adoption(proposal: Proposal) -> Decision[Adoption]:
    """Whether a remembered path was taken whole."""

    def read(record: Record) -> Recorded[Adoption] | None:
        match record.next:
            case StepChosen(memory=memory, reason=reason) if memory == proposal.recalled.memory.id:
                return Recorded(Adoption(adopted=True, reason=reason))
            case CandidatesConsidered():
                return Recorded(Adoption(adopted=False, reason="it was not taken before"))
            case _:
                return None

    return read


def call_arguments(question: ArgumentsQuestion, own: Callable[[Binding], Binding]) -> Decision[Arguments]:
    """The arguments of a call that was begun. ``own``: an origin as the record has it, in the subtask's own count of steps."""

    def read(record: Record) -> Recorded[Arguments] | None:
        match record.next:
            case CallStarted(tool=tool, arguments=arguments, provenance=origins) if tool == question.tool.id:
                return Recorded(Arguments(arguments, tuple(own(origin) for origin in origins)))
            case _:
                return None

    return read


# What a run decides by itself, or after its stores and its user


def programs_asked_for(record: Record) -> Recorded[bool] | None:
    """Whether a program was asked for here, whatever came of it. A model that could not write then may do so now, and the other way round."""
    match list(islice(record.ahead(), 2)):
        case [] | [CandidatesConsidered()]:
            return None
        case [CandidatesConsidered(), PathEnded(path=())] if record.shown:  # a program, which was not allowed
            return Recorded(value=True)
        case [CandidatesConsidered(), following]:  # an offer, not where a walk begins
            return Recorded(isinstance(following, CandidatesConsidered | _BEGUN))
        case [first, *_]:
            return Recorded(isinstance(first, PlanReady | _BEGUN))
        case _:
            return None


def recalled_memories(record: Record) -> Recorded[MemoryRecalled | None] | None:
    """What long-term memory gave; None where the run had none."""
    told = next((event for event in record.asides() if isinstance(event, MemoryRecalled)), None)
    return None if told is None and record.next is None else Recorded(told)


def taken_solution(record: Record) -> Recorded[SolutionTaken | None] | None:
    """The solution that was taken as it stands."""
    match record.next:
        case None:
            return None
        case SolutionTaken() as taken:
            return Recorded(taken)
        case _:
            return Recorded(None)


def chosen_solution(record: Record) -> Recorded[SolutionTaken | NoSolution | None] | None:
    """The solution that a program was written after, or that none fits; None where no choice was made."""
    match record.next:
        case None:
            return None
        case (SolutionTaken() | NoSolution()) as chosen:
            return Recorded(chosen)
        case _:
            return Recorded(None)


def is_path_judged(record: Record) -> Recorded[bool] | None:
    """Whether a path that has ended was reflected on."""
    return None if record.next is None else Recorded(isinstance(record.next, ReflectionMade))


def gives_up(record: Record) -> Recorded[bool] | None:
    """Whether the subtask ended where no program came out, rather than went on with a path."""
    return None if record.next is None else Recorded(isinstance(record.next, PathEnded))


def shown_program(number: int) -> Decision[Program]:
    """The program that the user is asked about as the subtask's ``number``-th (from 0), where nothing of it was run yet."""

    def read(record: Record) -> Recorded[Program] | None:
        if record.next is not None and not isinstance(record.next, PathEnded | ProgramFailed):
            return None
        plan = record.shown[number] if number < len(record.shown) else None
        return None if plan is None else Recorded(plan.program)

    return read


def draft(record: Record) -> Recorded[Program | ProgramRefused | None] | None:
    """The next text: a program that was run, or one that the checks refused; None where none was written."""
    match record.next:
        case None:
            return None
        case ProgramStarted(program=program):
            return Recorded(program)
        case ProgramRefused() as refused:
            return Recorded(refused)
        case _:
            return Recorded(None)


def started_plan(record: Record) -> Recorded[ProgramPlan] | None:
    """The program that is run next, with the values of its inputs."""
    match record.next:
        case ProgramStarted(program=program, values=values):
            return Recorded(ProgramPlan(program=program, values=values))
        case _:
            return None


def begins_anew(record: Record) -> Recorded[bool] | None:
    """Whether the next program does without the names of those before it: a worker was lost, and is not lost again."""
    match record.next:
        case ProgramStarted(goes_on=goes_on):
            return Recorded(not goes_on)
        case _:
            return None


def is_mended(number: int) -> Decision[bool]:
    """Whether a program whose claim was refuted was written anew."""

    def read(record: Record) -> Recorded[bool] | None:
        told = record.next
        return None if told is None else Recorded(isinstance(told, ProgramFailed) and told.number == number)

    return read


def called_by_steps(record: Record) -> Recorded[bool] | None:
    """Whether calls come next that were made step by step, by a version whose plans were no programs."""
    match record.next:
        case CallStarted(site="") | CallFinished(site=""):
            return Recorded(value=True)
        case _:
            return None


def steps_ended(record: Record) -> Recorded[bool] | None:
    """Whether the run went on to something else than the next call of a path."""
    return None if record.next is None else Recorded(not isinstance(record.next, CallStarted))
