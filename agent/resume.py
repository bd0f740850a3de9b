"""A run that was broken off goes on from its events: they are lived through again without a word, and nothing is done twice.

The run starts anew, but what its record holds is neither decided nor called again: decisions are read off the next event, calls and
their results are taken as they stand, and no event is told a second time. Where the world has changed meanwhile so that the record
cannot be followed any further, the run goes its own way from there; unless the rest of the record has changed something, which
it could then do again in another way: such a run ends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import TypeGuard

from agent.execution.call_cache import CUT_OFF
from agent.execution.executor import CallResult
from agent.execution.identity import Key, identity_of, key_of
from agent.policy.delegating import Delegating
from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion
from agent.policy.protocol import Arguments, ArgumentsQuestion, Choice, PathQuestion, Policy, Situation, WholePath
from agent.policy.subtasks import DecomposeQuestion, Decomposition, Subtask, begun
from agent.programs.recorded import RecordedProgram
from domain.errors import ConflictError
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    InputNeeded,
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
    ResponseCompressed,
    RunDelayed,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
)
from domain.plan import Binding, StepResult
from domain.program import ProgramPlan
from domain.recalled import MemoryRecalled
from domain.taken import NoSolution, SolutionTaken
from domain.tool import ToolId

_ASIDES = (PolicyFellBack, MemoryRecalled)
"""What may be told or not without the run being another one."""
_BEGUN = SolutionTaken | NoSolution | ProgramRefused | ProgramStarted
"""How serving a request by a program begins."""
_CALLS = (CallStarted, CallFinished, ResponseCompressed, QuestionAnswered)
OfProgram = CallStarted | CallFinished | QuestionAnswered
"""What a program tells while it runs."""


class Past:
    """What a run has told so far, by subtask. Empty for a run that begins. ``unsafe``: tools of its calls that change something."""

    def __init__(self, records: Sequence[EventRecord] = (), unsafe: frozenset[ToolId] = frozenset()) -> None:
        self._records = records
        self._unsafe = unsafe
        self._lines: dict[int, Line] = {}

    @property
    def last(self) -> int:
        """The greatest number of its events."""
        return self._records[-1].seq if self._records else 0

    def of(self, subtask: int) -> "Line":
        """The events of one subtask; 0: of the run as a whole."""
        if subtask not in self._lines:
            mine = [record.event for record in self._records if record.subtask == subtask]
            told = [
                event for event in mine if not isinstance(event, InputNeeded | RunDelayed)
            ]  # who makes the run tells them
            shown = [event.program for event in mine if isinstance(event, InputNeeded) and event.asks == "plan"]
            self._lines[subtask] = Line(told, self._unsafe, shown)
        return self._lines[subtask]

    def subtasks(self) -> tuple[dict[int, Subtask], bool]:
        """Those that were begun, by number, and whether there are no others: an answer is told after all of them."""
        told = [record.event for record in self._records]
        subtasks = {one.subtask: begun(one) for one in told if isinstance(one, SubtaskStarted)}
        return subtasks, any(isinstance(one, AnswerDelta) for one in told)

    def made(self, *, ledger: bool = False) -> dict[Key, CallResult]:
        """The calls that were made, with their results; one that was begun and has no result has an unknown one.

        What programs read is left out: they live through it again one by one (``Line.program``). A safe call without a result is left out: it can be made again. ``ledger``: so are all others; who makes them knows.
        """
        made: dict[Key, CallResult] = {}
        for record in self._records:
            match record.event:
                case CallStarted(tool=tool, arguments=arguments, site=site) if tool in self._unsafe and not ledger:
                    key = key_of(tool, arguments, identity_of(record.subtask, site))
                    made.setdefault(key, CallResult("unknown", "", note=CUT_OFF))
                case CallFinished(result=result, site=site) if result.attempts and not (
                    site and result.tool not in self._unsafe
                ):
                    made[key_of(result.tool, result.wanted, identity_of(record.subtask, site))] = as_called(result)
                case _:
                    continue
        return made

    def changes(self, *, ledger: bool = False) -> int:
        """How many of those calls may have changed something."""
        return sum(tool in self._unsafe for tool, *_ in self.made(ledger=ledger))


def _key(event: CallStarted | CallFinished) -> Key:
    if isinstance(event, CallFinished):
        return key_of(event.result.tool, event.result.wanted, event.site)
    return key_of(event.tool, event.arguments, event.site)


def called(records: Sequence[EventRecord]) -> set[ToolId]:
    """The tools that were called, or were about to be."""
    return {record.event.tool for record in records if isinstance(record.event, CallStarted)}


def as_called(result: StepResult) -> CallResult:
    """A step's result as its call gave it."""
    reached = result.http_status is not None or result.outcome not in ("transient", "gone", "unreached")
    return CallResult(
        result.outcome or "unknown", result.response, result.http_status, result.attempts, result.note, reached=reached,
        instead=result.instead, corrected=None if result.intended is None else result.arguments,
    )  # fmt: skip


class Line:
    """The events that one subtask has told, and how far they have been lived through again. ``shown``: the programs that its user was asked about
    before they were run, in order; None for a plan of steps.
    """

    def __init__(
        self, events: Sequence[Event], unsafe: frozenset[ToolId], shown: Sequence[ProgramPlan | None] = ()
    ) -> None:
        self.shown = shown
        self._events = events
        self._unsafe = unsafe
        self._at = 0
        self._calls: list[OfProgram] | None = None

    @property
    def next(self) -> Event | None:
        """What comes next in the record; None at its end."""
        return next(self._ahead(), None)

    @property
    def asks_for_programs(self) -> bool | None:
        """Whether a program was asked for at this point, whatever came of it; None where the record does not go so far."""
        match list(islice(self._ahead(), 2)):
            case [] | [CandidatesConsidered()]:
                return None
            case [CandidatesConsidered(), PathEnded(path=())] if self.shown:  # a program, which was not allowed
                return True
            case [CandidatesConsidered(), following]:  # an offer, not where a walk begins
                return isinstance(following, CandidatesConsidered | _BEGUN)
            case [first, *_]:
                return isinstance(first, PlanReady | _BEGUN)
            case _:
                return None

    @property
    def by_steps(self) -> bool:
        """Whether calls come next that were made step by step."""
        told = self.next
        return isinstance(told, CallStarted | CallFinished) and not told.site

    @property
    def recalled(self) -> MemoryRecalled | None:
        """What memory told at this point of the record; None where nothing is told of it."""
        asides = takewhile(lambda event: isinstance(event, _ASIDES), self._events[self._at :])
        return next((event for event in asides if isinstance(event, MemoryRecalled)), None)

    def _ahead(self) -> Iterator[Event]:
        return (event for event in self._events[self._at :] if not isinstance(event, _ASIDES))

    def answered(self, question: str) -> QuestionAnswered | None:
        """What became of a question that no program asks, where it comes next; or anywhere among what a program tells that has begun."""
        near = (*(self._calls or ()), self.next)
        asked = (one for one in near if isinstance(one, QuestionAnswered) and not one.site)
        return next((one for one in asked if one.question == question), None)

    def whole_path(self) -> tuple[tuple[ToolId, ...], str] | None:
        """The steps that come next, where the record goes on to the end of their path, and what that leaves undone."""
        ahead = list(self._ahead())
        chosen = takewhile(lambda event: isinstance(event, StepChosen), ahead)
        steps = [event.tool for event in chosen if isinstance(event, StepChosen)]
        end = ahead[len(steps)] if len(ahead) > len(steps) else None
        return (tuple(steps), end.unserved) if isinstance(end, PathEnded) else None

    def calls(self) -> list[Event]:
        """The calls that come next in the record, up to the last that has ended."""
        ahead = list(takewhile(lambda event: isinstance(event, _CALLS), self._ahead()))
        while ahead and isinstance(ahead[-1], CallStarted | QuestionAnswered):
            ahead.pop()
        return ahead

    def program(self, number: int) -> RecordedProgram:
        """What the record has of the calls of a program, whose beginning was told; nothing where it was not."""
        mine = [one for one in self._calls or () if one.site.startswith(f"{number}:")]
        failed = self.next
        return RecordedProgram(
            {_key(one): one.step for one in mine if not isinstance(one, QuestionAnswered)},
            {_key(one): one for one in mine if isinstance(one, CallFinished)},
            {one.site: one for one in mine if isinstance(one, QuestionAnswered)},
            failed if isinstance(failed, ProgramFailed) and failed.number == number else None,
        )

    def told(self, event: Event) -> bool:
        """Whether an event was told before; then the record is gone on with. Calls of a program may have been told in another order.

        Raises ``ConflictError`` where it is another than the record has, and the rest of the record may have changed something.
        """
        if isinstance(event, _ASIDES):
            asides = takewhile(lambda one: isinstance(one, _ASIDES), self._events[self._at :])
            return any(type(one) is type(event) for one in asides)
        if self._calls is not None and _within_program(event):
            same = next((one for one in self._calls if _same(one, event)), None)
            if same is not None:
                self._calls.remove(same)
                return True
            if self.next is None:
                return False
        while self._at < len(self._events) and isinstance(self._events[self._at], _ASIDES):
            self._at += 1
        left = [one for one in self._calls or () if isinstance(one, CallStarted) and one.tool in self._unsafe]
        if self._at < len(self._events) and not left and _same(self._events[self._at], event):
            self._at += 1
            self._calls = self._calls_here() if isinstance(event, ProgramStarted) else None
            return True
        rest, self._at = [*left, *self._events[self._at :]], len(self._events)
        self._calls = None
        if any(isinstance(one, CallStarted) and one.tool in self._unsafe for one in rest):
            raise ConflictError(
                "the run was broken off and cannot go on as it began, since the tools have changed meanwhile; it had made "
                "calls that change something, so it was not begun anew: look at its calls, then ask for what is left to do"
            )
        return False

    def _calls_here(self) -> list[OfProgram]:
        """The calls of the program that has begun here, taken out of the record."""
        calls: list[OfProgram] = []
        while self._at < len(self._events):
            event = self._events[self._at]
            if _within_program(event):
                calls.append(event)
            elif not isinstance(event, _ASIDES):
                break
            self._at += 1
        return calls


def _within_program(event: Event) -> TypeGuard[OfProgram]:
    """Whether a program tells it while it runs: its calls, and what its user is asked meanwhile, of which an open value has no site."""
    return isinstance(event, OfProgram) and (bool(event.site) or isinstance(event, QuestionAnswered))


def _same(recorded: Event, event: Event) -> bool:
    """Whether both tell the same, as far as the course of the run goes."""
    if type(recorded) is not type(event):
        return False
    return _course(recorded) == _course(event)


def _course(event: Event) -> object:
    match event:
        case SubtaskStarted():
            return event.description
        case CandidatesConsidered() | StepChosen():
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
        case NoSolution():
            return event.path
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


class SplittingAsBefore(Delegating):
    """A request is split so that the subtasks that were begun stand. ``all_begun``: there are no others."""

    def __init__(self, policy: Policy, begun: Mapping[int, Subtask], all_begun: bool) -> None:
        super().__init__(policy)
        self._begun = begun
        self._all_begun = all_begun

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._all_begun:
            return Decomposition(tuple(self._begun[number] for number in sorted(self._begun)), "as before")
        made = await self.pass_on(question)
        subtasks = {one.number: one for one in made.subtasks} | dict(self._begun)
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), made.reason)


class DecidingAsBefore(Delegating):
    """Each decision is read off the event that comes next in the record of a subtask, where it tells of that decision. Programs are
    taken from there by who runs them.

    ``own``: an origin as the record tells it, in the subtask's own count of steps.
    """

    def __init__(self, policy: Policy, line: Line, own: Callable[[Binding], Binding] = lambda told: told) -> None:
        super().__init__(policy)
        self._line = line
        self._own = own

    @property
    def writes(self) -> bool:
        """As before: a model that could not write then may do so now, and the other way round."""
        before = self._line.asks_for_programs
        return self._policy.writes if before is None else before

    async def choose(self, situation: Situation) -> Choice:
        match self._line.next:
            case StepChosen(tool=tool, reason=reason, memory=memory):
                offered = [candidate.tool.id for candidate in situation.candidates]
                if tool in offered:
                    return Choice("advance", reason, offered.index(tool), memory)
            case StepBacktracked(phase="plan", reason=reason):
                return Choice("backtrack", reason)
            case PathEnded(how="finished", reason=reason, unserved=unserved):
                return Choice("finish", reason, unserved=unserved)
            case (
                _
            ):  # a walk that has ended without a path may have done so because nothing was left to do: the policy knows
                pass
        return await self.pass_on(situation)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        steps, unserved = self._line.whole_path() or ((), "")
        offered = [candidate.tool.id for candidate in question.candidates]
        if steps and all(tool in offered for tool in steps) and isinstance(first := self._line.next, StepChosen):
            return WholePath(tuple(offered.index(tool) for tool in steps), first.reason, unserved)
        return await self.pass_on(question)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        match self._line.next:
            case ReflectionMade(verdict=verdict, reason=reason, first_wrong=first_wrong, noisy=noisy):
                return Reflection(verdict, reason, first_wrong, noisy)
            case _:
                return await self.pass_on(question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        match self._line.next:
            case StepChosen(memory=memory, reason=reason) if memory == proposal.recalled.memory.id:
                return Adoption(adopted=True, reason=reason)
            case CandidatesConsidered():
                return Adoption(adopted=False, reason="it was not taken before")
            case _:
                return await self.pass_on(proposal)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        match self._line.next:
            case CallStarted(tool=tool, arguments=arguments, provenance=provenance) if tool == question.tool.id:
                return Arguments(arguments, tuple(self._own(one) for one in provenance))
            case _:
                return await self.pass_on(question)
