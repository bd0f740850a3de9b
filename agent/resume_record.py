"""The events of one part of a run, gone through again: which comes next, and whether an event tells the same as a recorded one."""

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
from domain.program import ProgramPlan
from domain.recalled import MemoryRecalled
from domain.taken import NoSolution, SolutionTaken
from domain.tool import ToolId

_ASIDES = (PolicyFellBack, MemoryRecalled)
"""Events that may be there or not without the run being another one."""
ProgramCall = CallStarted | CallFinished | QuestionAnswered
"""Events of a program while it runs."""


class Record:
    """What one subtask told before the run was broken off, and how far that has been replayed.

    Only the modules ``agent/resume*`` look at recorded events; all others ask :class:`agent.resume.Memo`.
    """

    def __init__(
        self, events: Sequence[Event], unsafe: frozenset[ToolId], shown: Sequence[ProgramPlan | None] = ()
    ) -> None:
        """``unsafe``: tools that may change something. ``shown``: as the attribute."""
        self.shown = shown
        """The programs that the user was asked about before they ran, in order; None for a plan of steps."""
        self.running: list[ProgramCall] | None = None
        """The calls and questions of the program that has begun, as far as they have not been replayed; None while none runs."""
        self._events = events
        self._unsafe = unsafe
        self._at = 0

    @property
    def next(self) -> Event | None:
        """The event that comes next; None at the end of the record."""
        return next(self.ahead(), None)

    def ahead(self) -> Iterator[Event]:
        """The events from here on, without asides."""
        return (event for event in islice(self._events, self._at, None) if not isinstance(event, _ASIDES))

    def asides(self) -> Iterator[Event]:
        """The asides that come before the next event."""
        return takewhile(lambda event: isinstance(event, _ASIDES), islice(self._events, self._at, None))

    def replays(self, event: Event) -> bool:
        """Return whether an event was told before, and go on behind it. Calls of a program may have been told in another order.

        Raises:
            ConflictError: it is another than the record has, and the rest of the record may have changed something.
        """
        if isinstance(event, _ASIDES):
            return any(type(aside) is type(event) for aside in self.asides())
        if self.running is not None and _is_of_program(event):
            same = next((one for one in self.running if tells_same(one, event)), None)
            if same is not None:
                self.running.remove(same)
                return True
            if self.next is None:
                return False
        while self._at < len(self._events) and isinstance(self._events[self._at], _ASIDES):
            self._at += 1
        left = [one for one in self.running or () if isinstance(one, CallStarted) and one.tool in self._unsafe]
        if self._at < len(self._events) and not left and tells_same(self._events[self._at], event):
            self._at += 1
            self.running = self._take_calls() if isinstance(event, ProgramStarted) else None
            return True
        rest, self._at = [*left, *self._events[self._at :]], len(self._events)
        self.running = None
        if any(isinstance(one, CallStarted) and one.tool in self._unsafe for one in rest):
            raise ConflictError(
                "the run was broken off and cannot go on as it began, since the tools have changed meanwhile; it had made "
                "calls that change something, so it was not begun anew: look at its calls, then ask for what is left to do"
            )
        return False

    def _take_calls(self) -> list[ProgramCall]:
        """Take the calls of the program that has begun here out of the record."""
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
    """Return whether a program tells it while it runs: its calls, and what its user is asked meanwhile, of which an open value has no site."""
    return isinstance(event, ProgramCall) and (bool(event.site) or isinstance(event, QuestionAnswered))


def tells_same(recorded: Event, event: Event) -> bool:
    """Return whether both tell the same, as far as the course of the run goes."""
    return type(recorded) is type(event) and _course(recorded) == _course(event)


def _course(event: Event) -> object:
    """What of an event decides how the run goes on."""
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
            return _course_of_program(event)


def _course_of_program(event: Event) -> object:
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
