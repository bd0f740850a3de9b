"""The events of a run, as one discriminated union.

They are what the page, the history of runs, evaluation and learning know of a run.
"""

import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from domain.given_file import FileNote
from domain.model import JsonObject, Model
from domain.plan import Binding, Plan, PlanDocument, StepResult
from domain.program import Answered, Program, ProgramPlan
from domain.provenance import AskedCall, ValueOrigin
from domain.tool import ToolId
from domain.usage import Usage


class RecalledPath(Model):
    """A request that was served before, with its path."""

    id: str = ""
    """Id of the memory."""
    request: str
    path: tuple[ToolId, ...]
    similarity: float
    """Cosine similarity to this request, both with their values left out."""
    good: int = 0
    """How often the path had served a later request when it was recalled."""
    bad: int = 0
    """How often the path had failed a later request when it was recalled."""


class MemoryRecalled(Model):
    """Memories of requests like this one, the most similar first."""

    kind: Literal["memory.recalled"] = "memory.recalled"
    memories: tuple[RecalledPath, ...]
    note: str = ""
    """Why the memory could not be searched."""


class SolutionTaken(Model):
    """A solution was selected for a request."""

    kind: Literal["solution.taken"] = "solution.taken"
    solution: str
    """Its id."""
    pattern: str
    """The pattern that matched, with inputs in braces."""
    likeness: float = 0.0
    """Similarity of the request to the pattern."""
    values: JsonObject = Field(default_factory=dict)
    """Values of its inputs."""
    how: Literal["plain", "asked", "chosen"]
    """``plain``: the values are plain in the request; ``asked``: a model was asked for them.

    ``chosen``: a model chose the solution and writes a program of its own after it.
    """
    reason: str = ""
    """In the model's words."""
    wordings: tuple[str, ...] = ()
    """Further patterns with the same meaning, according to the model."""


class NoSolution(Model):
    """Solutions were available to choose from, and none was chosen."""

    kind: Literal["solution.none"] = "solution.none"
    shown: int
    """Number of solutions; 0 if none could be chosen, so a program is written as without a library."""
    path: tuple[str, ...] = ()
    """Functions to call instead, in order, as far as they were named."""
    reason: str = ""
    """In words that may be shown to anyone."""


def describe_selection(event: SolutionTaken | NoSolution) -> str:
    """Describe in one line for people which solution was selected, and how."""
    match event:
        case SolutionTaken(how="chosen"):
            return f"Wrote after the solution for “{event.pattern}”: {event.reason}"
        case SolutionTaken():
            values = ", ".join(
                f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in event.values.items()
            )
            asked_note = " (a model was asked)" if event.how == "asked" else ""
            return f"Took the solution for “{event.pattern}”{f' with {values}' if values else ''}{asked_note}"
        case NoSolution(shown=0):
            return f"Wrote without a solution: {event.reason}"
        case NoSolution():
            path = f"; proposed calls: {', '.join(event.path)}" if event.path else ""
            return f"None of {event.shown} solutions fits: {event.reason}{path}"


class LearnedEdge(Model):
    """A transition of a run, with how often it was made."""

    source: ToolId
    target: ToolId
    walked: int


class LearnedTool(Model):
    """Evidence from a run about a tool."""

    tool: ToolId
    scores: tuple[float, ...] = ()
    """Its scores in [-1, 1], in order."""
    outcomes: tuple[str, ...] = ()
    """The outcomes of its calls that are evidence, in order."""


class JudgedMemory(Model):
    """A memory that the run followed, and whether its path served the request."""

    memory: str
    good: bool


class JudgedSolution(Model):
    """A solution that the run used, and whether it served the request."""

    solution: str
    good: bool


class WeightsLearned(Model):
    """The lessons of a run; the event before the last."""

    kind: Literal["weights.learned"] = "weights.learned"
    transitions: tuple[LearnedEdge, ...] = ()
    tools: tuple[LearnedTool, ...] = ()
    remembered: tuple[str, ...] = ()
    """Ids of the memories of this run: none, one, or one per subtask."""
    judged: tuple[JudgedMemory, ...] = ()
    solutions: tuple[str, ...] = ()
    """Ids of the solutions, new or known, that this run is now counted as a run of."""
    solved: tuple[JudgedSolution, ...] = ()
    """How the solutions that the run used turned out."""
    error: str = ""
    """Why it was not learnt, or only in part; the run itself is not affected."""
    deferred: Literal["", "waiting", "learnt", "dropped"] = ""
    """``waiting``: a store could not be used when the run ended, and the rest is learnt when it is back.

    An event that says ``learnt`` then replaces this one, or one that says ``dropped`` if it could not be learnt later either.
    """


Verdict = Literal["right", "wrong"]
"""A user's verdict on the answer of a run."""


RunOutcome = Literal["answered", "partly", "gave_up", "budget", "cancelled", "failed"]
"""How a run ended.

``partly``: a part of the request is served. A request that is declared impossible to serve counts as given up.
"""


class Feed(Model):
    """A parameter that an earlier step can fill."""

    parameter: str
    step: int
    """Number of the step in the path, from 1."""
    field: str
    score: float
    """Coupling score, 0 to 1."""


class ConsideredTool(Model):
    """A candidate as it was shown to the policy."""

    tool: ToolId
    weight: float
    availability: float | None
    """None if untested."""
    relevance: float
    """Similarity to the request, 0 to 1."""
    origin: Literal["start", "graph", "retriever", "memory", "substitute"]
    missing: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()


class EarlierStep(Model):
    """A call of an earlier run of the conversation."""

    run: str
    seq: int
    """Number of the event, in that run, that holds the call's result."""
    tool: ToolId


class RunStarted(Model):
    """The first event of a run."""

    kind: Literal["run.started"] = "run.started"
    request: str
    planner: str
    policy: str
    earlier: tuple[EarlierStep, ...] = ()
    """Calls made earlier in the conversation, counted from 1.

    ``earlier.2.items[0].lat`` refers to a field of the second one's response, ``earlier.2:city`` to one of its arguments.
    """
    files: tuple[FileNote, ...] = ()
    """Files given with this request."""
    files_before: tuple[FileNote, ...] = ()
    """Files given with earlier requests, which programs can use as well."""


class SubtaskStarted(Model):
    """A part of the request begins; all of its events carry its number.

    A request that is not split has one subtask, which is the request itself.
    """

    kind: Literal["subtask.started"] = "subtask.started"
    subtask: int
    name: str
    description: str
    category: str = ""
    """Category of the tools that it needs, if its planner asks a model for that and it names one."""
    depends_on: tuple[int, ...] = ()
    """Numbers of the subtasks whose results it builds on."""
    given: int = 0
    """Number of steps that it takes over from these.

    They are its steps 1 to ``given``; its own are numbered after them.
    """
    earlier: tuple[int, ...] = ()
    """The steps taken over from earlier in the conversation, by their numbers in the run's first event; they come first."""
    reread: bool = False
    """It is answered from these steps alone."""
    queries: tuple[str, ...] = ()
    """What suitable tools would do, worded like their documents; tools are searched by these texts, too."""


class CandidatesConsidered(Model):
    """The candidates at a node of the search."""

    kind: Literal["candidates.considered"] = "candidates.considered"
    path: tuple[ToolId, ...]
    """The path so far; empty at the start."""
    candidates: tuple[ConsideredTool, ...]
    finish_weight: float
    """Weight of the edge to Finish."""


class StepChosen(Model):
    """A tool was chosen as the next step."""

    kind: Literal["step.chosen"] = "step.chosen"
    tool: ToolId
    path: tuple[ToolId, ...]
    reason: str
    memory: str = ""
    """Id of the memory that suggested it, if any."""


class StepBacktracked(Model):
    """A step was removed from the path."""

    kind: Literal["step.backtracked"] = "step.backtracked"
    dropped: ToolId
    path: tuple[ToolId, ...]
    """The remaining path."""
    reason: str
    phase: Literal["plan", "execute"] = "plan"
    """While planning, or after a failed call."""


class PathEnded(Model):
    """The search of a path ended."""

    kind: Literal["path.ended"] = "path.ended"
    path: tuple[ToolId, ...]
    how: Literal["finished", "open", "gave_up", "budget"]
    """``open``: its calls are made before the planner continues."""
    reason: str
    unserved: str = ""
    """What part of the request it leaves undone, in the words of whoever finished it."""


class ReflectionMade(Model):
    """A path was judged (thesis 4.3.2.3)."""

    kind: Literal["reflection.made"] = "reflection.made"
    path: tuple[ToolId, ...]
    """The judged path."""
    verdict: Literal["success", "partial", "total"]
    first_wrong: int | None = None
    """The step, from 1, from which the path is searched again after a ``partial`` failure."""
    noisy: tuple[ToolId, ...] = ()
    """Start tools that are left out after a ``total`` failure."""
    reason: str
    resumed: bool = False
    """Whether the search goes on."""


class PlanReady(Model):
    """Planning ended with this plan."""

    kind: Literal["plan.ready"] = "plan.ready"
    plan: Plan


class ProgramRefused(Model):
    """A program that was not run because checks had complaints, which its author is told."""

    kind: Literal["program.refused"] = "program.refused"
    text: str
    """Empty if no program was written; the only complaint then says why."""
    complaints: tuple[str, ...]


class ProgramStarted(Model):
    """A program starts running. Its calls are numbered after the subtask's earlier steps."""

    kind: Literal["program.started"] = "program.started"
    number: int
    """Number of the program within the subtask, from 1."""
    program: Program
    goes_on: bool = False
    """It is a further cell, which sees the variables of the cells before it, and not a new beginning."""
    values: JsonObject = Field(default_factory=dict)
    """Values of a plan's inputs."""


class ProgramLooked(Model):
    """A cell stopped to look at a value of unknown structure."""

    kind: Literal["program.looked"] = "program.looked"
    number: int
    shown: str
    """What its author is shown of the value."""


class ProgramFailed(Model):
    """A program stopped with an error."""

    kind: Literal["program.failed"] = "program.failed"
    number: int
    error: str
    """What its author is told: the error's class, its message, and the call's status."""
    line: int = 0
    """Line of the program, from 1; 0 if unknown."""
    final: bool = False
    """It must not be repaired or worked around: a denial, a change of unknown outcome, an exhausted budget."""


class ProgramEnded(Model):
    """A program ran to its end."""

    kind: Literal["program.ended"] = "program.ended"
    number: int
    answered: Answered
    """Its own verdict on whether it answers the request."""
    answer: str
    missing: str = ""
    """What it lacked, in its own words."""
    verdict: Answered
    """The verdict after automatic checks, which can only lower it."""
    veto: str = ""
    """Why the checks lowered it."""
    spoken: bool = True
    """Whether it wrote an answer; otherwise one is composed from the results of its calls."""


class CallStarted(Model):
    """A call is about to be made."""

    kind: Literal["call.started"] = "call.started"
    step: int
    tool: ToolId
    arguments: JsonObject
    provenance: tuple[Binding, ...] = ()
    site: str = ""
    """Which call of a program it is, as ``2:57#0-1f0c2a9b3d``; empty outside programs.

    It consists of the program's number, the position in its text, how often that position was reached before with these arguments, and a digest
    of the arguments.
    """


class InputNeeded(Model):
    """The run waits for its user's answer.

    The question is whether a plan may be executed, and in which form; whether a call may be made; whether values from one host may go to
    another (``flow``); whether an interrupted call had its effect; or what the request leaves open (``question``). It is emitted once, and the
    record's subtask is that of the call or plan.
    """

    kind: Literal["input.needed"] = "input.needed"
    input: str
    """Id of the question."""
    asks: Literal["plan", "call", "flow", "unknown_outcome", "question"]
    reason: str
    """The question, as it is shown."""
    tool: ToolId = ToolId("")
    """The tool that is to be called."""
    arguments: JsonObject = Field(default_factory=dict)
    plan: PlanDocument | None = None
    """The plan that the question is about."""
    program: ProgramPlan | None = None
    """The plan, if it was written as a program."""
    choices: tuple[str, ...] = ()
    """Suggested answers; another may be given."""
    summary: str = ""
    """What the call will do, in words."""
    undo: str = ""
    """How it can be undone, or that it cannot."""
    host: str = ""
    """Where the call goes."""
    origins: tuple[ValueOrigin, ...] = ()
    """Where each argument actually comes from."""
    calls: tuple[AskedCall, ...] = ()
    """All calls that the answer is about, if there are several of one tool; the first also fills the fields above."""


class QuestionAnswered(Model):
    """The user was asked what the request leaves open."""

    kind: Literal["question.answered"] = "question.answered"
    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""
    """The user's answer, which counts as their own words."""
    unanswered: str = ""
    """Why there is no answer."""
    site: str = ""
    """The call of ``ask`` in a program, in the form of :attr:`CallStarted.site`; empty for a step's parameter."""


class RunDelayed(Model):
    """A store cannot be used: the run stops and is resumed later from here.

    Emitted once, however many attempts follow.
    """

    kind: Literal["run.delayed"] = "run.delayed"
    reason: str
    """In words that may be shown to anyone."""


class CallFinished(Model):
    """A call ended. A call with invalid arguments is not made and has only this event."""

    kind: Literal["call.finished"] = "call.finished"
    step: int
    result: StepResult
    site: str = ""
    """As in :attr:`CallStarted.site`."""


class ResponseCompressed(Model):
    """A long response was shortened for the policy."""

    kind: Literal["response.compressed"] = "response.compressed"
    step: int
    tool: ToolId
    fields: tuple[str, ...]
    """The fields that were kept, as ``items[].name``; empty if the text was only cut."""
    before: int
    """Length in characters."""
    after: int
    """Length in characters."""
    cut: bool
    """Selecting fields was not enough, so the rest was cut off."""


class PolicyFellBack(Model):
    """From here on another policy decides, because the first one's model cannot be used."""

    kind: Literal["policy.fell_back"] = "policy.fell_back"
    policy: str
    to: str
    reason: str
    """In words that may be shown to anyone."""


class AnswerDelta(Model):
    """A further piece of the answer's text."""

    kind: Literal["answer.delta"] = "answer.delta"
    text: str


class RunFinished(Model):
    """The last event of a run."""

    kind: Literal["run.finished"] = "run.finished"
    outcome: RunOutcome
    answer: str
    usage: Usage
    error: str = ""
    unanswered: tuple[int, ...] = ()
    """Numbers of the subtasks that have no answer."""


PlanningEvent = (
    RunStarted
    | SubtaskStarted
    | MemoryRecalled
    | SolutionTaken
    | NoSolution
    | CandidatesConsidered
    | StepChosen
    | StepBacktracked
    | PathEnded
    | ReflectionMade
    | PlanReady
    | PolicyFellBack
)
"""Events of planning; if a call fails, or calls are planned one by one, they occur between calls, too."""

ProgramEvent = ProgramRefused | ProgramStarted | ProgramLooked | ProgramFailed | ProgramEnded
ActionEvent = ProgramEvent | CallStarted | InputNeeded | QuestionAnswered | CallFinished | ResponseCompressed
Event = Annotated[
    PlanningEvent | ActionEvent | RunDelayed | AnswerDelta | WeightsLearned | RunFinished,
    Field(discriminator="kind"),
]


class EventRecord(Model):
    """An event with its place in a run."""

    run: str
    seq: int
    """Counts from 1 without gaps."""
    at: datetime
    subtask: int = 0
    """0 for events of the whole run."""
    event: Event
