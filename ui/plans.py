"""The plan that a run waits with, as the server shows it; editing it, and trying it out."""

from pydantic import BaseModel, Field

from domain.model import JsonObject
from domain.plan import PlanDocument, Take
from domain.tool import ToolId
from ui.client import Client, read
from ui.code_editor import Complaint
from ui.language import message, say

_TOLD = {
    "answered": message("a recorded answer"),
    "unknown": message("no recorded answer"),
    "missing": message("arguments are missing"),
}


class PlanTool(BaseModel):
    """A tool that the plan names. ``changes``: calling it may change something; ``host``: where it goes; ``parameters``: a JSON Schema."""

    id: ToolId
    api: str = ""
    description: str = ""
    changes: bool = False
    host: str = ""
    parameters: JsonObject = Field(default_factory=dict)


class PlanProblem(BaseModel):
    """What keeps it from being carried out. ``step`` None: it is the whole plan's."""

    step: int | None = None
    parameter: str | None = None
    message: str


class Suggestion(BaseModel):
    """A tool that could be put in. ``after``: the step behind which (0: before the first); None: it is offered for the request, wherever it may
    serve. ``code``: a line that calls it.
    """

    after: int | None = None
    tool: ToolId
    api: str = ""
    reason: str = ""
    weight: float | None = None
    fills: dict[str, Take] = Field(default_factory=dict[str, Take])
    code: str = ""


class PlanFunction(BaseModel):
    """What a text may call. ``call``: an expression that calls it; ``declaration``: how it is declared."""

    name: str
    tool: ToolId = ToolId("")
    declaration: str = ""
    call: str = ""
    used: bool = False


class PlannedCall(BaseModel):
    """A call that stands in the text at a place."""

    place: int
    line: int = 0
    tool: ToolId = ToolId("")
    changes: bool = False


class PlannedFeed(BaseModel):
    """The call at the place ``target`` takes values of what the one at ``source`` answers."""

    source: int
    target: int


class PlanProgram(BaseModel):
    """The plan as a text. ``speaks``: it makes an answer of its own, which is lost where it is edited as steps."""

    text: str = ""
    inputs: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
    values: JsonObject = Field(default_factory=dict)
    functions: list[PlanFunction] = Field(default_factory=list[PlanFunction])
    complaints: list[Complaint] = Field(default_factory=list[Complaint])
    speaks: bool = False
    calls: list[PlannedCall] = Field(default_factory=list[PlannedCall])
    feeds: list[PlannedFeed] = Field(default_factory=list[PlannedFeed])
    answer: list[int] = Field(default_factory=list[int])


class OpenPlan(BaseModel):
    """``document``: its steps, where it is no more than steps; else ``why_no_steps``. ``given``: the tools of earlier subtasks' steps, which places
    count first.
    """

    version: int
    input: str
    program: PlanProgram = Field(default_factory=PlanProgram)
    document: PlanDocument | None = None
    why_no_steps: str = ""
    given: tuple[ToolId, ...] = ()
    tools: list[PlanTool] = Field(default_factory=list[PlanTool])
    problems: list[PlanProblem] = Field(default_factory=list[PlanProblem])
    suggestions: list[Suggestion] = Field(default_factory=list[Suggestion])

    @property
    def steps(self) -> PlanDocument:
        """Its steps; none where it is more than steps."""
        return self.document or PlanDocument(steps=())

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems and not self.program.complaints

    def tool(self, tool: ToolId) -> PlanTool:
        """What is known of it; of one that is not there, its name."""
        return next((one for one in self.tools if one.id == tool), PlanTool(id=tool))


class DryCall(BaseModel):
    """A call as it would be made. ``held``: the name that holds its answer. ``found``: what the plan leaves open and was found. ``response``: a recorded one,
    or where ``example`` is set that of the tool's document.
    """

    step: int
    line: int = 0
    tool: ToolId
    held: str = ""
    found: list[str] = Field(default_factory=list[str])
    arguments: JsonObject = Field(default_factory=dict)
    missing: list[str] = Field(default_factory=list[str])
    changes: bool = False
    status: str = ""
    response: str = ""
    note: str = ""
    example: bool = False

    @property
    def told(self) -> str:
        """What its response is."""
        if self.status == "answered" and self.example:
            return say("a documented example")
        return say(_TOLD.get(self.status, self.status))


class DryLine(BaseModel):
    """A line that was gone through, a loop's head as often as it has rounds. ``values``: of its names, as they were the last time."""

    line: int
    times: int = 0
    values: dict[str, str] = Field(default_factory=dict[str, str])


class Says(BaseModel):
    """What a program says at its end."""

    answered: str = ""
    answer: str = ""
    missing: str = ""


class DryRun(BaseModel):
    """What carrying it out would do and take. ``text``: what was gone through. ``stopped``: why it went no further than ``stopped_line``."""

    calls: list[DryCall]
    text: str = ""
    lines: list[DryLine] = Field(default_factory=list[DryLine])
    says: Says | None = None
    stopped: str = ""
    stopped_line: int = 0
    changes: list[ToolId] = Field(default_factory=list[ToolId])
    model_calls: int = 0
    tokens: int = 0
    cost: float | None = None
    note: str = ""


def open_plan(client: Client, run: str) -> OpenPlan:
    """As it stands. Raises ServerError: the run waits with none."""
    return read(OpenPlan, client.send("GET", f"/runs/{run}/plan"))


def edit(client: Client, run: str, version: int, document: PlanDocument) -> OpenPlan:
    """Put a document in place of the one of a version. Raises ServerError (409): it was edited meanwhile."""
    body = {"version": version, "document": document.model_dump(mode="json")}
    return read(OpenPlan, client.send("PUT", f"/runs/{run}/plan", json=body))


def write(client: Client, run: str, version: int, program: PlanProgram) -> OpenPlan:
    """Put a text with its inputs in place of the plan of a version. Raises ServerError (409): it was edited meanwhile."""
    body = {"version": version, "program": program.model_dump(mode="json", include={"text", "inputs", "values"})}
    return read(OpenPlan, client.send("PUT", f"/runs/{run}/plan", json=body))


def dry_run(client: Client, run: str) -> DryRun:
    """Try the plan out; no call leaves the server."""
    return read(DryRun, client.send("POST", f"/runs/{run}/plan/dry-run"))
