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
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
)
from domain.learning_events import MemoryRecalled, NoSolution, SolutionTaken
from domain.program import ProgramPlan
from domain.tool import ToolId

_ASIDES = (PolicyFellBack, MemoryRecalled)
"""Events whose presence or absence does not change the course of a run; they are skipped where others are compared."""
ProgramCall = CallStarted | CallFinished | QuestionAnswered
"""Events that a running program emits."""


class ReplayRecord:
    """Events of one subtask from before the interruption, and how far they have been replayed.

    Only the modules ``agent/resume*`` read recorded events; all others ask :class:`agent.resume.SubtaskMemo`.
    """

    def __init__(
        self, events: Sequence[Event], unsafe: frozenset[ToolId], shown: Sequence[ProgramPlan | None] = ()
    ) -> None:
        """Start at the first event.

        Args:
            events: the recorded events of the subtask, in order.
            unsafe: called tools that may change something.
            shown: programs that the user was asked about before they ran, in order; None for a plan of steps.
        """
        self.shown_programs = shown
        """Programs that the user was asked about before they ran, in order; None for a plan of steps."""
        self.running: list[ProgramCall] | None = None
        """Calls and questions of the running program that have not been replayed yet; None while none runs."""
        self._events = events
        self._unsafe = unsafe
        self._at = 0

    @property
    def next(self) -> Event | None:
        """The next event that is not an aside; None at the end of the record."""
        return next(self.iter_ahead(), None)

    def iter_ahead(self) -> Iterator[Event]:
        """Iterate over the events from here on, without asides."""
        return (event for event in islice(self._events, self._at, None) if not isinstance(event, _ASIDES))

    def iter_asides(self) -> Iterator[Event]:
        """Iterate over the asides before the next event."""
        return takewhile(lambda event: isinstance(event, _ASIDES), islice(self._events, self._at, None))

    def replay_event(self, event: Event) -> bool:
        """Return whether an event is recorded here, and advance past it.

        The concurrent calls of a program may be replayed in another order than they were recorded.

        Raises:
            ConflictError: the event differs from the record, and the rest of the record may have changed something.
        """
        if isinstance(event, _ASIDES):
            return any(type(aside) is type(event) for aside in self.iter_asides())
        if self.running is not None and _is_of_program(event):
            same = next((one for one in self.running if is_same_event(one, event)), None)
            if same is not None:
                self.running.remove(same)
                return True
            if self.next is None:
                return False
        while self._at < len(self._events) and isinstance(self._events[self._at], _ASIDES):
            self._at += 1
        # A change of the running program that was not repeated may not be skipped: the log then no longer fits.
        unreplayed = [one for one in self.running or () if isinstance(one, CallStarted) and one.tool in self._unsafe]
        if self._at < len(self._events) and not unreplayed and is_same_event(self._events[self._at], event):
            self._at += 1
            self.running = self._take_calls() if isinstance(event, ProgramStarted) else None
            return True
        # The run differs from its log: forget the rest, unless a change in it could be made a second time.
        rest, self._at = [*unreplayed, *self._events[self._at :]], len(self._events)
        self.running = None
        if any(isinstance(one, CallStarted) and one.tool in self._unsafe for one in rest):
            raise ConflictError(
                "the run was broken off and cannot go on as it began, since the tools have changed meanwhile; it had made "
                "calls that change something, so it was not begun anew: look at its calls, then ask for what is left to do"
            )
        return False

    def _take_calls(self) -> list[ProgramCall]:
        """Advance past the events of the program that starts here, and return them."""
        calls: list[ProgramCall] = []
        while self._at < len(self._events):
            event = self._events[self._at]
            if _is_of_program(event):
                calls.append(event)
            elif not isinstance(event, _ASIDES):
                break
            self._at += 1
        return calls


def _is_of_program(event: Event) -> TypeGuard[ProgramCall]:
    """Return whether an event is one of a running program: a call with a site, or a question to the user.

    A question about a value that a plan leaves open has no site, although the program of the plan waits for it.
    """
    return isinstance(event, ProgramCall) and (bool(event.site) or isinstance(event, QuestionAnswered))


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
