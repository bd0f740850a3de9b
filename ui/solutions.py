"""The library of solutions as the page needs it."""

from pydantic import BaseModel, Field

from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolId
from ui.client import Client, read, read_all
from ui.replies import Run

MOST = 200
"""So many are listed."""


class Solution(BaseModel):
    """One of a list. ``patterns``: requests that it serves, its inputs in braces. ``likeness``: to the request that was searched for.
    ``approved``: somebody speaks for a shared one.
    """

    id: str
    patterns: list[str]
    path: list[ToolId]
    origin: str = ""
    own: bool = True
    approved: bool = False
    good: int = 0
    bad: int = 0
    suspended: str = ""
    likeness: float | None = None


class WholeSolution(Solution):
    """``parameters``: name to JSON Schema. ``wrong``: requests that it is not taken for any more. ``drift``: tools that are not what they were."""

    program: ProgramPlan
    parameters: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])
    wrong: list[str] = Field(default_factory=list[str])
    runs: list[str] = Field(default_factory=list[str])
    drift: list[ToolId] = Field(default_factory=list[ToolId])


def solutions(client: Client, request: str = "") -> list[Solution]:
    """The user's, then the shared ones, as many as can be listed; near a request, the nearest first."""
    if request:
        return read_all(Solution, client.send("GET", "/solutions", params={"limit": MOST, "request": request}))
    own = read_all(Solution, client.send("GET", "/solutions", params={"limit": MOST, "own": True}))
    every = read_all(Solution, client.send("GET", "/solutions", params={"limit": MOST}))
    return [*own, *(one for one in every if not one.own)]


def solution(client: Client, solution: str) -> WholeSolution:
    """One of them."""
    return read(WholeSolution, client.send("GET", f"/solutions/{solution}"))


def keep_solution(client: Client, run: str) -> WholeSolution:
    """Make one of a run. Raises ServerError (400): what keeps it from being one."""
    return read(WholeSolution, client.send("POST", "/solutions", json={"run_id": run}))


def run_solution(client: Client, found: WholeSolution, conversation: str, values: JsonObject) -> Run:
    """With these values. Raises ServerError (400): some do not fit; it says which."""
    body = {"conversation_id": conversation, "values": values}
    return read(Run, client.send("POST", f"/solutions/{found.id}/runs", json=body))


def check_solution(client: Client, solution: str) -> None:
    """Against its tools as they are; it is taken from then on. Raises ServerError: it says what is wrong with it."""
    client.send("POST", f"/solutions/{solution}/check")


def promote_solution(client: Client, solution: str) -> WholeSolution:
    """Let all users share it. Raises ServerError (403): this user is no administrator."""
    return read(WholeSolution, client.send("POST", f"/solutions/{solution}/promote"))


def forget_solution(client: Client, solution: str) -> None:
    """For good."""
    client.send("DELETE", f"/solutions/{solution}")
