"""The state of a run that its events add up to: pure, the same for a live run, one of long ago and a replay."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from domain.call_counter import CallCounter
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    MemoryRecalled,
    NoSolution,
    PathEnded,
    PlanReady,
    PolicyFellBack,
    ProgramEvent,
    QuestionAnswered,
    ReflectionMade,
    ResponseCompressed,
    RunDelayed,
    RunFinished,
    RunStarted,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
)
from domain.given_file import FileNote
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolId
from domain.usage import Usage
from ui.calls import Call
from ui.language import message, say
from ui.program_state import RunPrograms
from ui.stream import LAST, Told
from ui.taken_words import taken_told

Place = tuple[int, tuple[ToolId, ...]]
"""A node of the walk: the subtask's number and the path to it."""
_STRANGE_END = RunFinished(
    outcome="failed",
    answer="",
    usage=Usage(),
    error=message("It has ended; how, this page cannot read: is it of the server's version?"),
)
_KEY_NEEDED = re.compile(r"\ba key is needed\b")
Refused = Literal["call", "plan"]
NodeState = Literal["considered", "chosen", "backtracked"]


@dataclass
class Node:
    """A tool at a place of the walk. ``reason``: why it was chosen, or left."""

    tool: ToolId
    state: NodeState = "considered"
    weight: float | None = None
    relevance: float | None = None
    reason: str = ""


class Origin(BaseModel):
    """Where an argument really comes from, in words."""

    parameter: str
    words: str


class AskedCall(BaseModel):
    """One of several calls that one answer is about."""

    arguments: JsonObject = Field(default_factory=dict)
    origins: list[Origin] = Field(default_factory=list[Origin])
    summary: str = ""


class Question(BaseModel):
    """What a run waits for its user to say. ``input``: the id by which it is answered; ``reason``: the question; ``host``: where the call goes.
    ``summary``: what will happen, in words; ``undo``: whether that can be taken back. ``calls``: all that the answer is about, where they are several. ``choices``: answers to a question
    that it proposes.
    """

    input: str
    asks: str = "call"
    tool: ToolId = ToolId("")
    arguments: JsonObject = Field(default_factory=dict)
    reason: str = ""
    summary: str = ""
    undo: str = ""
    host: str = ""
    origins: list[Origin] = Field(default_factory=list[Origin])
    calls: list[AskedCall] = Field(default_factory=list[AskedCall])
    choices: list[str] = Field(default_factory=list[str])

    @property
    def together(self) -> list[AskedCall]:
        """The calls that the answer is about."""
        return self.calls or [AskedCall(arguments=self.arguments, origins=self.origins, summary=self.summary)]


class _Asking(BaseModel):
    at: datetime | None = None
    event: Question


@dataclass(frozen=True)
class ReadEvent:
    """An event as it was read. ``event`` None: it is of a kind that is not known here, or is no event."""

    seq: int
    kind: str
    event: Event | Question | None = None
    subtask: int = 0
    at: datetime | None = None


def read_event(told: Told) -> ReadEvent:
    """What an event tells; a question in the form in which the page asks it."""
    try:
        if told.kind == "input.needed":
            asked = _Asking.model_validate_json(told.text)
            return ReadEvent(told.seq, told.kind, asked.event, at=asked.at)
        record = EventRecord.model_validate_json(told.text)
    except ValidationError:
        return ReadEvent(told.seq, told.kind)
    return ReadEvent(told.seq, told.kind, record.event, record.subtask, record.at)


@dataclass
class RunState:
    """All that is shown of a run. ``seq``: of the last event in it; ``questions``: all that were asked, while it goes on; ``asked``: the same, to
    its end and after; ``dialogue``: what the request left open, with what was answered; ``made``: how often it really called something; ``files``: given with the request; ``skipped``: events of a kind not known here.
    """

    seq: int = 0
    subtasks: dict[int, SubtaskStarted] = field(default_factory=dict[int, SubtaskStarted])
    nodes: dict[Place, Node] = field(default_factory=dict[Place, Node])
    ends: dict[Place, PathEnded] = field(default_factory=dict[Place, PathEnded])
    programs: RunPrograms = field(default_factory=RunPrograms)
    calls: list[Call] = field(default_factory=list[Call])
    made: CallCounter = field(default_factory=CallCounter)
    plans: dict[int, tuple[ToolId, ...]] = field(default_factory=dict[int, tuple[ToolId, ...]])
    questions: dict[str, Question] = field(default_factory=dict[str, Question])
    asked: list[Question] = field(default_factory=list[Question])
    dialogue: list[QuestionAnswered] = field(default_factory=list[QuestionAnswered])
    notes: list[str] = field(default_factory=list[str])
    taken: SolutionTaken | None = None
    request: str = ""
    files: tuple[FileNote, ...] = ()
    planner: str = ""
    answer: str = ""
    finished: RunFinished | None = None
    skipped: int = 0
    _steps: dict[tuple[int, int], list[Call]] = field(default_factory=dict[tuple[int, int], list[Call]])

    @property
    def lacks_a_key(self) -> bool:
        """Whether a call was not made for want of a key of its user."""
        return any(call.result and _KEY_NEEDED.search(call.result.note) for call in self.calls)

    @property
    def by_program(self) -> bool:
        """Whether a program was written for it; it also has none where it was never walked."""
        return not self.nodes or any(one.text for one in self.programs.texts)

    @property
    def refused(self) -> Refused | None:
        """What kept it from its end: that a call, or its plan, was not allowed."""
        if self.finished is None or self.finished.outcome != "gave_up":
            return None
        if any(call.not_made for call in self.calls):
            return "call"
        return "plan" if not self.calls and any(one.asks == "plan" for one in self.asked) else None

    def add(self, told: Told) -> None:
        """Take in an event. One that cannot be read, or was taken in before, changes nothing else."""
        if told.seq > self.seq:
            self.take(read_event(told))

    def take(self, read: ReadEvent) -> None:
        """The same of one that was read."""
        self.seq = read.seq
        match read.event:
            case None:
                self.skipped += 1
                if read.kind == LAST:
                    self.finished = _STRANGE_END
            case Question():
                self.questions[read.event.input] = read.event
                self.asked.append(read.event)
            case _:
                assert read.at is not None  # noqa: S101  # what could be read has a time
                self._take(read.event, read.subtask, read.at)

    def _take(self, event: Event, subtask: int, at: datetime) -> None:
        self.made.count_event(event, subtask)
        match event:
            case RunStarted():
                self.request, self.planner, self.files = event.request, event.planner, event.files
            case SubtaskStarted():
                self.subtasks[event.subtask] = event
            case CallStarted():
                made = Call(subtask, event.step, event.tool, event.arguments, event.provenance, site=event.site)
                self._call(made, at)
            case CallFinished():
                self._result(event, subtask, at)
            case QuestionAnswered():
                self.dialogue.append(event)
            case AnswerDelta():
                self.answer += event.text
            case RunFinished():
                self.questions.clear()
                for call in self.calls:
                    if call.result is None:
                        call.unanswered = message("its answer did not come before the run ended")
                        self._ended(call, _left(call, message("The run ended before its answer came.")), at)
                self.finished, self.answer = event, event.answer
            case _:
                self._walk(event, subtask)

    def _walk(self, event: Event, subtask: int) -> None:
        match event:
            case CandidatesConsidered():
                for one in event.candidates:
                    node = self._node(subtask, (*event.path, one.tool))
                    node.weight, node.relevance = one.weight, one.relevance
            case StepChosen():
                node = self._node(subtask, event.path)
                node.state, node.reason = "chosen", event.reason
            case StepBacktracked():
                node = self._node(subtask, (*event.path, event.dropped))
                node.state, node.reason = "backtracked", event.reason
            case PathEnded():
                self.ends[subtask, event.path] = event
            case PlanReady():
                self.plans[subtask] = event.plan.path
                for length in range(1, len(event.plan.path) + 1):
                    self._node(subtask, event.plan.path[:length]).state = "chosen"
            case _ if isinstance(event, ProgramEvent):
                self.programs.add(event, subtask)
            case ResponseCompressed():
                for call in self._steps.get((subtask, event.step), [])[-1:]:
                    call.compressed = event
            case _:
                self._note(event)

    def _note(self, event: Event) -> None:
        match event:
            case MemoryRecalled(note=note) if note:
                self.notes.append(note)
            case SolutionTaken() | NoSolution():
                self.notes.append(taken_told(event))
                self.taken = event if isinstance(event, SolutionTaken) and event.how != "chosen" else self.taken
            case ReflectionMade(resumed=True):
                self.notes.append(
                    say(
                        "Judged its path a failure ({verdict}) and searched again: {reason}",
                        verdict=event.verdict,
                        reason=event.reason,
                    )
                )
            case RunDelayed():
                self.notes.append(event.reason)
            case PolicyFellBack():
                self.notes.append(say("Went on with {policy}: {reason}", policy=event.to, reason=event.reason))
            case _:
                return

    def _node(self, subtask: int, path: tuple[ToolId, ...]) -> Node:
        return self.nodes.setdefault((subtask, path), Node(path[-1]))

    def _call(self, call: Call, at: datetime) -> None:
        self.calls.append(call)
        call.number = len(self.calls)
        self._steps.setdefault((call.subtask, call.step), []).append(call)
        if making := self.programs.making(call):
            making.begun(call, at)

    def _ended(self, call: Call, result: StepResult, at: datetime) -> None:
        call.result = result
        if making := self.programs.making(call):
            making.finished(call, at)

    def _result(self, event: CallFinished, subtask: int, at: datetime) -> None:
        """Into the call that it ends; one that was never made (a missing argument) is told by its result alone.

        A step may be called several times with other values, and has one result: that of the call that it tells of.
        """
        told = event.result
        tried = [one for one in self._steps.get((subtask, event.step), ()) if one.result is None]
        if tried:
            own = next((one for one in reversed(tried) if one.arguments == told.requested_arguments), tried[-1])
            if told.intended is not None:  # its user corrected it
                own.arguments, own.provenance = told.arguments, told.provenance
            for call in tried:
                call.unanswered = "" if call is own else message("made again with other values")
                self._ended(
                    call, told if call is own else _left(call, message("It was made again with other values.")), at
                )
            return
        never_made = Call(subtask, event.step, told.tool, told.arguments, told.provenance, site=event.site, begun=False)
        self._call(never_made, at)
        self._ended(never_made, told, at)


def given_values(story: RunState) -> list[str]:
    """``name: value`` of all that was fixed before the run: its request may still name others."""
    given = [
        f"{one.parameter}: {call.arguments[one.parameter]}"
        for call in story.calls
        for one in call.provenance
        if one.origin == "user" and one.parameter in call.arguments
    ]
    return list(dict.fromkeys(given))


def run_state(events: Iterable[Told]) -> RunState:
    """The story that these events tell, in the order of their numbers."""
    story = RunState()
    for told in events:
        story.add(told)
    return story


def _left(call: Call, note: str) -> StepResult:
    """What is told of a call whose own result was not."""
    return StepResult(tool=call.tool, arguments=call.arguments, status="unknown", attempts=1, note=note)
