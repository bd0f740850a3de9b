"""Decisions read from a run's events: each is a key under which :class:`agent.resume.Memo` finds one.

A key reads the record at the replay's current place. It returns the recorded decision, which may be that nothing was done, or None
if the record does not hold it and it must be made now. Decisions are recorded in order, so the place is part of every key; its
arguments say the rest.
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
"""First events of serving a request by a program."""


@dataclass(frozen=True, slots=True)
class Recorded(Generic[T_co]):
    """A decision found in the record; its value may be None."""

    value: T_co


Decision = Callable[[Record], Recorded[T] | None]
"""Key of a decision whose value is a ``T``."""


# Decisions of a policy


def move(situation: Situation) -> Decision[Choice]:
    """Build the key of the next move of a search.

    A search that ended without a path is decided again: only the policy knows whether nothing was left to do.
    """

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
    """Build the key of a path chosen in one decision; its value is found if the record reaches the path's end."""

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
    """Read the judgement of a search that has ended."""
    match record.next:
        case ReflectionMade(verdict=verdict, reason=reason, first_wrong=first_wrong, noisy=noisy):
            return Recorded(Reflection(verdict, reason, first_wrong, noisy))
        case _:
            return None


def adoption(proposal: Proposal) -> Decision[Adoption]:
    """Build the key of whether a remembered path was adopted."""

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
    """Build the key of the arguments of a call that was started.

    ``to_subtask_binding`` translates a recorded origin to the subtask's own step numbers.
    """

    def read(record: Record) -> Recorded[Arguments] | None:
        match record.next:
            case CallStarted(tool=tool, arguments=arguments, provenance=origins) if tool == question.tool.id:
                return Recorded(Arguments(arguments, tuple(own(origin) for origin in origins)))
            case _:
                return None

    return read


# Decisions of the run itself, of its stores and of its user


def programs_asked_for(record: Record) -> Recorded[bool] | None:
    """Read whether a program was requested here, whatever came of it.

    A model that could not write programs then may be able to now, or the reverse, so the current policy cannot tell.
    """
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
    """Read what long-term memory returned; the value is None if the run had no memory."""
    told = next((event for event in record.asides() if isinstance(event, MemoryRecalled)), None)
    return None if told is None and record.next is None else Recorded(told)


def taken_solution(record: Record) -> Recorded[SolutionTaken | None] | None:
    """Read the solution that was used unchanged; the value is None if there was none."""
    match record.next:
        case None:
            return None
        case SolutionTaken() as taken:
            return Recorded(taken)
        case _:
            return Recorded(None)


def chosen_solution(record: Record) -> Recorded[SolutionTaken | NoSolution | None] | None:
    """Read the solution that a program was modelled on, or that none fits; the value is None if no choice was made."""
    match record.next:
        case None:
            return None
        case (SolutionTaken() | NoSolution()) as chosen:
            return Recorded(chosen)
        case _:
            return Recorded(None)


def is_path_judged(record: Record) -> Recorded[bool] | None:
    """Read whether a path that has ended was reflected on."""
    return None if record.next is None else Recorded(isinstance(record.next, ReflectionMade))


def gives_up(record: Record) -> Recorded[bool] | None:
    """Read whether the subtask ended when no program came out, instead of continuing with a path."""
    return None if record.next is None else Recorded(isinstance(record.next, PathEnded))


def shown_program(number: int) -> Decision[Program]:
    """Build the key of the subtask's ``number``-th program (from 0) shown to the user, if nothing of it was run yet."""

    def read(record: Record) -> Recorded[Program] | None:
        if record.next is not None and not isinstance(record.next, PathEnded | ProgramFailed):
            return None
        plan = record.shown[number] if number < len(record.shown) else None
        return None if plan is None else Recorded(plan.program)

    return read


def draft(record: Record) -> Recorded[Program | ProgramRefused | None] | None:
    """Read the next text: a program that was run, or one that the checks refused.

    The value is None if none was written.
    """
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
    """Read the program that is run next, with the values of its inputs."""
    match record.next:
        case ProgramStarted(program=program, values=values):
            return Recorded(ProgramPlan(program=program, values=values))
        case _:
            return None


def begins_anew(record: Record) -> Recorded[bool] | None:
    """Read whether the next program starts without the names of earlier ones.

    That happened because a sandbox worker was lost, which will not happen again at the same place.
    """
    match record.next:
        case ProgramStarted(goes_on=goes_on):
            return Recorded(not goes_on)
        case _:
            return None


def is_mended(number: int) -> Decision[bool]:
    """Build the key of whether a program whose claim was refuted was rewritten."""

    def read(record: Record) -> Recorded[bool] | None:
        told = record.next
        return None if told is None else Recorded(isinstance(told, ProgramFailed) and told.number == number)

    return read


def called_by_steps(record: Record) -> Recorded[bool] | None:
    """Read whether the next calls were made step by step, by a version whose plans were not programs yet."""
    match record.next:
        case CallStarted(site="") | CallFinished(site=""):
            return Recorded(value=True)
        case _:
            return None


def steps_ended(record: Record) -> Recorded[bool] | None:
    """Read whether the run went on to something other than the next call of a path."""
    return None if record.next is None else Recorded(not isinstance(record.next, CallStarted))
