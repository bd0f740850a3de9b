"""The protocol of an executor: arguments to a response; and of what stands around one."""

from dataclasses import dataclass, field
from typing import Protocol

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.plan import Binding, CallOutcome
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class CallResult:
    """``body`` is text; ``note`` says what a reader must know of it (recorded call with other arguments, cut, not JSON).

    ``attempts``: how often it was tried. ``secrets``: which secrets went where, by name. ``reached`` False: the host could not
    be connected to. ``instead``: the arguments of a recorded call that answered though they differ; null where it had none.
    ``corrected``: the arguments that it was made with, where its user corrected them.
    """

    outcome: CallOutcome
    body: str
    http_status: int | None = None
    attempts: int = 1
    note: str = ""
    seconds: float = 0.0
    secrets: tuple[Binding, ...] = ()
    reached: bool = True
    instead: JsonObject = field(default_factory=dict[str, JsonValue])
    corrected: JsonObject | None = None


class Executor(Protocol):
    """Calls a tool. Failures of the tool are results; only errors of ours are raised (``ForbiddenAddressError`` among them).

    ``identity``: which call of a program it is (:mod:`agent.execution.identity`): calls of different ones are different calls, however alike.
    Without one, a call is its tool and arguments.
    """

    name: str

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult: ...

    async def close(self) -> None: ...


class ExecutorLayer:
    """An executor around another one, to which it forwards everything; a layer overrides what it changes."""

    def __init__(self, executor: Executor) -> None:
        self.name = executor.name
        self._executor = executor

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The result of the call."""
        return await self._executor.call(tool, arguments, identity)

    async def close(self) -> None:
        """Close the executor that it is around."""
        await self._executor.close()
