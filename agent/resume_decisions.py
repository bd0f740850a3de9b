"""Functions that read decisions from the recorded events of a run, one for each kind of decision.

Each reads the record at the current position of the replay and returns the decision found there, or None if there is
none and the decision must be made now. A decision may itself be None: it was decided to do nothing. Functions that
need to know what was decided about return such a reader (:data:`DecisionReader`); the others are readers themselves.
:class:`agent.resume.SubtaskMemo` calls them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from agent.policy.protocol import (
    AdoptionQuestion,
    ArgumentsQuestion,
    CallArguments,
    MoveQuestion,
    NextMove,
    PathAdoption,
    PathQuestion,
    Reflection,
    WholePath,
)
from agent.resume_record import ReplayRecord
from domain.event import (
    CallStarted,
    CandidatesConsidered,
    MemoryRecalled,
    NoSolution,
    PathEnded,
    PlanReady,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    ReflectionMade,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
)
from domain.plan import Binding
from domain.program import Program, ProgramPlan

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_PROGRAM_START_EVENTS = SolutionTaken | NoSolution | ProgramRefused | ProgramStarted
"""Events that can be the first ones of serving a request by a program."""


@dataclass(frozen=True, slots=True)
class RecordedDecision(Generic[T_co]):
    """A decision found in the record; its value may be None."""

    value: T_co
    """What was decided; None may mean that nothing was done."""


DecisionReader = Callable[[ReplayRecord], RecordedDecision[T] | None]
"""Reads a decision of type ``T`` from a record; returns None if it is not recorded at the current position."""


# Decisions of a policy.


def read_move(situation: MoveQuestion) -> DecisionReader[NextMove]:
    """Return a reader of the next move of a search.

    Giving up is not read from the record but decided again: only the policy knows whether nothing was left to do.
    """

    def read(record: ReplayRecord) -> RecordedDecision[NextMove] | None:
        offered = [candidate.tool.id for candidate in situation.candidates]
        match record.next_event:
            case StepChosen(tool=tool, reason=reason, memory=memory) if tool in offered:
                return RecordedDecision(NextMove("advance", reason, offered.index(tool), memory))
            case StepBacktracked(phase="plan", reason=reason):
                return RecordedDecision(NextMove("backtrack", reason))
            case PathEnded(how="finished", reason=reason, unserved=unserved):
                return RecordedDecision(NextMove("finish", reason, unserved=unserved))
            case _:
                return None

    return read


def read_whole_path(question: PathQuestion) -> DecisionReader[WholePath]:
    """Return a reader of a path that was chosen in one decision; only a path whose end is recorded counts."""

    def read(record: ReplayRecord) -> RecordedDecision[WholePath] | None:
        chosen, event = list[StepChosen](), None
        for event in record.iterate_ahead():
            if not isinstance(event, StepChosen):
                break
            chosen.append(event)
        offered = [candidate.tool.id for candidate in question.candidates]
        if not chosen or not isinstance(event, PathEnded) or any(step.tool not in offered for step in chosen):
            return None
        indices = tuple(offered.index(step.tool) for step in chosen)
        return RecordedDecision(WholePath(indices, chosen[0].reason, event.unserved))

    return read


def read_reflection(record: ReplayRecord) -> RecordedDecision[Reflection] | None:
    """Read the judgement of a path."""
    match record.next_event:
        case ReflectionMade(verdict=verdict, reason=reason, first_wrong=first_wrong, noisy=noisy):
            return RecordedDecision(Reflection(verdict, reason, first_wrong, noisy))
        case _:
            return None


def read_adoption(proposal: AdoptionQuestion) -> DecisionReader[PathAdoption]:
    """Return a reader of whether a remembered path was adopted."""

    def read(record: ReplayRecord) -> RecordedDecision[PathAdoption] | None:
        match record.next_event:
            case StepChosen(memory=memory, reason=reason) if memory == proposal.recalled.memory.id:
                return RecordedDecision(PathAdoption(adopted=True, reason=reason))
            case CandidatesConsidered():
                return RecordedDecision(PathAdoption(adopted=False, reason="it was not taken before"))
            case _:
                return None

    return read


def read_arguments(
    question: ArgumentsQuestion, to_subtask_binding: Callable[[Binding], Binding]
) -> DecisionReader[CallArguments]:
    """Return a reader of the arguments of a call that was started.

    ``to_subtask_binding`` translates a recorded origin to the step numbers of the subtask.
    """

    def read(record: ReplayRecord) -> RecordedDecision[CallArguments] | None:
        match record.next_event:
            case CallStarted(tool=tool, arguments=arguments, provenance=origins) if tool == question.tool.id:
                return RecordedDecision(
                    CallArguments(arguments, tuple(to_subtask_binding(origin) for origin in origins))
                )
            case _:
                return None

    return read


# Decisions of the run itself, of its stores and of its user.


def read_program_requested(record: ReplayRecord) -> RecordedDecision[bool] | None:
    """Read whether a program was requested here, whatever came of it.

    The current policy cannot tell: its model may write programs now and not have done so then, or the reverse.
    """
    match list(islice(record.iterate_ahead(), 2)):
        case [] | [CandidatesConsidered()]:
            return None
        case [CandidatesConsidered(), PathEnded(path=())] if record.shown_programs:  # its user refused the program
            return RecordedDecision(value=True)
        case [CandidatesConsidered(), following]:  # tools offered to an author, or the start of a graph search
            return RecordedDecision(isinstance(following, CandidatesConsidered | _PROGRAM_START_EVENTS))
        case [first, *_]:
            return RecordedDecision(isinstance(first, PlanReady | _PROGRAM_START_EVENTS))
        case _:
            return None


def read_recalled_memories(record: ReplayRecord) -> RecordedDecision[MemoryRecalled | None] | None:
    """Read what was recalled from long-term memory; the value is None if nothing was."""
    recalled = next((event for event in record.iterate_asides() if isinstance(event, MemoryRecalled)), None)
    return None if recalled is None and record.next_event is None else RecordedDecision(recalled)


def read_taken_solution(record: ReplayRecord) -> RecordedDecision[SolutionTaken | None] | None:
    """Read the solution that was used unchanged; the value is None if there was none."""
    match record.next_event:
        case None:
            return None
        case SolutionTaken() as taken:
            return RecordedDecision(taken)
        case _:
            return RecordedDecision(None)


def read_chosen_solution(record: ReplayRecord) -> RecordedDecision[SolutionTaken | NoSolution | None] | None:
    """Read which solution was chosen as the model of a program, or that none fits; None if no choice was made."""
    match record.next_event:
        case None:
            return None
        case (SolutionTaken() | NoSolution()) as chosen:
            return RecordedDecision(chosen)
        case _:
            return RecordedDecision(None)


def read_path_reflected(record: ReplayRecord) -> RecordedDecision[bool] | None:
    """Read whether a path that has ended was reflected on."""
    return None if record.next_event is None else RecordedDecision(isinstance(record.next_event, ReflectionMade))


def read_gave_up(record: ReplayRecord) -> RecordedDecision[bool] | None:
    """Read whether the subtask ended without a program, instead of continuing with a path."""
    return None if record.next_event is None else RecordedDecision(isinstance(record.next_event, PathEnded))


def read_shown_program(number: int) -> DecisionReader[Program]:
    """Return a reader of the ``number``-th program (from 0) that was shown to the user, if it has not run yet."""

    def read(record: ReplayRecord) -> RecordedDecision[Program] | None:
        if record.next_event is not None and not isinstance(record.next_event, PathEnded | ProgramFailed):
            return None
        plan = record.shown_programs[number] if number < len(record.shown_programs) else None
        return None if plan is None else RecordedDecision(plan.program)

    return read


def read_draft(record: ReplayRecord) -> RecordedDecision[Program | ProgramRefused | None] | None:
    """Read the next program that was written: one that was run, or one that the checks refused.

    The value is None if none was written.
    """
    match record.next_event:
        case None:
            return None
        case ProgramStarted(program=program):
            return RecordedDecision(program)
        case ProgramRefused() as refused:
            return RecordedDecision(refused)
        case _:
            return RecordedDecision(None)


def read_started_plan(record: ReplayRecord) -> RecordedDecision[ProgramPlan] | None:
    """Read the program that was run next, with the values of its inputs."""
    match record.next_event:
        case ProgramStarted(program=program, values=values):
            return RecordedDecision(ProgramPlan(program=program, values=values))
        case _:
            return None


def read_restarted(record: ReplayRecord) -> RecordedDecision[bool] | None:
    """Read whether the next program started without the variables of earlier cells.

    It did if its sandbox worker was lost, which will not happen again at the same place.
    """
    match record.next_event:
        case ProgramStarted(goes_on=goes_on):
            return RecordedDecision(not goes_on)
        case _:
            return None


def read_repaired(number: int) -> DecisionReader[bool]:
    """Return a reader of whether a program was rewritten after the check of its answer failed."""

    def read(record: ReplayRecord) -> RecordedDecision[bool] | None:
        next_event = record.next_event
        return (
            None
            if next_event is None
            else RecordedDecision(isinstance(next_event, ProgramFailed) and next_event.number == number)
        )

    return read


def read_steps_ended(record: ReplayRecord) -> RecordedDecision[bool] | None:
    """Read whether the calls of a path ended here: what follows is not another call."""
    return None if record.next_event is None else RecordedDecision(not isinstance(record.next_event, CallStarted))
