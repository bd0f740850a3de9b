"""What a run calls, as the server tells it: its tools, and which call of its programs feeds which."""

from pydantic import BaseModel, Field

from domain.tool import ToolId
from ui.client import Client, read
from ui.problems import ServerError

_ROUTE = "/runs/{run_id}/calls"


class CalledTool(BaseModel):
    """``changes``: calling it may change something. ``host``: where it goes."""

    id: ToolId
    host: str = ""
    changes: bool = False
    why: str = ""


class CallPlace(BaseModel, frozen=True):
    """A call in a program: the number of the text, and where it begins there."""

    cell: int
    place: int


class CallFeed(BaseModel):
    """The ``target`` takes values of what the ``source`` answers."""

    source: CallPlace
    target: CallPlace


class ProgramCalls(BaseModel):
    """One program. ``answer``: the calls that its answer takes values of."""

    subtask: int
    cells: list[int] = Field(default_factory=list[int])
    feeds: list[CallFeed] = Field(default_factory=list[CallFeed])
    answer: list[CallPlace] = Field(default_factory=list[CallPlace])


class RunCalls(BaseModel):
    """Nothing in it: nothing is known."""

    tools: list[CalledTool] = Field(default_factory=list[CalledTool])
    programs: list[ProgramCalls] = Field(default_factory=list[ProgramCalls])

    def tool(self, called: ToolId) -> CalledTool | None:
        """What is known of a tool."""
        return next((one for one in self.tools if one.id == called), None)

    def of(self, subtask: int, cell: int) -> ProgramCalls | None:
        """The program that a text is part of."""
        return next((one for one in self.programs if one.subtask == subtask and cell in one.cells), None)


def run_calls(client: Client, run: str) -> RunCalls:
    """Nothing where the server does not tell: the story is whole without it."""
    if not client.can(_ROUTE):
        return RunCalls()
    try:
        return read(RunCalls, client.send("GET", f"/runs/{run}/calls"))
    except ServerError as error:
        if error.logged_out:
            raise
        return RunCalls()
