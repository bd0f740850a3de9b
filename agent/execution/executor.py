"""Executors, which call a tool with arguments: the protocol, its result, the base of layers, and routing by method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.plan import Binding, CallOutcome
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class CallResult:
    """Result of one call."""

    outcome: CallOutcome
    body: str
    """Response as text."""
    http_status: int | None = None
    attempts: int = 1
    """Number of times it was sent; 0 if nothing was sent."""
    note: str = ""
    """Remarks on the body, such as that it was truncated or comes from a recorded call with other arguments."""
    seconds: float = 0.0
    secrets: tuple[Binding, ...] = ()
    """Names of the secrets that were sent, and where they were put."""
    reached: bool = True
    """False if no connection to the host could be made."""
    instead: JsonObject = field(default_factory=dict[str, JsonValue])
    """Arguments of the recorded call that answered, where they differ; null for one that it did not have."""
    corrected: JsonObject | None = None
    """Arguments that were sent, if the user corrected them."""


class Executor(Protocol):
    """Calls tools.

    A tool's failures are returned as results; only errors on the caller's side are raised, such as
    ``ForbiddenAddressError``.

    ``identity`` tells a program's calls apart (:mod:`agent.execution.call_identity`): calls with different identities
    are different calls even if their arguments are equal. Without one, a call is identified by its tool and
    arguments.
    """

    name: str

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult: ...

    async def close(self) -> None: ...


class ExecutorLayer:
    """Base of executors that wrap another one; by itself it forwards everything."""

    def __init__(self, executor: Executor) -> None:
        self.name = executor.name
        self._executor = executor

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call."""
        return await self._executor.call(tool, arguments, identity)

    async def close(self) -> None:
        """Close the wrapped executor."""
        await self._executor.close()


class RoutedExecutor:
    """Routes calls to executors by the tool's method.

    ``factories`` builds the executor of a method at its first call; ``default`` serves all other methods.
    """

    def __init__(self, default: Executor, factories: Mapping[str, Callable[[], Executor]]) -> None:
        self.name = default.name
        self._default = default
        self._factories = factories
        self._executors: dict[str, Executor] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call by the executor of the tool's method."""
        return await self._get_executor(tool.method).call(tool, arguments, identity)

    def _get_executor(self, method: str) -> Executor:
        if method not in self._factories:
            return self._default
        if method not in self._executors:
            self._executors[method] = self._factories[method]()
        return self._executors[method]

    async def close(self) -> None:
        """Close the default executor and those that were built; idempotent."""
        await self._default.close()
        for executor in self._executors.values():
            await executor.close()
