"""Everything a run does is an event: one discriminated union, read by the page, the history, evaluation and learning."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from domain.given_file import FileNote
from domain.learned import WeightsLearned
from domain.model import JsonObject, Model
from domain.origin import AskedCall, ValueOrigin
from domain.plan import Binding, Plan, StepResult
from domain.plan_document import PlanDocument
from domain.program import Answered, Program, ProgramPlan
from domain.recalled import MemoryRecalled
from domain.taken import NoSolution, SolutionTaken
from domain.tool import ToolId
from domain.usage import Usage

Outcome = Literal["answered", "partly", "gave_up", "budget", "cancelled", "failed"]
"""``partly``: some of the request is served; a request that is said not to be servable is given up."""


class Feed(Model):
    """A parameter that an earlier step can fill. ``step`` counts from 1 in the path; ``score`` of the coupling, 0 to 1."""

    parameter: str
    step: int
    field: str
    score: float


class ConsideredTool(Model):
    """A candidate as it was shown. ``availability`` None: untested. ``relevance``: similarity to the request, 0 to 1."""

    tool: ToolId
    weight: float
    availability: float | None
    relevance: float
    origin: Literal["start", "graph", "retriever", "memory", "substitute"]
    missing: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()


class EarlierStep(Model):
    """A call of an earlier run of the conversation: ``seq`` is the number of the event there that holds its result."""

    run: str
    seq: int
    tool: ToolId


class RunStarted(Model):
    """``earlier``: what was called earlier in the conversation, counted from 1: ``earlier.2.items[0].lat`` is a field of the second's
    response, ``earlier.2:city`` an argument of its. ``files``: that were given with the request; ``files_before``: with earlier ones, which its programs find as well.
    """

    kind: Literal["run.started"] = "run.started"
    request: str
    planner: str
    policy: str
    earlier: tuple[EarlierStep, ...] = ()
    files: tuple[FileNote, ...] = ()
    files_before: tuple[FileNote, ...] = ()


class SubtaskStarted(Model):
    """A part of the request is begun; all events of it carry its number. A request that is not split has one subtask: itself.

    ``depends_on``: numbers of the subtasks whose results it builds on. ``given``: how many steps come from them; they are the steps 1
    to ``given`` of this subtask, in order, and its own are counted on from there. ``earlier``: the numbers, in the run's first event, of those
    of them that were called earlier in the conversation; they come first. ``reread``: it is answered from them alone. ``queries``: what tools
    would do for it, as their documents would say it; tools are looked up by them too. ``category``: of the tools that it calls for, where its
    planner asks for it and a model names it; empty otherwise.
    """

    kind: Literal["subtask.started"] = "subtask.started"
    subtask: int
    name: str
    description: str
    category: str = ""
    depends_on: tuple[int, ...] = ()
    given: int = 0
    earlier: tuple[int, ...] = ()
    reread: bool = False
    queries: tuple[str, ...] = ()


class CandidatesConsidered(Model):
    """The candidates at a node; ``path`` is the path so far (empty at the start). ``finish_weight`` is Finish's share."""

    kind: Literal["candidates.considered"] = "candidates.considered"
    path: tuple[ToolId, ...]
    candidates: tuple[ConsideredTool, ...]
    finish_weight: float


class StepChosen(Model):
    """``memory``: the id of the memory that was followed to it, if any."""

    kind: Literal["step.chosen"] = "step.chosen"
    tool: ToolId
    path: tuple[ToolId, ...]
    reason: str
    memory: str = ""


class StepBacktracked(Model):
    """``dropped`` left the path; ``path`` is what remains. ``phase``: while planning, or after a failed call."""

    kind: Literal["step.backtracked"] = "step.backtracked"
    dropped: ToolId
    path: tuple[ToolId, ...]
    reason: str
    phase: Literal["plan", "execute"] = "plan"


class PathEnded(Model):
    """``open``: its calls are made before the planner goes on. ``unserved``: what of the request it leaves undone, as who finished it says."""

    kind: Literal["path.ended"] = "path.ended"
    path: tuple[ToolId, ...]
    how: Literal["finished", "open", "gave_up", "budget"]
    reason: str
    unserved: str = ""


class ReflectionMade(Model):
    """A path was judged (thesis 4.3.2.3); ``path`` is the one that was looked at. ``first_wrong``: its step, from 1, from which on it is
    walked anew, after a ``partial`` failure. ``noisy``: start tools that are left out after a ``total`` one. ``resumed``: whether the walk goes on.
    """

    kind: Literal["reflection.made"] = "reflection.made"
    path: tuple[ToolId, ...]
    verdict: Literal["success", "partial", "total"]
    first_wrong: int | None = None
    noisy: tuple[ToolId, ...] = ()
    reason: str
    resumed: bool = False


class PlanReady(Model):
    kind: Literal["plan.ready"] = "plan.ready"
    plan: Plan


class ProgramRefused(Model):
    """A text that was not run: checks had complaints, which its author is told. ``text`` empty: none was written; its one complaint is why."""

    kind: Literal["program.refused"] = "program.refused"
    text: str
    complaints: tuple[str, ...]


class ProgramStarted(Model):
    """A program is run. ``number``: its place among the subtask's, from 1. ``goes_on``: it is a further cell, which finds the names of the cells
    before it, rather than a new beginning. Its calls are steps of the subtask, counted on from those before. ``values``: of the inputs of a plan.
    """

    kind: Literal["program.started"] = "program.started"
    number: int
    program: Program
    goes_on: bool = False
    values: JsonObject = Field(default_factory=dict)


class ProgramLooked(Model):
    """A cell stopped to look at what it does not know the structure of. ``shown``: what its author is shown of it."""

    kind: Literal["program.looked"] = "program.looked"
    number: int
    shown: str


class ProgramFailed(Model):
    """A program broke off. ``error``: what its author is told: the error's class, what it says, the call's status; ``line`` from 1, 0: unknown.

    ``final``: it must not be mended or gone around (a denial, a change of unknown outcome, a used-up budget).
    """

    kind: Literal["program.failed"] = "program.failed"
    number: int
    error: str
    line: int = 0
    final: bool = False


class ProgramEnded(Model):
    """A program came to its end. ``answered``: what it says of itself; ``verdict``: that after the veto of code, with ``veto``: why it is
    less. ``missing``: what it lacked, in its words. ``spoken``: whether it made an answer; else one is put together from its calls' results.
    """

    kind: Literal["program.ended"] = "program.ended"
    number: int
    answered: Answered
    answer: str
    missing: str = ""
    verdict: Answered
    veto: str = ""
    spoken: bool = True


class CallStarted(Model):
    """``site``: which call of a program it is, as ``2:57#0-1f0c2a9b3d``: program, place in its text, how often it came by there before with these
    arguments, and a digest of those; empty elsewhere.
    """

    kind: Literal["call.started"] = "call.started"
    step: int
    tool: ToolId
    arguments: JsonObject
    provenance: tuple[Binding, ...] = ()
    site: str = ""


class InputNeeded(Model):
    """The run waits for its user's answer: whether a plan is to be carried out as it stands or otherwise, whether a call may be
    made, whether values of one host's answers may go to another (``flow``), whether a call that was cut off had its effect, or what the
    request leaves open (``question``).

    ``input``: the question's id; ``reason``: the question, fit to be shown; ``tool`` and ``arguments``: of the call, ``plan``: of the
    plan that it is about. ``host``: where the call goes; ``origins``: where each argument really comes from. ``calls``: all that one answer
    is about, where they are several calls of one tool; the first is also told as if it were alone. ``program``: a plan that was written as
    one. ``choices``: answers that a question proposes; another may be given. ``summary``: what the call will do, in words; ``undo``: how that can
    be taken back, or that it cannot. Told once; the record's subtask is that of the call or plan.
    """

    kind: Literal["input.needed"] = "input.needed"
    input: str
    asks: Literal["plan", "call", "flow", "unknown_outcome", "question"]
    reason: str
    tool: ToolId = ToolId("")
    arguments: JsonObject = Field(default_factory=dict)
    plan: PlanDocument | None = None
    program: ProgramPlan | None = None
    choices: tuple[str, ...] = ()
    summary: str = ""
    undo: str = ""
    host: str = ""
    origins: tuple[ValueOrigin, ...] = ()
    calls: tuple[AskedCall, ...] = ()


class QuestionAnswered(Model):
    """What the request leaves open was asked. ``answer``: of its user, whose word it is; ``unanswered``: why there is none. ``site``: which call of
    ``ask`` of a program it is, as of any call; empty for a parameter of a step.
    """

    kind: Literal["question.answered"] = "question.answered"
    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""
    unanswered: str = ""
    site: str = ""


class RunDelayed(Model):
    """A store is out of reach: the run is broken off and gone on with later, from here. Told once, however often it is tried.

    ``reason`` is fit to be shown.
    """

    kind: Literal["run.delayed"] = "run.delayed"
    reason: str


class CallFinished(Model):
    """``site``: as of the call's beginning. A call whose arguments do not fit is not made, and only ends."""

    kind: Literal["call.finished"] = "call.finished"
    step: int
    result: StepResult
    site: str = ""


class ResponseCompressed(Model):
    """A long response was reduced for the policy. ``fields``: those kept, as ``items[].name``; empty where only the text was cut.

    ``before`` and ``after`` are characters; ``cut``: fields alone did not suffice and the rest was cut off.
    """

    kind: Literal["response.compressed"] = "response.compressed"
    step: int
    tool: ToolId
    fields: tuple[str, ...]
    before: int
    after: int
    cut: bool


class PolicyFellBack(Model):
    """From here on another policy decides: the first one's model cannot be used. ``reason`` is fit to be shown."""

    kind: Literal["policy.fell_back"] = "policy.fell_back"
    policy: str
    to: str
    reason: str


class AnswerDelta(Model):
    kind: Literal["answer.delta"] = "answer.delta"
    text: str


class RunFinished(Model):
    """``unanswered``: the numbers of the subtasks that came to no answer."""

    kind: Literal["run.finished"] = "run.finished"
    outcome: Outcome
    answer: str
    usage: Usage
    error: str = ""
    unanswered: tuple[int, ...] = ()


Planning = (
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
"""What happens before any call."""

Programs = ProgramRefused | ProgramStarted | ProgramLooked | ProgramFailed | ProgramEnded
Acting = Programs | CallStarted | InputNeeded | QuestionAnswered | CallFinished | ResponseCompressed
Event = Annotated[
    Planning | Acting | RunDelayed | AnswerDelta | WeightsLearned | RunFinished,
    Field(discriminator="kind"),
]


class EventRecord(Model):
    """An event with its place in a run: ``seq`` counts from 1 without gaps; ``subtask`` 0: of the run as a whole."""

    run: str
    seq: int
    at: datetime
    subtask: int = 0
    event: Event
