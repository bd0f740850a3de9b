"""The plan that a run waits with, as the server shows it; editing it, and trying it out."""

from pydantic import BaseModel, Field

from domain.model import JsonObject
from domain.plan_document import PlanDocument, Take
from domain.tool import ToolId
from ui.client import Client, read

_TOLD = {"answered": "a recorded answer", "unknown": "no recorded answer", "missing": "arguments are missing"}


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
    """A step that could be added after another (0: before the first)."""

    after: int
    tool: ToolId
    api: str = ""
    reason: str = ""
    weight: float | None = None
    fills: dict[str, Take] = Field(default_factory=dict[str, Take])


class OpenPlan(BaseModel):
    """``given``: the tools of earlier subtasks' steps, which places count first."""

    version: int
    input: str
    document: PlanDocument
    given: tuple[ToolId, ...] = ()
    tools: list[PlanTool] = Field(default_factory=list[PlanTool])
    problems: list[PlanProblem] = Field(default_factory=list[PlanProblem])
    suggestions: list[Suggestion] = Field(default_factory=list[Suggestion])

    def tool(self, tool: ToolId) -> PlanTool:
        """What is known of it; of one that is not there, its name."""
        return next((one for one in self.tools if one.id == tool), PlanTool(id=tool))


class DryCall(BaseModel):
    """A call as it would be made. ``response``: a recorded one, or where ``example`` is set that of the tool's document."""

    step: int
    tool: ToolId
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
        return (
            "a documented example"
            if self.status == "answered" and self.example
            else _TOLD.get(self.status, self.status)
        )


class DryRun(BaseModel):
    """What carrying it out would do and take."""

    calls: list[DryCall]
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


def dry_run(client: Client, run: str) -> DryRun:
    """Try the plan out; no call leaves the server."""
    return read(DryRun, client.send("POST", f"/runs/{run}/plan/dry-run"))
