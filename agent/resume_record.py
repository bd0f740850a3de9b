"""The recorded events of one subtask, with the position of the replay, and the comparison of new events with them."""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import TypeGuard

from domain.errors import ConflictError
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    MemoryRecalled,
    NoSolution,
    PathEnded,
    PlanReady,
    PolicyFellBack,
    ProgramEnded,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    ReflectionMade,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
)
from domain.program import ProgramPlan
from domain.tool import ToolId

_ASIDES = (PolicyFellBack, MemoryRecalled)
"""Events whose presence or absence does not change the course of a run; they are skipped where others are compared."""
ProgramCallEvent = CallStarted | CallFinished | QuestionAnswered
"""Events that a running program emits."""


class ReplayRecord:
    """Events of one subtask from before the interruption, and how far they have been replayed.

    Only the modules ``agent/resume*`` read recorded events; all others ask :class:`agent.resume.SubtaskMemo`.
    """

    def __init__(
        self, events: Sequence[Event], unsafe: frozenset[ToolId], shown_programs: Sequence[ProgramPlan | None] = ()
    ) -> None:
        """Start at the first event.

        Args:
            events: the recorded events of the subtask, in order.
            unsafe: called tools that may change something.
            shown_programs: programs that the user was asked about before they ran, in order; None for a plan of steps.
        """
        self.shown_programs = shown_programs
        """Programs that the user was asked about before they ran, in order; None for a plan of steps."""
        self.pending_program_events: list[ProgramCallEvent] | None = None
        """Calls and questions of the running program that have not been replayed yet; None while none runs."""
        self._events = events
        self._unsafe = unsafe
        self._position = 0

    @property
    def next_event(self) -> Event | None:
        """The next event that is not an aside; None at the end of the record."""
        return next(self.iterate_ahead(), None)

    def iterate_ahead(self) -> Iterator[Event]:
        """Iterate over the events from here on, without asides."""
        return (event for event in islice(self._events, self._position, None) if not isinstance(event, _ASIDES))

    def iterate_asides(self) -> Iterator[Event]:
        """Iterate over the asides before the next event."""
        return takewhile(lambda event: isinstance(event, _ASIDES), islice(self._events, self._position, None))

    def replay_event(self, event: Event) -> bool:
        """Return whether an event is recorded here, and advance past it.

        The concurrent calls of a program may be replayed in another order than they were recorded.

        Raises:
            ConflictError: the event differs from the record, and the rest of the record may have changed something.
        """
        if isinstance(event, _ASIDES):
            return any(type(aside) is type(event) for aside in self.iterate_asides())
        if self.pending_program_events is not None and _is_program_call_event(event):
            recorded = next(
                (candidate for candidate in self.pending_program_events if is_same_event(candidate, event)), None
            )
            if recorded is not None:
                self.pending_program_events.remove(recorded)
                return True
            if self.next_event is None:
                return False
        while self._position < len(self._events) and isinstance(self._events[self._position], _ASIDES):
            self._position += 1
        # A change of the running program that was not repeated may not be skipped: the log then no longer fits.
        unreplayed = [
            candidate
            for candidate in self.pending_program_events or ()
            if isinstance(candidate, CallStarted) and candidate.tool in self._unsafe
        ]
        if self._position < len(self._events) and not unreplayed and is_same_event(self._events[self._position], event):
            self._position += 1
            self.pending_program_events = self._take_program_events() if isinstance(event, ProgramStarted) else None
            return True
        # The run differs from its log: forget the rest, unless a change in it could be made a second time.
        rest, self._position = [*unreplayed, *self._events[self._position :]], len(self._events)
        self.pending_program_events = None
        if any(isinstance(candidate, CallStarted) and candidate.tool in self._unsafe for candidate in rest):
            raise ConflictError(
                "the run was broken off and cannot go on as it began, since the tools have changed meanwhile; it had made "
                "calls that change something, so it was not begun anew: look at its calls, then ask for what is left to do"
            )
        return False

    def _take_program_events(self) -> list[ProgramCallEvent]:
        """Advance past the events of the program that starts here, and return them."""
        calls: list[ProgramCallEvent] = []
        while self._position < len(self._events):
            event = self._events[self._position]
            if _is_program_call_event(event):
                calls.append(event)
            elif not isinstance(event, _ASIDES):
                break
            self._position += 1
        return calls


def _is_program_call_event(event: Event) -> TypeGuard[ProgramCallEvent]:
    """Return whether an event is one of a running program: a call with a site, or a question to the user.

    A question about a value that a plan leaves open has no site, although the program of the plan waits for it.
    """
    return isinstance(event, ProgramCallEvent) and (bool(event.site) or isinstance(event, QuestionAnswered))


def is_same_event(recorded: Event, event: Event) -> bool:
    """Return whether two events are equal as far as the course of the run depends on them."""
    return type(recorded) is type(event) and _build_course_key(recorded) == _build_course_key(event)


def _build_course_key(event: Event) -> object:
    """Return the parts of an event on which the course of the run depends."""
    match event:
        case SubtaskStarted():
            return event.description
        case CandidatesConsidered() | StepChosen() | NoSolution():
            return event.path
        case PathEnded():
            return (event.path, event.how)
        case StepBacktracked():
            return (event.dropped, event.path, event.phase)
        case ReflectionMade():
            return (event.verdict, event.path, event.resumed)
        case PlanReady():
            return event.plan.path
        case CallStarted():
            return (event.step, event.tool, event.arguments, event.site)
        case CallFinished():
            return (event.step, event.result.tool, event.site)
        case QuestionAnswered():
            return (event.question, event.site)
        case AnswerDelta():
            return event.text
        case _:
            return _build_program_course_key(event)


def _build_program_course_key(event: Event) -> object:
    """Return the parts of an event of a program on which the course of the run depends."""
    match event:
        case SolutionTaken():
            return event.solution
        case ProgramRefused():
            return event.text
        case ProgramStarted():
            return (event.number, event.program.text)
        case ProgramLooked() | ProgramEnded():
            return event.number
        case ProgramFailed():
            return (event.number, event.final)
        case _:
            return None
