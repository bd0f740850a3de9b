"""Protocol of an executor, which turns a tool and arguments into a result, and the base of its layers."""

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
    """How often it was sent; 0 where nothing was sent."""
    note: str = ""
    """Notes for a reader of the body: a recorded call with other arguments, cut, not JSON."""
    seconds: float = 0.0
    secrets: tuple[Binding, ...] = ()
    """Names of the secrets that were sent, and where they were put."""
    reached: bool = True
    """False where no connection to the host could be made."""
    instead: JsonObject = field(default_factory=dict[str, JsonValue])
    """Differing arguments of the recorded call that answered, by name; null where that call had none."""
    corrected: JsonObject | None = None
    """Arguments that were sent, where the user corrected them."""


class Executor(Protocol):
    """Calls tools.

    Failures of a tool are results; only errors on our side are raised, ``ForbiddenAddressError`` among them.

    ``identity`` says which call of a program it is (:mod:`agent.execution.call_identity`): two calls with different identities are two calls,
    however alike. Without an identity, a call is its tool and arguments.
    """

    name: str

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult: ...

    async def close(self) -> None: ...


class ExecutorLayer:
    """Executor that forwards everything to another one; a subclass overrides what it changes."""

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
    """Routes calls by method.

    ``default`` serves every method not in ``factories``, whose executors are built at their first call.
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
