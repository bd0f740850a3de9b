"""What an event of a run is, in a line. Names in it are strangers': who shows it escapes them."""

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
    ResponseCompressed,
    RunDelayed,
    RunFinished,
    RunStarted,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
    WeightsLearned,
)
from ui.language import say, say_count
from ui.run_state import Question, ReadEvent
from ui.run_summary import OUTCOMES
from ui.walk_graph import tool_name


def event_told(read: ReadEvent) -> str:
    """One of a kind that is not known here is told by the name of its kind."""
    match read.event:
        case None:
            return read.kind
        case Question():
            return say("Asked its user")
        case ProgramRefused() | ProgramStarted() | ProgramLooked() | ProgramFailed() | ProgramEnded():
            return _of_program(read.event)
        case _:
            return _of_calls(read.event) or _of_walk(read.event) or read.kind


def _of_program(event: ProgramRefused | ProgramStarted | ProgramLooked | ProgramFailed | ProgramEnded) -> str:
    match event:
        case ProgramRefused():
            return say("A program was refused before it ran") if event.text else say("No program was written")
        case ProgramStarted():
            return say("Program {number} began", number=event.number)
        case ProgramLooked():
            return say("Program {number} stopped to look", number=event.number)
        case ProgramFailed():
            return say("Program {number} broke off", number=event.number)
        case ProgramEnded():
            return say("Program {number} came to its end", number=event.number)


def _of_calls(event: Event) -> str:
    match event:
        case CallStarted():
            return say("Called {tool}", tool=tool_name(event.tool))
        case CallFinished():
            return say("{tool} has ended: {status}", tool=tool_name(event.result.tool), status=event.result.status)
        case ResponseCompressed():
            return say("Made the answer of {tool} shorter for a model", tool=tool_name(event.tool))
        case QuestionAnswered():
            return say("Its user was asked what the request leaves open")
        case AnswerDelta():
            return say("Said a piece of the answer")
        case RunFinished():
            return say("The run has ended: {outcome}", outcome=say(OUTCOMES[event.outcome]))
        case RunDelayed():
            return say("The run was put off")
        case _:
            return ""


def _of_walk(event: Event) -> str:
    match event:
        case RunStarted():
            return say("The run began")
        case SubtaskStarted():
            return say("A part of the request was begun: {part}", part=event.name or event.description)
        case CandidatesConsidered():
            return say_count("1 tool was considered", "{count:,} tools were considered", len(event.candidates))
        case StepChosen():
            return say("Chose {tool}", tool=tool_name(event.tool))
        case StepBacktracked():
            return say("Left {tool} again", tool=tool_name(event.dropped))
        case PathEnded():
            return say("The path search has ended")
        case PlanReady():
            return say("The plan is there")
        case _:
            return _of_memory(event)


def _of_memory(event: Event) -> str:
    match event:
        case MemoryRecalled():
            return say("Looked for requests like it")
        case SolutionTaken() | NoSolution():
            return say("Looked for a solution")
        case ReflectionMade():
            return say("Judged its path")
        case PolicyFellBack():
            return say("Went on by other means")
        case WeightsLearned(deferred="waiting"):
            return say("Learns from what happened when the store is back")
        case WeightsLearned():
            return say("Learnt from what happened")
        case _:
            return ""
